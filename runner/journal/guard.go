package journal

import (
	"context"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seed61713e19/capstan/runner/journal/statements"
)

// wrong tells of a statement that is wrong, not the file.
func (f *fileStore) wrong(err error) bool {
	switch codeOf(err) {
	case 0, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_MISMATCH:
		return true
	}
	return false
}

// query runs a statement on a connection of its own, which may only read.
func (f *fileStore) query(ctx context.Context, s statements.Statement) error {
	c, err := f.reader()
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = statements.OnFile(ctx, c.link.(*fileLink).Conn, s)
	return err
}
