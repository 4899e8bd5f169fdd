package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// eachRow calls body for the rows of a run after a number, in order. want
// selects the kinds; nil selects all. Body may return [stores.ErrEnough] to stop.
func (j *Journal) eachRow(ctx context.Context, c *stores.Conn, n, after int64, want func(kind string) bool, body func(codec.StoredRow) error) error {
	err := j.eachPack(ctx, c, n, after, func(k codec.Pack) error {
		ok, err := k.Each(after, want, body)
		if !ok {
			return j.badPack(k)
		}
		return err
	})
	if errors.Is(err, stores.ErrEnough) {
		return nil
	}
	return err
}

// manyPacks is the number of packs in one query. A connection runs only one query at a
// time, so the packs of a query are read before the callback is called.
const manyPacks = 32

// eachPack calls body for the packs of a run that end after a row, in order.
func (j *Journal) eachPack(ctx context.Context, c *stores.Conn, n, after int64, body func(codec.Pack) error) error {
	const behind = packColumns + " WHERE id > ? AND id < ? ORDER BY id"
	for page := make([]codec.Pack, 0, manyPacks); ; page = page[:0] {
		err := c.Each(ctx, func(v []driver.Value) error {
			page = append(page, packOf(v))
			return nil
		}, behind+" LIMIT ?", packID(n, after), packID(n+1, 0), int64(manyPacks))
		for i := 0; i < len(page) && err == nil; i++ {
			after = page[i].Last
			err = body(page[i])
		}
		if err != nil || len(page) < manyPacks {
			return err
		}
	}
}

func (j *Journal) badPack(k codec.Pack) error {
	return j.db.Corrupt(fmt.Sprintf("rows %d to %d of run number %d", k.First, k.Last, k.Run), nil)
}

func (j *Journal) readRows(ctx context.Context, c *stores.Conn, n int64) (rows []codec.StoredRow, err error) {
	err = j.eachRow(ctx, c, n, 0, nil, func(l codec.StoredRow) error {
		rows = append(rows, l)
		return nil
	})
	return rows, err
}

// rowAt returns one row of a run, or false if it is missing.
func (j *Journal) rowAt(ctx context.Context, c *stores.Conn, n, row int64) (l codec.StoredRow, ok bool, err error) {
	k, list, err := j.packAt(ctx, c, n, row)
	if err != nil || list == nil {
		return l, false, err
	}
	return list[row-k.First], true, nil
}

// packAt returns the pack that contains a row, and its rows. They are nil if
// there is none.
func (j *Journal) packAt(ctx context.Context, c *stores.Conn, n, row int64) (k codec.Pack, list []codec.StoredRow, err error) {
	found, err := c.One(ctx, packColumns+" WHERE id >= ? AND id < ? ORDER BY id LIMIT 1", packID(n, row), packID(n+1, 0))
	if err != nil || found == nil {
		return k, nil, err
	}
	if k = packOf(found); k.First > row {
		return k, nil, nil
	}
	list, ok := k.Rows(nil)
	if !ok {
		return k, nil, j.badPack(k)
	}
	return k, list, nil
}

// lastRow returns the numbers of a run's last row and of its last event.
func (j *Journal) lastRow(ctx context.Context, c *stores.Conn, n int64) (row, seq int64, err error) {
	found, err := c.One(ctx, packColumns+" WHERE id > ? AND id < ? ORDER BY id DESC LIMIT 1", packID(n, 0), packID(n+1, 0))
	if err != nil || found == nil {
		return 0, 0, err
	}
	k := packOf(found)
	seq = k.Seq
	ok, err := k.Each(0, codec.IsEvent, func(l codec.StoredRow) error { seq = l.Seq; return nil })
	if !ok {
		return 0, 0, j.badPack(k)
	}
	return k.Last, seq, err
}

// dropRow marks an effect that will be repeated.
func (j *Journal) dropRow(c *stores.Conn, n, at int64) error {
	k, list, err := j.packAt(context.Background(), c, n, at)
	if err != nil || list == nil {
		return err
	}
	rows := make([]codec.Row, len(list))
	for i, l := range list {
		rows[i] = codec.Row{N: l.Row, Time: l.Time, Took: l.Took, Kind: l.Kind, Path: string(l.Path), Fingerprint: l.Fingerprint, Data: l.JSON()}
	}
	rows[at-k.First].Kind = codec.DroppedEffect
	again := codec.NewPack(n, k.Seq, rows)
	_, err = c.Exec("UPDATE pack SET time = ?, data = ?, sum = ? WHERE id = ?", again.Time, again.Data, again.Sum, packID(n, again.Last))
	return err
}

// The id of a pack has the run's number in its upper bits and the number of its last
// row in the lower ones. So one index finds the packs of a run in order.

// rowBits is the number of lower bits.
const rowBits = 32

func packID(run, last int64) int64 { return run<<rowBits | last }

// packColumns begins a query for packs.
const packColumns = "SELECT id, first, seq, time, path, data, sum FROM pack"

func packOf(v []driver.Value) codec.Pack {
	id := stores.Integer(v[0])
	return codec.Pack{
		Run: id >> rowBits, Last: id & (1<<rowBits - 1), First: stores.Integer(v[1]), Seq: stores.Integer(v[2]), Time: stores.Integer(v[3]),
		Path: stores.Text(v[4]), Data: stores.Text(v[5]), Sum: stores.Integer(v[6]),
	}
}

// writePack adds a pack to the store. It replaces a pack that was written earlier
// without a confirmation.
func writePack(c *stores.Conn, k *codec.Pack, epoch int64) error {
	return c.Queue(`INSERT INTO pack (id, first, seq, time, epoch, path, data, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET first = excluded.first, seq = excluded.seq, time = excluded.time, epoch = excluded.epoch,
		path = excluded.path, data = excluded.data, sum = excluded.sum`, packID(k.Run, k.Last), k.First, k.Seq, k.Time, epoch, k.Path, k.Data, k.Sum)
}

// unpack inserts the long strings again and returns the JSON in a view.
func (j *Journal) unpack(ctx context.Context, c *stores.Conn, raw []byte, v codec.View) ([]byte, error) {
	whole, err := codec.InsertTexts(raw, func(d codec.Digest) (string, error) { return j.text(ctx, c, d) })
	if errors.Is(err, codec.ErrTextName) {
		err = j.db.Corrupt("a row", err)
	}
	if err != nil {
		return nil, err
	}
	return v.Read(whole)
}

// text reads one long string.
func (j *Journal) text(ctx context.Context, c *stores.Conn, d codec.Digest) (string, error) {
	row, err := c.One(ctx, "SELECT text FROM text WHERE digest = ?", d[:])
	if err != nil {
		return "", err
	}
	if row == nil {
		return "", j.db.Corrupt(fmt.Sprintf("text %x is not there", d), nil)
	}
	text := stores.Text(row[0])
	if codec.DigestOf([]byte(text)) != d {
		return "", j.db.Corrupt(fmt.Sprintf("text %x has changed", d), nil)
	}
	return text, nil
}

// verified returns the JSON of a row, or an error if its checksum is wrong. The
// error names the row by what.
func (j *Journal) verified(what string, data, sum driver.Value) ([]byte, error) {
	raw := []byte(stores.Text(data))
	if stores.Integer(sum) != codec.Checksum(raw) {
		return nil, j.db.Corrupt(what+" is not what was written", nil)
	}
	return raw, nil
}
