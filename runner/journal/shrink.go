package journal

import (
	"context"
	"database/sql/driver"
	"fmt"
)

// shrink gives the free pages back to the system, some at a time, and tells how
// many bytes stay free within the file. One that an older capstan began cannot
// give them back bit by bit: it is written anew, if nobody runs anything.
func (f *fileStore) shrink(ctx context.Context) (free int64, err error) {
	mode, err := f.writerNumber("PRAGMA auto_vacuum")
	if err == nil && mode == 0 {
		err = f.anew(ctx)
	}
	for last := int64(-1); err == nil; last = free {
		if free, err = f.writerNumber("PRAGMA freelist_count"); err != nil || free == 0 || free == last {
			break
		}
		if err = ctx.Err(); err == nil {
			err = f.j.writer.do(func(c *conn) error { return c.run("PRAGMA incremental_vacuum(512)") }) // a moment's work
		}
	}
	if err != nil {
		return 0, err
	}
	f.alone("PRAGMA busy_timeout=100; PRAGMA wal_checkpoint(TRUNCATE)")
	size, err := f.writerNumber("PRAGMA page_size")
	return free * size, err
}

// anew writes the whole file anew, so that it gives pages back from then on.
// Where others use it, it stays as it is.
func (f *fileStore) anew(ctx context.Context) error {
	busy := false
	err := f.j.reading(ctx, func(c *conn) error {
		return c.each(ctx, func(v []driver.Value) error {
			_, owned := f.j.alive(word(v[0]))
			busy = busy || owned
			return nil
		}, "SELECT owner FROM run WHERE owner IS NOT NULL")
	})
	if err == nil && !busy {
		f.alone("PRAGMA busy_timeout=100; PRAGMA auto_vacuum=INCREMENTAL; VACUUM")
	}
	return err
}

// alone runs a script, which is none that must come to its end, between two
// transactions.
func (f *fileStore) alone(script string) {
	w := f.j.writer
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	_ = w.c.Script(script)
	_ = w.c.Script(fmt.Sprintf("PRAGMA busy_timeout=%d", f.j.options.patience.Milliseconds()))
}

func (f *fileStore) writerNumber(query string) (n int64, err error) {
	err = f.j.writer.do(func(c *conn) (err error) { n, err = c.number(query); return err })
	return n, err
}

// size is what the file takes, with what waits in SQLite's log to be copied to
// it.
func (f *fileStore) size(c *conn) (int64, error) {
	pages, err := c.number("PRAGMA page_count")
	if err != nil {
		return 0, err
	}
	size, err := c.number("PRAGMA page_size")
	return pages * size, err
}
