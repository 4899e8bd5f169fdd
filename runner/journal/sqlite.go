package journal

import (
	"bytes"
	"context"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"modernc.org/sqlite"

	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/runner/journal/owners"
)

// application marks a SQLite file as a journal.
const application = 0x43505354 // "CPST"

// oldest is the version of the tables that can be looked at as they are.
const oldest = 1

// current is the version of the tables that this package writes: the number of
// files in the folder of that name besides the views.
const current = 4

//go:embed schema/*.sql schema/postgres/*.sql
var scripts embed.FS

// patience is how long another process may hold the file before an error says
// so.
const patience = 10 * time.Second

// A fileStore is a file of SQLite.
type fileStore struct {
	j          *Journal
	file       string
	statements func(name string) ([]byte, error) // of the schema
	immutable  bool                              // nobody writes the file, nor can anything be made beside it
	counts     sqlite.FileControl                // the writer's connection: it counts what was written, by whomever, its own commits too
	is         os.FileInfo                       // the file, as it was opened
	looked     int64                             // when it was last looked whether it is that still, by the writer's clock
	count      int64                             // what it says next where nobody else writes; -1 where that is not known
}

func (f *fileStore) String() string { return f.file }

func (f *fileStore) close() error { return nil }

func (f *fileStore) dialect() *dialect {
	return &dialect{read: "BEGIN", owner: "owner", sum: "sum", list: "group_concat(kind)", within: "instr", lines: true}
}

// open makes the file where it may, checks that it is a journal that this
// package knows, and brings an older one up to date.
func (f *fileStore) open() (w *writer, err error) {
	if err := f.look(); err != nil {
		return nil, err
	}
	if f.j.options.ReadOnly {
		return nil, f.openReadOnly()
	}
	if err := create(f.file); err != nil {
		return nil, err
	}
	c, err := dial(f.file, "rw", f.j.options.patience)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	version, err := f.recognise(c)
	if err != nil {
		return nil, err
	}
	settings := "PRAGMA synchronous=" + f.synchronous() + "; PRAGMA journal_mode=WAL; PRAGMA cache_size=-16000; PRAGMA wal_autocheckpoint=" + strconv.Itoa(checkpointAtAll)
	if version == 0 {
		// Of a file that has tables, the second one would write. Both hold from when they
		// are compiled: one that ran made the file a page, with five syncs, before it is
		// made again as one with a WAL.
		settings = "PRAGMA page_size=8192; EXPLAIN PRAGMA auto_vacuum=INCREMENTAL; " + settings
	}
	if err := f.set(c, settings); err != nil {
		return nil, err
	}
	if err := f.migrate(c, current); err != nil {
		return nil, err
	}
	if err := f.review(c); err != nil {
		return nil, err
	}
	f.lined(c)
	back := func() (*conn, error) {
		return dial(f.file, "rw", f.j.options.patience, "_pragma=synchronous("+f.synchronous()+")")
	}
	f.counts = c.link.(*fileLink).Conn.(sqlite.FileControl)
	if f.is, err = os.Stat(f.file); err != nil {
		return nil, err
	}
	return newWriter(f.j, c, back), nil
}

// set makes settings. Where somebody else makes the file one with a WAL at the same
// time, SQLite says at once that it is held, however long it may wait.
func (f *fileStore) set(c *conn, settings string) error {
	late := time.Now().Add(f.j.options.patience)
	err := c.Script(settings)
	for f.away(err) && time.Now().Before(late) {
		time.Sleep(5 * time.Millisecond)
		err = c.Script(settings)
	}
	return err
}

// there refuses to go on with a file that is not the one that was opened any more: what
// is written would be kept nowhere, and what is read be of other runs.
func (f *fileStore) there() error {
	now, err := os.Stat(f.file)
	if err == nil && os.SameFile(now, f.is) {
		return nil
	}
	return &damage{file: f.file, words: "the journal was removed or replaced while it was open", err: err}
}

// thereEvery is how often a writer looks.
const thereEvery = time.Second

// synchronous is SQLite's word for how careful it is.
func (f *fileStore) synchronous() string {
	switch {
	case f.j.options.careless:
		return "OFF"
	case f.j.options.Power:
		return "FULL"
	}
	return "NORMAL"
}

// look refuses what can be told without SQLite.
func (f *fileStore) look() error {
	info, err := os.Stat(f.file)
	switch {
	case errors.Is(err, os.ErrNotExist) && !f.j.options.ReadOnly:
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: a journal is a file, this is not one", f.file)
	}
	if err := files.OneName(f.file); err != nil {
		return fmt.Errorf("the journal has more than one name: %w", err)
	}
	f.is = info
	return nil
}

// create makes the file, for its owner alone, where it is not there. It must not open a
// file that exists: to close it again would release the locks that SQLite has on it for
// other connections of this process.
func create(file string) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
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
func (f *fileStore) openReadOnly() error {
	c, err := f.reader()
	if err != nil {
		return err
	}
	version, err := f.recognise(c)
	if err != nil {
		c.Close()
		if f.immutable || !f.quiet() {
			return err
		}
		f.immutable = true
		return f.openReadOnly()
	}
	f.lined(c)
	if version < sums {
		f.j.says.sum = "NULL"
	}
	f.j.reads <- struct{}{}
	f.j.release(c, nil)
	if version < oldest {
		return fmt.Errorf("%s: the journal was written by an older capstan (schema %d; this one reads %d to %d)", f.file, version, oldest, current)
	}
	return nil
}

// lined sees whether there are rows that older capstans wrote one by one, or may be:
// where there is the table, nobody adds to it any more, and most files have none.
func (f *fileStore) lined(c *conn) {
	row, err := c.one(context.Background(), "SELECT 1 FROM line LIMIT 1")
	f.j.says.lines = err != nil || row != nil
}

// quiet says that nothing waits beside the file to be written back to it.
func (f *fileStore) quiet() bool {
	file, err := filepath.EvalSymlinks(f.file)
	if err != nil {
		return true
	}
	info, err := os.Stat(file + "-wal")
	return err != nil || info.Size() == 0
}

// recognise gives the version of the tables, 0 where there are none, and refuses a
// file that is somebody else's, or newer.
func (f *fileStore) recognise(c *conn) (version int64, err error) {
	tables, err := c.number("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return 0, err
	}
	mark, err := c.number("PRAGMA application_id")
	if err != nil {
		return 0, err
	}
	version, err = c.number("PRAGMA user_version")
	switch {
	case err != nil:
		return 0, err
	case tables == 0 && mark == 0 && f.j.options.ReadOnly: // whoever made the file is about to make them, or was killed
		return 0, &damage{file: f.file, words: "no runs are kept there yet", err: ErrEmpty}
	case mark != application && (tables > 0 || f.j.options.ReadOnly):
		return 0, &damage{file: f.file, words: "this SQLite file is not a journal"}
	case version > current:
		return 0, fmt.Errorf("%s: the journal was written by a newer capstan (schema %d; this one knows %d)", f.file, version, current)
	}
	return version, nil
}

// migrate brings the tables to a version, one after the other, in one
// transaction that only one process makes.
func (f *fileStore) migrate(c *conn, to int64) error {
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
			if err := f.apply(c, fmt.Sprintf("schema/%d.sql", version)); err != nil {
				return err
			}
		}
		if err := f.apply(c, "schema/views.sql"); err != nil {
			return err
		}
		return c.Script(fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d", application, to))
	})
}

// review has the views be this package's: they are made anew where another capstan, that
// has the same tables, made them.
func (f *fileStore) review(c *conn) error {
	text, err := f.statements("schema/views.sql")
	if err != nil {
		return err
	}
	same := true
	err = c.each(context.Background(), func(v []driver.Value) error {
		same = same && bytes.Contains(text, []byte(word(v[0])+";"))
		return nil
	}, "SELECT sql FROM sqlite_schema WHERE type = 'view'")
	if err != nil || same {
		return err
	}
	// They serve as they are where the file is locked, or its disk full.
	_ = within(c, func() error { return errors.Join(dropViews(c), f.apply(c, "schema/views.sql")) })
	return nil
}

func (f *fileStore) apply(c *conn, name string) error {
	text, err := f.statements(name)
	if err != nil {
		return err
	}
	if err := c.Script(string(text)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func dropViews(c *conn) error {
	for _, view := range []string{"runs", "phases", "attempts", "verdicts", "calls", "entry"} {
		if err := c.Script("DROP VIEW IF EXISTS " + view); err != nil {
			return err
		}
	}
	return nil
}

// within runs body in a transaction that writes.
func within(c *conn, body func() error) error {
	if _, err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := body()
	if err == nil {
		_, err = c.Exec("COMMIT")
	}
	if err != nil {
		_, _ = c.Exec("ROLLBACK") // where SQLite has not done so itself
	}
	return err
}

// reader opens a connection that cannot write.
func (f *fileStore) reader() (*conn, error) {
	if err := f.there(); err != nil {
		return nil, err
	}
	more := []string{"_pragma=query_only(1)"}
	if f.immutable {
		more = append(more, "immutable=1")
	}
	return dial(f.file, "ro", f.j.options.patience, more...)
}

// begin begins a transaction that writes, and sees whether others have written since
// the last one.
func (f *fileStore) begin(w *writer) error {
	at := w.clock() // before one looks: what is written from here on is not seen
	if at-f.looked > int64(thereEvery) {
		if err := f.there(); err != nil {
			return err
		}
		f.looked = at
	}
	if _, err := w.c.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	count, err := f.counts.FileControlDataVersion("main")
	if err != nil {
		return err
	}
	if int64(count) != f.count {
		w.endEra()
		clear(w.known) // somebody may have pruned
	}
	f.count = int64(count + 1) // by the commit, if it comes to one
	w.alone.Store(at)
	return nil
}

// again does not wait any longer: SQLite has done so for as long as it may. What it
// counts of a transaction that failed is not known.
func (f *fileStore) again(*writer, error, int) bool {
	f.count = -1
	return false
}

// hold has nothing to do: there is one who writes, and the era tells of others.
func (f *fileStore) hold(*conn, int64, int64) error { return nil }

func (f *fileStore) bury(*conn, string) (bool, error) { return true, nil }

// alive takes no chances: there is no clock here that both would go by.
func (f *fileStore) alive(owners.Owner) bool { return !f.j.options.TakeOver }

func (f *fileStore) judges() bool { return true }

func (f *fileStore) leased(owners.Owner) bool { return true }

func (f *fileStore) told(string) {}

func (f *fileStore) attend() {}

func (f *fileStore) still(*conn) error { return nil }

func (f *fileStore) settled(*conn) error { return nil }

// changes is SQLite's number of what others have written.
func (f *fileStore) changes(c *conn) (int64, error) { return c.number("PRAGMA data_version") }
