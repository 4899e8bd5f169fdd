package databases

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"modernc.org/sqlite"
)

// OnFile runs a statement on a connection of SQLite, which it leaves guarded, and
// tells how many rows it changed. The connection should be opened so that it can
// do no more than the statement may; ctx bounds its time.
func OnFile(ctx context.Context, c driver.Conn, s Statement) (changed int64, err error) {
	text, err := single(s.Text)
	if err != nil {
		return 0, err
	}
	guard, ok := c.(interface {
		RegisterAuthorizer(sqlite.AuthorizerFn) error
	})
	if !ok {
		return 0, errors.New("the driver cannot guard a statement")
	}
	allowed := onlyReads
	if s.Writes {
		allowed = changesRows
	}
	if err := guard.RegisterAuthorizer(allowed); err != nil {
		return 0, err
	}
	if err := rows(ctx, c, text, s); err != nil || !s.Writes {
		return 0, err
	}
	err = rows(ctx, c, "SELECT changes()", Statement{Columns: func([]string) {}, Row: func(values []driver.Value) bool {
		changed, _ = values[0].(int64)
		return false
	}})
	return changed, err
}

func rows(ctx context.Context, c driver.Conn, text string, s Statement) error {
	stmt, names, err := prepared(c, text, s.Exact)
	if err != nil {
		return err
	}
	defer stmt.Close()
	args := make([]driver.NamedValue, len(s.Values))
	for i, v := range s.Values {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		return err
	}
	defer rows.Close()
	if names == nil {
		names = rows.Columns()
	}
	s.Columns(names)
	values := make([]driver.Value, len(rows.Columns()))
	for {
		err := rows.Next(values)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || !s.Row(values) {
			return err
		}
	}
}

// prepared prepares a statement. The driver makes times of what stands in columns
// that are declared to hold dates; where each value is wanted as it stands, such a
// statement is asked through another, whose columns are declared to hold nothing,
// and whose names are those that are given.
func prepared(c driver.Conn, text string, exact bool) (stmt driver.Stmt, names []string, err error) {
	teller, tells := c.(interface {
		ColumnInfo(query string) ([]sqlite.ColumnInfo, error)
	})
	if !exact || !tells {
		stmt, err = c.Prepare(text)
		return stmt, nil, err
	}
	info, err := teller.ColumnInfo(text)
	if err != nil {
		return nil, nil, err
	}
	var dates bool
	var given, asked []string
	for i, column := range info {
		dates = dates || slices.Contains([]string{"DATE", "DATETIME", "TIMESTAMP"}, strings.ToUpper(column.DeclType))
		own := "c" + strconv.Itoa(i)
		given, asked, names = append(given, own), append(asked, "+"+own), append(names, column.Name)
	}
	if dates {
		stmt, err = c.Prepare("WITH given(" + strings.Join(given, ", ") + ") AS (" + text + "\n) SELECT " + strings.Join(asked, ", ") + " FROM given")
		if err == nil {
			return stmt, names, nil
		} // else it changes rows, and what it gives of them is dates
	}
	stmt, err = c.Prepare(text)
	return stmt, nil, err
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

// changesRows lets it change rows too, but for those that SQLite itself lives by.
func changesRows(action sqlite.AuthorizerActionCode, table, name, file, trigger string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthInsert, sqlite.AuthUpdate, sqlite.AuthDelete:
		if !strings.HasPrefix(strings.ToLower(table), "sqlite_") {
			return sqlite.AuthorizerOK
		}
	}
	return onlyReads(action, table, name, file, trigger)
}
