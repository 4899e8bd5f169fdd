package query

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seed61713e19/capstan/runner/journal/statements"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// limits are what a connection of SQLite may do at most. A single function cannot be
// interrupted: the length of what it works on bounds it.
var limits = map[int]int{
	sqlite3.SQLITE_LIMIT_LENGTH:              1 << 20,
	sqlite3.SQLITE_LIMIT_ATTACHED:            0,
	sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000,
	sqlite3.SQLITE_LIMIT_EXPR_DEPTH:          200,
	sqlite3.SQLITE_LIMIT_COMPOUND_SELECT:     100,
	sqlite3.SQLITE_LIMIT_WORKER_THREADS:      0,
}

// onFile runs a statement on a file of SQLite. One that does not stop in time goes
// on by itself, to no avail, until the function that it is in returns; what it gives
// then is dropped.
func onFile(ctx context.Context, o open, s statements.Statement) (int64, error) {
	select {
	case atOnce <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	type outcome struct {
		changed int64
		err     error
	}
	done := make(chan outcome, 1)
	heard := &ear{to: s}
	go func() {
		defer func() { <-atOnce }()
		changed, err := asFile(ctx, o.file(), heard.statement())
		done <- outcome{changed, err}
	}()
	select {
	case out := <-done:
		return out.changed, out.err
	case <-ctx.Done():
	}
	select {
	case out := <-done: // it stopped
		return out.changed, out.err
	case <-time.After(grace):
		heard.close()
		return 0, ctx.Err()
	}
}

// grace is how long a statement that is told to stop is waited for.
const grace = 250 * time.Millisecond

func asFile(ctx context.Context, file string, s statements.Statement) (int64, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return 0, fmt.Errorf("there is no file %s", file)
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s is not a file", file)
	}
	ctx, cancel := watched(ctx)
	defer cancel()
	before, still := asleep(file)
	if !s.Writes && still {
		changed, err := connected(ctx, file, "&immutable=1", s)
		if after, still := asleep(file); still && after == before {
			return changed, caused(ctx, err)
		}
	}
	changed, err := connected(ctx, file, "", s)
	return changed, caused(ctx, err)
}

// caused is the reason that a context ended for, where it did.
func caused(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// asleep tells of a file in WAL mode that nobody has open: to read it as others do,
// SQLite would make files beside it, and leave them. State is the same for as long
// as nobody has written it.
func asleep(file string) (state string, yes bool) {
	file, err := filepath.EvalSymlinks(file) // SQLite's log stands beside the file itself
	if err != nil {
		return "", false
	}
	if info, err := os.Stat(file + "-wal"); err == nil && info.Size() > 0 {
		return "", false
	}
	f, err := os.Open(file)
	if err != nil {
		return "", false
	}
	defer f.Close()
	header := make([]byte, 20)
	info, err := f.Stat()
	if err != nil {
		return "", false
	}
	if _, err := io.ReadFull(f, header); err != nil || header[18] != 2 {
		return "", false
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano()), true
}

// connected runs a statement on a connection of its own.
func connected(ctx context.Context, file, more string, s statements.Statement) (changed int64, err error) {
	mode := "?mode=ro&_pragma=query_only(1)"
	if s.Writes {
		mode = "?mode=rw"
	}
	whole, err := filepath.Abs(file)
	if err != nil {
		return 0, err
	}
	connector, err := sqlite.NewConnector("file:" + (&url.URL{Path: filepath.ToSlash(whole)}).EscapedPath() + mode + more +
		"&_pragma=busy_timeout(2000)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_pragma=temp_store(2)&_pragma=mmap_size(0)")
	if err != nil {
		return 0, err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, told(err)
	}
	defer conn.Close()
	for limit, most := range limits {
		if _, err := sqlite.Limit(conn, limit, most); err != nil {
			return 0, err
		}
	}
	err = conn.Raw(func(c any) error {
		changed, err = statements.OnFile(ctx, c.(driver.Conn), s)
		return err
	})
	return changed, told(err)
}

// told are SQLite's words, without what its driver says around them.
func told(err error) error {
	var said *sqlite.Error
	if !errors.As(err, &said) {
		return err
	}
	switch said.Code() & 0xff {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return errors.New("the file cannot be opened: " + words(said))
	case sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("a value of more than %d bytes: %s", limits[sqlite3.SQLITE_LIMIT_LENGTH], words(said))
	case sqlite3.SQLITE_AUTH:
		return errors.New("the statement is not allowed: a read-only database takes SELECT, a writable one also INSERT, UPDATE and DELETE")
	}
	return errors.New(words(said))
}

// code is what the driver's words end in.
var code = patterns.Lazy(` \(\d+\)$`)

func words(err error) string {
	return code().ReplaceAllString(strings.TrimPrefix(err.Error(), "SQL logic error: "), "")
}
