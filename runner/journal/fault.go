package journal

import (
	"errors"
	"fmt"
	"io/fs"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seed61713e19/capstan/runner"
)

// fault says in words what is wrong with the store.
func (j *Journal) fault(err error) error {
	if _, own := errors.AsType[*damage](err); err == nil || own {
		return err
	}
	return j.store.fault(err)
}

// codeOf is SQLite's own code of an error, 0 where it is none of SQLite's.
func codeOf(err error) int {
	if broken, ok := errors.AsType[*sqlite.Error](err); ok {
		return broken.Code() & 0xff
	}
	return 0
}

func (f *fileStore) fault(err error) error {
	words, away := "", f.away(err)
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
		words = "a text is too long to be kept"
	case sqlite3.SQLITE_INTERRUPT:
		return err
	default:
		words = "the journal"
	}
	return &damage{file: f.file, words: words, err: err, away: away}
}

// away tells whether another process keeps the file.
func (f *fileStore) away(err error) bool {
	code := codeOf(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// A damage is something wrong with the store itself.
type damage struct {
	file, words string
	err         error
	away        bool // it may be of use again: [runner.ErrAway]
	lost        bool // of a run, what it had done: errLost
}

func (d *damage) Error() string {
	if d.err == nil {
		return d.file + ": " + d.words
	}
	return fmt.Sprintf("%s: %s: %v", d.file, d.words, d.err)
}

func (d *damage) Unwrap() error { return d.err }

// errLost says that a run, or the last of what it had done, is not in the store any more.
var errLost = errors.New("lost")

// Is lets a file that may not be written be told as one, and a store that is away.
func (d *damage) Is(target error) bool {
	switch target {
	case runner.ErrAway:
		return d.away
	case errLost:
		return d.lost
	}
	return target == fs.ErrPermission && codeOf(d.err) == sqlite3.SQLITE_READONLY
}

// garbled is the error of a row that does not read.
func (j *Journal) garbled(what string, err error) error {
	return &damage{file: j.store.String(), words: "the journal is damaged: " + what, err: err}
}

// damaged is the error of a store that is not as it should be.
func (j *Journal) damaged(words string) error { return &damage{file: j.store.String(), words: words} }

// broken tells any error of SQLite.
func (f *fileStore) broken(err error) bool { return codeOf(err) != 0 }
