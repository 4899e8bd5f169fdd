package journal

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"modernc.org/sqlite"
)

// application marks a SQLite file as a journal.
const application = 0x43505354 // "CPST"

// oldest is the version of the tables that can be looked at as they are.
const oldest = 1

// current is the version of the tables that this package writes: the number of
// files in the folder of that name besides the views.
const current = 3

//go:embed schema/*.sql
var statements embed.FS

// patience is how long another process may hold the file before an error says
// so.
const patience = 10 * time.Second

// open makes the file where it may, checks that it is a journal that this
// package knows, and brings an older one up to date.
func (j *Journal) open() (err error) {
	if err := j.look(); err != nil {
		return err
	}
	if j.options.ReadOnly {
		return j.openReadOnly()
	}
	if err := create(j.file); err != nil {
		return err
	}
	c, err := dial(j.file, "rw", j.options.patience)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if err := j.recognise(c); err != nil {
		return err
	}
	err = c.script("PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA synchronous=" + j.synchronous() + "; PRAGMA journal_mode=WAL; PRAGMA cache_size=-16000; PRAGMA wal_autocheckpoint=" +
		strconv.Itoa(checkpointAtAll))
	if err != nil {
		return err
	}
	if err := j.migrate(c, current); err != nil {
		return err
	}
	back, err := dial(j.file, "rw", j.options.patience, "_pragma=synchronous("+j.synchronous()+")")
	if err != nil {
		return err
	}
	j.writer = newWriter(j, c, back)
	return nil
}

// synchronous is SQLite's word for how careful it is.
func (j *Journal) synchronous() string {
	switch {
	case j.options.careless:
		return "OFF"
	case j.options.Power:
		return "FULL"
	}
	return "NORMAL"
}

// look refuses what can be told without SQLite.
func (j *Journal) look() error {
	info, err := os.Stat(j.file)
	switch {
	case errors.Is(err, os.ErrNotExist) && !j.options.ReadOnly:
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: a journal is a file, this is not one", j.file)
	}
	return nil
}

// create makes the file, for its owner alone, where it is not there.
func create(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// openReadOnly looks at the file as it is. Where not even the files beside it
// can be made, it is taken for one that nobody writes.
func (j *Journal) openReadOnly() error {
	c, err := j.dialReader()
	if err != nil {
		return err
	}
	if err := j.recognise(c); err != nil {
		c.Close()
		if j.immutable || !j.still() {
			return err
		}
		j.immutable = true
		return j.openReadOnly()
	}
	version, err := c.number("PRAGMA user_version")
	j.reads <- struct{}{}
	j.release(c, err)
	if err == nil && version < oldest {
		err = fmt.Errorf("%s: the journal was written by an older capstan (schema %d; this one reads %d to %d)", j.file, version, oldest, current)
	}
	return err
}

// still says that nothing waits beside the file to be written back to it.
func (j *Journal) still() bool {
	info, err := os.Stat(j.file + "-wal")
	return err != nil || info.Size() == 0
}

// recognise refuses a file that is somebody else's, or newer.
func (j *Journal) recognise(c *conn) error {
	tables, err := c.number("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return err
	}
	mark, err := c.number("PRAGMA application_id")
	if err != nil {
		return err
	}
	version, err := c.number("PRAGMA user_version")
	switch {
	case err != nil:
		return err
	case mark != application && (tables > 0 || j.options.ReadOnly):
		return &damage{file: j.file, words: "this SQLite file is not a journal"}
	case version > current:
		return fmt.Errorf("%s: the journal was written by a newer capstan (schema %d; this one knows %d)", j.file, version, current)
	}
	return nil
}

// migrate brings the tables to a version, one after the other, in one
// transaction that only one process makes.
func (j *Journal) migrate(c *conn, to int64) error {
	version, err := c.number("PRAGMA user_version")
	if err != nil || version >= to {
		return err
	}
	return within(c, func() error {
		version, err := c.number("PRAGMA user_version") // another process may have been here
		if err != nil || version >= to {
			return err
		}
		if err := dropViews(c); err != nil {
			return err
		}
		for version++; version <= to; version++ {
			if err := j.apply(c, fmt.Sprintf("schema/%d.sql", version)); err != nil {
				return err
			}
		}
		if err := j.apply(c, "schema/views.sql"); err != nil {
			return err
		}
		return c.script(fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d", application, to))
	})
}

func (j *Journal) apply(c *conn, name string) error {
	text, err := j.statements(name)
	if err != nil {
		return err
	}
	if err := c.script(string(text)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func dropViews(c *conn) error {
	for _, view := range []string{"runs", "phases", "attempts", "verdicts", "calls", "entry"} {
		if err := c.script("DROP VIEW IF EXISTS " + view); err != nil {
			return err
		}
	}
	return nil
}

// within runs body in a transaction that writes.
func within(c *conn, body func() error) error {
	if _, err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := body()
	if err == nil {
		_, err = c.exec("COMMIT")
	}
	if err != nil {
		_, _ = c.exec("ROLLBACK") // where SQLite has not done so itself
	}
	return err
}

// dialReader opens a connection that cannot write.
func (j *Journal) dialReader() (*conn, error) {
	more := []string{"_pragma=query_only(1)"}
	if j.immutable {
		more = append(more, "immutable=1")
	}
	return dial(j.file, "ro", j.options.patience, more...)
}

// reader gives a connection that reads; release takes it back. Who has one must
// not ask for another.
func (j *Journal) reader(ctx context.Context) (*conn, error) {
	select {
	case j.reads <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case c := <-j.readers:
		return c, nil
	default:
	}
	err := errClosed
	if !j.closed.Load() {
		var c *conn
		if c, err = j.dialReader(); err == nil {
			return c, nil
		}
	}
	<-j.reads
	return nil, j.fault(err)
}

// release keeps a connection for the next reader, unless something went wrong
// on it.
func (j *Journal) release(c *conn, err error) {
	defer func() { <-j.reads }()
	var broken *sqlite.Error
	if !errors.As(err, &broken) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !j.closed.Load() {
		select {
		case j.readers <- c:
			return
		default:
		}
	}
	c.Close()
}

// reading runs body with a connection that reads, on one unchanging view of
// the file.
func (j *Journal) reading(ctx context.Context, body func(c *conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := j.reader(ctx)
	if err != nil {
		return err
	}
	if _, err = c.exec("BEGIN"); err == nil {
		err = body(c)
	}
	if _, e := c.exec("ROLLBACK"); err == nil {
		err = e
	}
	j.release(c, err)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return j.fault(err)
}

var errClosed = errors.New("the journal is closed")
