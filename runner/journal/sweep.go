package journal

import (
	"context"
	"database/sql/driver"

	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// A sweep removes texts that no row names. It first searches without locks. The
// transaction that removes texts locks out writers and searches the rows
// written meanwhile. After that, a writer no longer trusts its list of existing
// texts, because another process has written, see [stores.Writer.Texts].

// A sweep finds the texts that rows name.
type sweep struct {
	named map[codec.Digest]bool
	run   int64           // runs up to this number were read
	open  map[int64]int64 // last read pack of each unfinished run
}

func newSweep() *sweep {
	return &sweep{named: map[codec.Digest]bool{}, open: map[int64]int64{}}
}

// sweep removes the texts that no row names and returns their number.
func (j *Journal) sweep(ctx context.Context, turn pruneTurn) (removed int, err error) {
	s := newSweep()
	unnamed, err := s.unnamed(ctx, j)
	for err == nil && len(unnamed) > 0 {
		some := unnamed[:min(len(unnamed), 1000)]
		unnamed = unnamed[len(some):]
		err = j.db.Writer.Do(func(c *stores.Conn) error {
			if err := turn.check(c); err != nil {
				return err
			}
			n, err := s.remove(ctx, j, c, some)
			removed += n
			return err
		})
	}
	return removed, err
}

// unnamed returns the texts that no row names now.
func (s *sweep) unnamed(ctx context.Context, j *Journal) (list []codec.Digest, err error) {
	err = j.db.Read(ctx, func(c *stores.Conn) error {
		if err := j.db.Store.Settled(c); err != nil {
			return err
		}
		if err := s.readNew(ctx, c); err != nil {
			return err
		}
		return c.Each(ctx, func(v []driver.Value) error {
			if d, ok := digestIn(v[0]); ok && !s.named[d] {
				list = append(list, d)
			}
			return nil
		}, "SELECT digest FROM text")
	})
	return list, err
}

// remove removes those texts that still have no name in any row, within a
// transaction.
func (s *sweep) remove(ctx context.Context, j *Journal, c *stores.Conn, list []codec.Digest) (removed int, err error) {
	clear(j.db.Writer.Known)
	if err := j.db.Store.Still(c); err != nil {
		return 0, err
	}
	if err := s.readNew(ctx, c); err != nil {
		return 0, err
	}
	for _, d := range list {
		if s.named[d] {
			continue
		}
		if err := c.Queue("DELETE FROM text WHERE digest = ?", d[:]); err != nil {
			return 0, err
		}
		removed++
	}
	return removed, nil
}

func digestIn(v driver.Value) (d codec.Digest, ok bool) {
	raw, _ := v.([]byte)
	return d, copy(d[:], raw) == len(d) && len(raw) == len(d)
}

// readNew reads the rows written since its last call: new runs, and new rows of
// unfinished runs.
func (s *sweep) readNew(ctx context.Context, c *stores.Conn) error {
	runs, err := c.Number("SELECT coalesce(max(n), 0) FROM run")
	if err != nil {
		return err
	}
	last := map[int64]int64{} // last packs of the runs that are read
	packs := func(v []driver.Value) error {
		id := stores.Integer(v[0])
		last[id>>rowBits] = id
		s.note(stores.Text(v[1]))
		return nil
	}
	if err := c.Each(ctx, packs, "SELECT id, data FROM pack WHERE id > ? ORDER BY id", packID(s.run+1, 0)); err != nil {
		return err
	}
	for n, read := range s.open {
		last[n] = read
		if err := c.Each(ctx, packs, "SELECT id, data FROM pack WHERE id > ? AND id < ? ORDER BY id", read, packID(n+1, 0)); err != nil {
			return err
		}
		if err := s.read(ctx, c, "SELECT data FROM result WHERE run = ?", n); err != nil {
			return err
		}
	}
	if err := s.read(ctx, c, "SELECT data FROM start WHERE run > ?", s.run); err != nil {
		return err
	}
	if err := s.read(ctx, c, "SELECT data FROM result WHERE run > ?", s.run); err != nil {
		return err
	}
	clear(s.open)
	err = c.Each(ctx, func(v []driver.Value) error {
		s.note(stores.Text(v[1]))
		s.note(stores.Text(v[2]))
		if n := stores.Integer(v[0]); !final(stores.Text(v[3]), errorIn(v[2]).code()) {
			s.open[n] = max(last[n], packID(n, 0))
		}
		return nil
	}, "SELECT n, pending, error, status FROM run WHERE n > ? OR pending IS NOT NULL OR error IS NOT NULL OR "+unended, s.run)
	s.run = runs
	return err
}

func (s *sweep) read(ctx context.Context, c *stores.Conn, query string, args ...any) error {
	return c.Each(ctx, func(v []driver.Value) error {
		s.note(stores.Text(v[0]))
		return nil
	}, query, args...)
}

// note records the texts that a row names.
func (s *sweep) note(text string) {
	for d := range codec.References(text) {
		s.named[d] = true
	}
}
