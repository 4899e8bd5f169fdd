package stores

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

	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/runner/journal/internal/owners"
)

// Application marks a SQLite file as a journal.
const Application = 0x43505354 // "CPST"

// version is the format of the tables in both stores. The package reads and
// writes only this format.
const version = 7

//go:embed schema/*.sql
var scripts embed.FS

// DefaultPatience is how long the journal waits for a lock of another process.
const DefaultPatience = 10 * time.Second

// A SQLite is a file of SQLite.
type SQLite struct {
	db        *DB
	File      string
	immutable bool               // the file and its directory cannot be written
	counts    sqlite.FileControl // the writer's connection; its counter changes with every commit of any process, including its own
	info      os.FileInfo        // of the file when it was opened
	CheckedAt int64              // time of the last check of the file, by the writer's clock
	count     int64              // expected counter if nobody else writes; -1 if unknown
}

// String returns the name of the file.
func (f *SQLite) String() string { return f.File }

// Close implements [Store].
func (f *SQLite) Close() error { return nil }

// Dialect implements [Store].
func (f *SQLite) Dialect() *Dialect {
	return &Dialect{read: "BEGIN", Owner: "owner", List: "group_concat(kind)", Within: "instr"}
}

// Open creates the file if it may, or checks that it is a journal of this
// version.
func (f *SQLite) Open() (w *writer, err error) {
	if err := f.checkPath(); err != nil {
		return nil, err
	}
	if f.db.Options.ReadOnly {
		return nil, f.openReadOnly()
	}
	if err := create(f.File); err != nil {
		return nil, err
	}
	c, err := DialFile(f.File, "rw", f.db.Options.Patience)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	fresh, err := f.checkSchema(c)
	if err != nil {
		return nil, err
	}
	settings := "PRAGMA synchronous=" + f.synchronous() + "; PRAGMA journal_mode=WAL; PRAGMA cache_size=-16000; PRAGMA wal_autocheckpoint=" + strconv.Itoa(checkpointAtAll)
	if fresh {
		// Only for a new file: in a file with tables, the second setting would
		// write. Both take effect when they are compiled. Executing the second
		// would write the file with five syncs before it becomes one with a
		// WAL.
		settings = "PRAGMA page_size=8192; EXPLAIN PRAGMA auto_vacuum=INCREMENTAL; " + settings
	}
	if err := f.set(c, settings); err != nil {
		return nil, err
	}
	if fresh {
		if err := f.makeTables(c); err != nil {
			return nil, err
		}
	}
	back := func() (*Conn, error) {
		return DialFile(f.File, "rw", f.db.Options.Patience, "_pragma=synchronous("+f.synchronous()+")")
	}
	f.counts = c.Link.(*fileLink).Conn.(sqlite.FileControl)
	if f.info, err = os.Stat(f.File); err != nil {
		return nil, err
	}
	return newWriter(f.db, c, back), nil
}

// set applies settings. If another process is switching the file to a WAL,
// SQLite reports a lock without waiting, so set repeats the attempt.
func (f *SQLite) set(c *Conn, settings string) error {
	late := time.Now().Add(f.db.Options.Patience)
	err := c.Script(settings)
	for f.Away(err) && time.Now().Before(late) {
		time.Sleep(5 * time.Millisecond)
		err = c.Script(settings)
	}
	return err
}

// checkFile returns an error if the file was replaced or removed since it was
// opened. Data written to it would be lost, and data read would belong to other
// runs.
func (f *SQLite) checkFile() error {
	now, err := os.Stat(f.File)
	if err == nil && os.SameFile(now, f.info) {
		return nil
	}
	return &Error{file: f.File, Message: "the journal was removed or replaced while it was open", Err: err}
}

// CheckInterval is the time between two checks of a writer.
const CheckInterval = time.Second

// synchronous returns SQLite's setting for the durability.
func (f *SQLite) synchronous() string {
	switch {
	case f.db.Options.NoSync:
		return "OFF"
	case f.db.Options.Power:
		return "FULL"
	}
	return "NORMAL"
}

// checkPath returns errors that need no SQLite.
func (f *SQLite) checkPath() error {
	info, err := os.Stat(f.File)
	switch {
	case errors.Is(err, os.ErrNotExist) && !f.db.Options.ReadOnly:
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: a journal is a file, this is not one", f.File)
	}
	if err := files.OneName(f.File); err != nil {
		return fmt.Errorf("the journal has more than one name: %w", err)
	}
	f.info = info
	return nil
}

// create creates a missing file, readable only by its owner. It must not open
// an existing file: closing it would release the locks of SQLite's other
// connections in this process.
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

// openReadOnly opens the file for reading. If SQLite cannot create its files beside it,
// the file counts as read-only.
func (f *SQLite) openReadOnly() error {
	c, err := f.Reader()
	if err != nil {
		return err
	}
	if _, err = f.checkSchema(c); err != nil {
		c.Close()
		if f.immutable || !f.emptyLog() {
			return err
		}
		f.immutable = true
		return f.openReadOnly()
	}
	f.db.ReadSlots <- struct{}{}
	f.db.Release(c, nil)
	return nil
}

// emptyLog reports whether SQLite's log has nothing to copy to the file.
func (f *SQLite) emptyLog() bool {
	file, err := filepath.EvalSymlinks(f.File)
	if err != nil {
		return true
	}
	info, err := os.Stat(file + "-wal")
	return err != nil || info.Size() == 0
}

// checkSchema reports whether the file has no tables yet. It returns an error
// for a file of another program or version.
func (f *SQLite) checkSchema(c *Conn) (fresh bool, err error) {
	tables, err := c.Number("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return false, err
	}
	mark, err := c.Number("PRAGMA application_id")
	if err != nil {
		return false, err
	}
	found, err := c.Number("PRAGMA user_version")
	switch {
	case err != nil:
		return false, err
	case tables == 0 && mark == 0 && f.db.Options.ReadOnly: // the process that created the file has not made the tables yet, or was killed
		return false, &Error{file: f.File, Message: "no runs are kept there yet", Err: ErrEmpty}
	case mark != Application && (tables > 0 || f.db.Options.ReadOnly):
		return false, &Error{file: f.File, Message: "this SQLite file is not a journal"}
	case tables == 0:
		return true, nil
	case found != version:
		return false, f.db.otherVersion(found)
	}
	return false, nil
}

// makeTables creates the tables in one transaction. SQLite allows one writing process
// at a time.
func (f *SQLite) makeTables(c *Conn) error {
	return within(c, func() error {
		if fresh, err := f.checkSchema(c); err != nil || !fresh { // another process created them
			return err
		}
		text, err := scripts.ReadFile("schema/sqlite.sql")
		if err != nil {
			return err
		}
		return c.Script(string(text) + fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d", Application, version))
	})
}

// within runs body in a writing transaction.
func within(c *Conn, body func() error) error {
	if _, err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := body()
	if err == nil {
		_, err = c.Exec("COMMIT")
	}
	if err != nil {
		_, _ = c.Exec("ROLLBACK") // unless SQLite has already done so
	}
	return err
}

// Reader opens a read-only connection.
func (f *SQLite) Reader() (*Conn, error) {
	if err := f.checkFile(); err != nil {
		return nil, err
	}
	more := []string{"_pragma=query_only(1)"}
	if f.immutable {
		more = append(more, "immutable=1")
	}
	return DialFile(f.File, "ro", f.db.Options.Patience, more...)
}

// Begin starts a writing transaction and checks whether another process has
// written since the last one.
func (f *SQLite) Begin(w *writer) error {
	at := w.Clock() // read first, because later writes of others are not seen
	if at-f.CheckedAt > int64(CheckInterval) {
		if err := f.checkFile(); err != nil {
			return err
		}
		f.CheckedAt = at
	}
	if _, err := w.C.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	count, err := f.counts.FileControlDataVersion("main")
	if err != nil {
		return err
	}
	if int64(count) != f.count {
		w.EndEra()
		clear(w.Known) // another process may have pruned
	}
	f.count = int64(count + 1) // the value after the commit
	w.EraSeen.Store(at)
	return nil
}

// Again returns false, because SQLite has already waited. After a failed
// transaction the counter is unknown.
func (f *SQLite) Again(*writer, error, int) bool {
	f.count = -1
	return false
}

// Hold does nothing: a file has one writer, and the era covers other processes.
func (f *SQLite) Hold(*Conn, int64, int64) error { return nil }

// Bury implements [Store].
func (f *SQLite) Bury(*Conn, string) (bool, error) { return true, nil }

// Alive returns true unless runs may be taken over, because processes of other
// machines share no clock with this one.
func (f *SQLite) Alive(owners.Owner) bool { return !f.db.Options.TakeOver }

// Judges implements [Store].
func (f *SQLite) Judges() bool { return true }

// Leased implements [Store].
func (f *SQLite) Leased(owners.Owner) bool { return true }

// Announce implements [Store].
func (f *SQLite) Announce(string) {}

// Subscribe implements [Store].
func (f *SQLite) Subscribe() {}

// Still implements [Store].
func (f *SQLite) Still(*Conn) error { return nil }

// Settled implements [Store].
func (f *SQLite) Settled(*Conn) error { return nil }

// Changes returns SQLite's counter of the changes of other processes.
func (f *SQLite) Changes(c *Conn) (int64, error) { return c.Number("PRAGMA data_version") }

// Shrink returns free pages to the system in small steps. It returns the number of
// bytes that stay free in the file.
func (f *SQLite) Shrink(ctx context.Context) (free int64, err error) {
	for last := int64(-1); err == nil; last = free {
		if free, err = f.writerNumber("PRAGMA freelist_count"); err != nil || free == 0 || free == last {
			break
		}
		if err = ctx.Err(); err == nil {
			err = f.db.Writer.Do(func(c *Conn) error { return c.run("PRAGMA incremental_vacuum(512)") }) // short, so that other writers do not wait long
		}
	}
	if err != nil {
		return 0, err
	}
	f.runAlone("PRAGMA busy_timeout=100; PRAGMA wal_checkpoint(TRUNCATE)")
	size, err := f.writerNumber("PRAGMA page_size")
	return free * size, err
}

// runAlone runs an optional script between two transactions.
func (f *SQLite) runAlone(script string) {
	w := f.db.Writer
	w.Turn <- struct{}{}
	defer func() { <-w.Turn }()
	_ = w.C.Script(script)
	_ = w.C.Script(fmt.Sprintf("PRAGMA busy_timeout=%d", f.db.Options.Patience.Milliseconds()))
}

func (f *SQLite) writerNumber(query string) (n int64, err error) {
	err = f.db.Writer.Do(func(c *Conn) (err error) { n, err = c.Number(query); return err })
	return n, err
}

// Size returns the size of the file in bytes, including the pages in SQLite's
// log.
func (f *SQLite) Size(c *Conn) (int64, error) {
	pages, err := c.Number("PRAGMA page_count")
	if err != nil {
		return 0, err
	}
	size, err := c.Number("PRAGMA page_size")
	return pages * size, err
}
