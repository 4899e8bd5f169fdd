package journal

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"sync"
	"time"
)

// Parcels are texts under their SHA-256, which an engine of several machines has
// its effects and states lie in: they stand beside the runs, in the same store. They
// are safe for concurrent use, by several processes too.
type Parcels struct {
	j     *Journal
	table func() error
}

// Parcels are those of the journal. [Journal.Prune] takes out what no run of an
// engine may need.
func (j *Journal) Parcels() *Parcels {
	return &Parcels{j, sync.OnceValue(func() error {
		if err := j.writable(); err != nil {
			return err
		}
		return j.writer.do(j.parcelTables)
	})}
}

// parcelTables has the tables be there. When a parcel was last put stands beside
// it, since a row with a long text is dear to write again; one of which that is not
// known, of an older capstan, counts as put now.
func (j *Journal) parcelTables(c *conn) error {
	for _, statement := range []string{
		"CREATE TABLE IF NOT EXISTS parcel (digest TEXT NOT NULL PRIMARY KEY, text BYTEA NOT NULL)",
		"CREATE TABLE IF NOT EXISTS posted (digest TEXT NOT NULL PRIMARY KEY, at BIGINT NOT NULL)",
	} {
		if _, err := c.Exec(statement); err != nil {
			return err
		}
	}
	_, err := c.Exec("INSERT INTO posted SELECT digest, ? FROM parcel WHERE digest NOT IN (SELECT digest FROM posted)", j.now().UnixNano())
	return err
}

// A parcel that was put within postedWithin is not noted again when it is put; one
// stays for parcelsStay at least, in which a run that was ordered is begun.
const (
	postedWithin = time.Hour
	parcelsStay  = 24 * time.Hour
)

// Put keeps a text. It is on the store's disk before a history can name it.
func (p *Parcels) Put(text []byte) (digest string, err error) {
	if err := p.table(); err != nil {
		return "", fmt.Errorf("texts: %w", err)
	}
	sum := sha256.Sum256(text)
	digest = hex.EncodeToString(sum[:])
	err = p.j.writer.do(func(c *conn) error {
		now := p.j.now()
		found, err := c.one(context.Background(), "SELECT at FROM posted WHERE digest = ?", digest)
		if err != nil || found != nil && now.Sub(timeOf(integer(found[0]))) < postedWithin {
			return err
		}
		if err := p.j.lasting(c); err != nil {
			return err
		}
		if err := c.send("INSERT INTO posted VALUES (?, ?) ON CONFLICT (digest) DO UPDATE SET at = excluded.at", digest, now.UnixNano()); err != nil {
			return err
		}
		return c.send("INSERT INTO parcel (digest, text) VALUES (?, ?) ON CONFLICT DO NOTHING", digest, text)
	})
	if err != nil {
		return "", fmt.Errorf("texts: %w", err)
	}
	return digest, nil
}

// Get gives the text of a digest.
func (p *Parcels) Get(digest string) (text []byte, err error) {
	if err := p.table(); err != nil {
		return nil, fmt.Errorf("texts: %w", err)
	}
	there := false
	err = p.j.reading(context.Background(), func(c *conn) error {
		found, err := c.one(context.Background(), "SELECT text FROM parcel WHERE digest = ?", digest)
		if err == nil && found != nil {
			text, there = append([]byte{}, bytesOf(found[0])...), true
		}
		return err
	})
	switch sum := sha256.Sum256(text); {
	case err != nil:
		return nil, fmt.Errorf("texts: %w", p.j.fault(err))
	case !there:
		return nil, fmt.Errorf("texts: %s is not there", digest)
	case hex.EncodeToString(sum[:]) != digest:
		return nil, fmt.Errorf("texts: %s is damaged", digest)
	}
	return text, nil
}

// bytesOf is a value of bytes, however the store gives them.
func bytesOf(v any) []byte {
	if said, ok := v.(string); ok {
		return []byte(said)
	}
	raw, _ := v.([]byte)
	return raw
}

// pruneParcels takes out the parcels that no run of another engine may need which
// has not ended, or not before a time: a run puts what it needs, if it is there or
// not, so that what was last put before such a run began is not its own.
func (j *Journal) pruneParcels(ctx context.Context, turn pruneTurn, before time.Time) (removed int, err error) {
	if err := j.writer.do(j.parcelTables); err != nil {
		return 0, err
	}
	var list []string
	err = j.reading(ctx, func(c *conn) error {
		oldest, err := c.number("SELECT coalesce(min(started), ?) FROM run WHERE epoch = ? AND (finished IS NULL OR finished >= ?)",
			before.UnixNano(), int64(guestEpoch), before.UnixNano())
		if err != nil {
			return err
		}
		oldest = min(oldest, before.UnixNano(), j.now().UnixNano()) - int64(parcelsStay)
		return c.each(ctx, func(v []driver.Value) error {
			list = append(list, word(v[0]))
			return nil
		}, "SELECT digest FROM posted WHERE at < ?", oldest)
	})
	for err == nil && len(list) > 0 {
		some := list[:min(len(list), 1000)]
		list = list[len(some):]
		err = j.writer.do(func(c *conn) error { return j.removeParcels(c, turn, some) })
		removed += len(some)
	}
	return removed, err
}

// removeParcels removes parcels within a transaction, but those that were put again.
func (j *Journal) removeParcels(c *conn, turn pruneTurn, list []string) error {
	if err := turn.stands(c); err != nil {
		return err
	}
	fresh := j.now().Add(-parcelsStay).UnixNano()
	for _, digest := range list {
		if err := c.send("DELETE FROM posted WHERE digest = ? AND at < ?", digest, fresh); err != nil {
			return err
		}
		if err := c.send("DELETE FROM parcel WHERE digest = ? AND NOT EXISTS (SELECT 1 FROM posted WHERE posted.digest = parcel.digest)", digest); err != nil {
			return err
		}
	}
	return nil
}
