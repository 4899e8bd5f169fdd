package query

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seed61713e19/capstan/internal/databases"
	"github.com/seed61713e19/capstan/internal/patterns"
)

// limits are the limits of an SQLite connection. SQLite cannot interrupt a function, so
// the length of its input is limited.
var limits = map[int]int{
	sqlite3.SQLITE_LIMIT_LENGTH:              1 << 20,
	sqlite3.SQLITE_LIMIT_ATTACHED:            0,
	sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000,
	sqlite3.SQLITE_LIMIT_EXPR_DEPTH:          200,
	sqlite3.SQLITE_LIMIT_COMPOUND_SELECT:     100,
	sqlite3.SQLITE_LIMIT_WORKER_THREADS:      0,
}

// runFile runs a statement on an SQLite file. If the statement does not stop in time,
// it continues in the background without a result.
func runFile(ctx context.Context, o openDatabase, s databases.Statement) (int64, error) {
	select {
	case fileSlots <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	type outcome struct {
		changed int64
		err     error
	}
	done := make(chan outcome, 1)
	rows := &relay{to: s}
	go func() {
		defer func() { <-fileSlots }()
		changed, err := queryFile(ctx, o.file(), rows.statement())
		done <- outcome{changed, err}
	}()
	select {
	case out := <-done:
		return out.changed, out.err
	case <-ctx.Done():
	}
	select {
	case out := <-done: // the statement stopped
		return out.changed, out.err
	case <-time.After(stopTimeout):
		rows.close()
		return 0, ctx.Err()
	}
}

// stopTimeout is the time that a statement has to stop after its context ends.
const stopTimeout = 250 * time.Millisecond

func queryFile(ctx context.Context, file string, s databases.Statement) (int64, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return 0, fmt.Errorf("there is no file %s", file)
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s is not a file", file)
	}
	ctx, cancel := limitMemory(ctx)
	defer cancel()
	before, idle := isIdle(file)
	if !s.Writes && idle {
		changed, err := queryConnection(ctx, file, s, "immutable=1")
		if after, idle := isIdle(file); idle && after == before {
			return changed, causeOf(ctx, err)
		}
	}
	changed, err := queryConnection(ctx, file, s)
	return changed, causeOf(ctx, err)
}

// causeOf returns the cause of a context that ended, and err otherwise.
func causeOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// isIdle reports whether a file in WAL mode has no writer, and returns its state.
// SQLite would create files next to a file in WAL mode, and not remove them. The state
// changes with each write.
func isIdle(file string) (state string, idle bool) {
	file, err := filepath.EvalSymlinks(file) // the log of SQLite is next to the file that the link points to
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

// queryConnection runs a statement on a new connection.
func queryConnection(ctx context.Context, file string, s databases.Statement, more ...string) (changed int64, err error) {
	whole, err := filepath.Abs(file)
	if err != nil {
		return 0, err
	}
	f := databases.File{Path: whole, Mode: "rw", Wait: 2 * time.Second, Options: append([]string{"_pragma=temp_store(2)", "_pragma=mmap_size(0)"}, more...)}
	if !s.Writes {
		f.Mode, f.Options = "ro", append(f.Options, "_pragma=query_only(1)")
	}
	connector, err := sqlite.NewConnector(f.Name())
	if err != nil {
		return 0, err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, driverError(err)
	}
	defer conn.Close()
	for limit, most := range limits {
		if _, err := sqlite.Limit(conn, limit, most); err != nil {
			return 0, err
		}
	}
	err = conn.Raw(func(c any) error {
		changed, err = databases.OnFile(ctx, c.(driver.Conn), s)
		return err
	})
	return changed, driverError(err)
}

// driverError returns an error of SQLite without the text of its driver.
func driverError(err error) error {
	var driver *sqlite.Error
	if !errors.As(err, &driver) {
		return err
	}
	switch driver.Code() & 0xff {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return errors.New("the file cannot be opened: " + messageOf(driver))
	case sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("a value of more than %d bytes: %s", limits[sqlite3.SQLITE_LIMIT_LENGTH], messageOf(driver))
	case sqlite3.SQLITE_AUTH:
		return errors.New("the statement is not allowed: a read-only database takes SELECT, a writable one also INSERT, UPDATE and DELETE")
	}
	return errors.New(messageOf(driver))
}

// code matches the code at the end of an error of the driver.
var code = patterns.Lazy(` \(\d+\)$`)

func messageOf(err error) string {
	return code().ReplaceAllString(strings.TrimPrefix(err.Error(), "SQL logic error: "), "")
}
