package journal

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/runner/event"
)

// logged is a row of what happened: an event, an effect, or a mark between them.
type logged struct {
	row, seq, time, took int64
	kind                 string
	path                 event.Path
	print                print
	raw                  []byte   // its JSON, of a row that has no shape
	shape                *shape   // that the values stand in, of one that has
	values               [][]byte // of the shape
}

// json is the row's JSON, which is the caller's.
func (l *logged) json() []byte {
	if l.shape == nil {
		return bytes.Clone(l.raw)
	}
	return l.peek()
}

// peek is the row's JSON for the time being: its pack may lie behind it.
func (l *logged) peek() []byte {
	if l.shape == nil {
		return l.raw
	}
	return l.shape.unfold(l.values, string(l.path))
}

// saysAll tells of a row of a verdict that says yes or no and why, and no more.
func (l *logged) saysAll() bool { return l.shape != nil && l.shape.letter == "v" }

// packs is the version of the tables from which on rows are written in packs.
const packs = 3

// older tells whether the file has no packs, since nobody has written it since
// there are any. Somebody may do so now.
func (j *Journal) older(c *conn) (bool, error) {
	if !j.options.ReadOnly || !j.says.lines {
		return false, nil
	}
	version, err := c.number("PRAGMA user_version")
	return version < packs, err
}

// lineTable is the table of rows that were written one by one.
func lineTable(older bool) string {
	if older {
		return "log"
	}
	return "line"
}

const lineColumns = "SELECT id, seq, time, took, kind, path, print, data FROM "

func lineOf(v []driver.Value) logged {
	l := logged{
		row: integer(v[0]) & (1<<rowBits - 1), seq: integer(v[1]), time: integer(v[2]), took: integer(v[3]),
		kind: word(v[4]), path: event.Path(word(v[5])),
	}
	raw, _ := v[6].([]byte)
	l.print = append(print(nil), raw...)
	if data := word(v[7]); data != "" {
		l.raw = []byte(data)
	}
	return l
}

// eachRow calls body for the rows of a run behind the one numbered after, in
// order, of the kinds that are wanted: nil is all. [errEnough] ends it.
func (j *Journal) eachRow(ctx context.Context, c *conn, n, after int64, want func(kind string) bool, body func(logged) error) error {
	older, err := j.older(c)
	if err != nil {
		return err
	}
	enough := false
	note := func(l logged) error {
		err := body(l)
		enough = enough || errors.Is(err, errEnough)
		return err
	}
	if j.says.lines {
		err = c.each(ctx, func(v []driver.Value) error {
			if want != nil && !want(word(v[4])) {
				return nil
			}
			return note(lineOf(v))
		}, lineColumns+lineTable(older)+" WHERE id > ? AND id < ? ORDER BY id", n<<rowBits|after, (n+1)<<rowBits)
	}
	if err != nil || older || enough {
		return err
	}
	err = j.eachPack(ctx, c, n, after, func(k pack) error {
		ok, err := k.each(after, want, note)
		if !ok {
			return j.badPack(k)
		}
		return err
	})
	if enough {
		return nil
	}
	return err
}

// manyPacks is how many packs are read at a time where a connection gives one
// answer at a time: whoever is called with a pack may ask for more on it.
const manyPacks = 32

// eachPack calls body for the packs of a run that go on behind a row, in order.
func (j *Journal) eachPack(ctx context.Context, c *conn, n, after int64, body func(pack) error) error {
	if !j.says.single {
		return c.each(ctx, func(v []driver.Value) error { return body(packOf(v)) }, j.packColumns()+" WHERE run = ? AND last > ? ORDER BY last", n, after)
	}
	for page := make([]pack, 0, manyPacks); ; page = page[:0] {
		err := c.each(ctx, func(v []driver.Value) error {
			page = append(page, packOf(v))
			return nil
		}, j.packColumns()+" WHERE run = ? AND last > ? ORDER BY last LIMIT ?", n, after, int64(manyPacks))
		for i := 0; i < len(page) && err == nil; i++ {
			after = page[i].last
			err = body(page[i])
		}
		if err != nil || len(page) < manyPacks {
			return err
		}
	}
}

func (j *Journal) badPack(k pack) error {
	return j.garbled(fmt.Sprintf("rows %d to %d of run number %d", k.first, k.last, k.run), nil)
}

func (j *Journal) readRows(ctx context.Context, c *conn, n int64) (rows []logged, err error) {
	err = j.eachRow(ctx, c, n, 0, nil, func(l logged) error {
		rows = append(rows, l)
		return nil
	})
	return rows, err
}

// rowAt is one row of a run, false where it is not there.
func (j *Journal) rowAt(ctx context.Context, c *conn, n, row int64) (l logged, ok bool, err error) {
	older, err := j.older(c)
	if err != nil {
		return l, false, err
	}
	if !older {
		k, list, err := j.packAt(ctx, c, n, row)
		if list != nil {
			l = list[row-k.first]
		}
		if err != nil || list != nil {
			return l, list != nil, err
		}
	}
	if !j.says.lines {
		return l, false, nil
	}
	found, err := c.one(ctx, lineColumns+lineTable(older)+" WHERE id = ?", n<<rowBits|row)
	if err != nil || found == nil {
		return l, false, err
	}
	return lineOf(found), true, nil
}

// packAt is the pack that has a row, and its rows; none where there is none.
func (j *Journal) packAt(ctx context.Context, c *conn, n, row int64) (k pack, list []logged, err error) {
	found, err := c.one(ctx, j.packColumns()+" WHERE run = ? AND last >= ? ORDER BY last LIMIT 1", n, row)
	if err != nil || found == nil {
		return k, nil, err
	}
	if k = packOf(found); k.first > row {
		return k, nil, nil
	}
	list, ok := k.rows(nil)
	if !ok {
		return k, nil, j.badPack(k)
	}
	return k, list, nil
}

// lastRow tells the numbers of a run's last row and of its last event.
func (j *Journal) lastRow(ctx context.Context, c *conn, n int64) (row, seq int64, err error) {
	older, err := j.older(c)
	if err != nil {
		return 0, 0, err
	}
	if !older {
		found, err := c.one(ctx, j.packColumns()+" WHERE run = ? ORDER BY last DESC LIMIT 1", n)
		if err != nil {
			return 0, 0, err
		}
		if found != nil {
			k := packOf(found)
			list, ok := k.rows(isEvent)
			if !ok {
				return 0, 0, j.badPack(k)
			}
			seq = k.seq
			for _, l := range list {
				seq = max(seq, l.seq)
			}
			return k.last, seq, nil
		}
	}
	if !j.says.lines {
		return 0, 0, nil
	}
	found, err := c.one(ctx, "SELECT max(id), max(seq) FROM "+lineTable(older)+" WHERE id > ? AND id < ?", n<<rowBits, (n+1)<<rowBits)
	if err == nil {
		row, seq = integer(found[0])&(1<<rowBits-1), integer(found[1])
	}
	return row, seq, err
}

// dropRow marks an effect as one that is to be made again.
func (j *Journal) dropRow(c *conn, n, at int64) error {
	if j.says.lines {
		if _, err := c.Exec("UPDATE line SET kind = '"+droppedEffect+"' WHERE id = ?", n<<rowBits|at); err != nil {
			return err
		}
	}
	k, list, err := j.packAt(context.Background(), c, n, at)
	if err != nil || list == nil {
		return err
	}
	rows := make([]row, len(list))
	for i, l := range list {
		rows[i] = row{n: l.row, time: l.time, took: l.took, kind: l.kind, path: string(l.path), print: l.print, data: l.json()}
	}
	rows[at-k.first].kind = droppedEffect
	again, _ := packed(n, k.seq, rows, nil)
	_, err = c.Exec("UPDATE pack SET time = ?, data = ?, sum = ? WHERE run = ? AND last = ?", again.time, again.data, again.checksum([]byte(again.data)), n, again.last)
	return err
}
