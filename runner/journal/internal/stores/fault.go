package stores

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seed61713e19/capstan/internal/databases"
	"github.com/seed61713e19/capstan/runner"
)

// Fault returns an error of the store with a message for people.
func (db *DB) Fault(err error) error {
	if _, own := errors.AsType[*Error](err); err == nil || own {
		return err
	}
	return db.Store.Fault(err)
}

// codeOf returns the SQLite code of an error, or 0.
func codeOf(err error) int {
	if broken, ok := errors.AsType[*sqlite.Error](err); ok {
		return broken.Code() & 0xff
	}
	return 0
}

// Fault implements [Store].
func (f *SQLite) Fault(err error) error {
	words, away := "", f.Away(err)
	switch codeOf(err) {
	case 0:
		return err
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		words = "the journal is locked by another process"
	case sqlite3.SQLITE_FULL:
		words, away = "the disk is full", true
	case sqlite3.SQLITE_READONLY:
		words = "the journal cannot be written, it is read-only"
	case sqlite3.SQLITE_CORRUPT:
		words = "the journal is damaged"
	case sqlite3.SQLITE_NOTADB:
		words = "this is not a journal, nor any SQLite file"
	case sqlite3.SQLITE_CANTOPEN:
		words = "the journal cannot be opened"
	case sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		words = "the journal may not be used"
	case sqlite3.SQLITE_IOERR:
		words = "the journal cannot be read or written"
	case sqlite3.SQLITE_TOOBIG:
		words = "a text is too long to store"
	case sqlite3.SQLITE_INTERRUPT:
		return err
	default:
		words = "the journal"
	}
	return &Error{file: f.File, Message: words, Err: err, Unavailable: away}
}

// Away reports whether another process has locked the file.
func (f *SQLite) Away(err error) bool {
	code := codeOf(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// Error is an error of the store itself.
type Error struct {
	file, Message string
	Err           error
	Unavailable   bool // temporary: it is a [runner.ErrAway]
	lost          bool // the store has lost data of a run: it is an errLost
}

// Error returns the message.
func (d *Error) Error() string {
	if d.Err == nil {
		return d.file + ": " + d.Message
	}
	return fmt.Sprintf("%s: %s: %v", d.file, d.Message, d.Err)
}

// Unwrap returns the error of the driver.
func (d *Error) Unwrap() error { return d.Err }

// ErrLost means that a run, or its last rows, are no longer in the store.
var ErrLost = errors.New("lost")

// Is makes a read-only file an [fs.ErrPermission] and an unavailable store a
// [runner.ErrAway].
func (d *Error) Is(target error) bool {
	switch target {
	case runner.ErrAway:
		return d.Unavailable
	case ErrLost:
		return d.lost
	}
	return target == fs.ErrPermission && codeOf(d.Err) == sqlite3.SQLITE_READONLY
}

// Corrupt returns the error for a row that cannot be decoded.
func (db *DB) Corrupt(what string, err error) error {
	return &Error{file: db.Store.String(), Message: "the journal is damaged: " + what, Err: err}
}

// NewError returns an error of the store with a message.
func (db *DB) NewError(words string) error {
	return &Error{file: db.Store.String(), Message: words}
}

// otherVersion returns the error for a journal of another format.
func (db *DB) otherVersion(found int64) error {
	who := "a newer"
	if found < version {
		who = "an older"
	}
	return db.NewError(fmt.Sprintf("the journal was written by %s capstan (format %d; this one has format %d)", who, found, version))
}

// Broken reports whether an error comes from SQLite.
func (f *SQLite) Broken(err error) bool { return codeOf(err) != 0 }

// LostError returns the error for a run that the store has lost.
func (db *DB) LostError(words string) error {
	return &Error{file: db.Store.String(), Message: words, lost: true}
}

// Wrong reports whether an error is in the statement, not in the file.
func (f *SQLite) Wrong(err error) bool {
	switch codeOf(err) {
	case 0, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_MISMATCH:
		return true
	}
	return false
}

// Query runs a statement on its own read-only connection.
func (f *SQLite) Query(ctx context.Context, s databases.Statement) error {
	c, err := f.Reader()
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = databases.OnFile(ctx, c.Link.(*fileLink).Conn, s)
	return err
}
