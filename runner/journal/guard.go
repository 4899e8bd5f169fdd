package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// wrong tells of a statement that is wrong, not the file.
func (f *fileStore) wrong(err error) bool {
	var broken *sqlite.Error
	if !errors.As(err, &broken) {
		return true
	}
	switch broken.Code() & 0xff {
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_MISMATCH:
		return true
	}
	return false
}

// query runs a statement on a connection of its own, which may only read.
func (f *fileStore) query(ctx context.Context, text string, t *Table, full func() bool, row func([]driver.Value)) error {
	text, err := single(text)
	if err != nil {
		return err
	}
	c, err := f.reader()
	if err != nil {
		return err
	}
	defer c.Close()
	own := c.link.(*fileLink)
	guard, ok := own.Conn.(interface {
		RegisterAuthorizer(sqlite.AuthorizerFn) error
	})
	if !ok {
		return errors.New("the driver cannot guard a statement")
	}
	if err := guard.RegisterAuthorizer(onlyReads); err != nil {
		return err
	}
	stmt, err := own.Prepare(text)
	if err != nil {
		return err
	}
	defer stmt.Close()
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	t.Columns = append(t.Columns, rows.Columns()...)
	values := make([]driver.Value, len(t.Columns))
	for !full() {
		err := rows.Next(values)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		row(values)
	}
	return nil
}

// onlyReads lets a statement read, and nothing else: no other file, no setting,
// no transaction.
func onlyReads(action sqlite.AuthorizerActionCode, _, name, _, _ string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	case sqlite.AuthFunction:
		if !strings.EqualFold(name, "load_extension") {
			return sqlite.AuthorizerOK
		}
	}
	return sqlite.AuthorizerDeny
}
