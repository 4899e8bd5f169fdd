package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"modernc.org/sqlite"
)

// A conn is one connection of SQLite. It is the driver's own: database/sql
// costs as much again as a short statement does. It serves one goroutine.
type conn struct {
	driver.Conn
	prepared map[string]driver.Stmt
	args     []driver.NamedValue
	last     int64 // the number of the row that was added last
}

// dial opens the file. Mode is SQLite's: rwc, rw or ro.
func dial(file, mode string, patience time.Duration, more ...string) (*conn, error) {
	name := "file:" + (&url.URL{Path: file}).EscapedPath() + "?mode=" + mode +
		"&_pragma=busy_timeout(" + strconv.FormatInt(patience.Milliseconds(), 10) + ")" +
		"&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)"
	for _, parameter := range more {
		name += "&" + parameter
	}
	connector, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, err
	}
	c, err := connector.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, prepared: map[string]driver.Stmt{}}, nil
}

// Close lets go of the file. What was prepared would keep it open.
func (c *conn) Close() error {
	var err error
	for _, stmt := range c.prepared {
		err = errors.Join(err, stmt.Close())
	}
	clear(c.prepared)
	return errors.Join(err, c.Conn.Close())
}

func (c *conn) prepare(text string) (driver.Stmt, error) {
	if stmt, ok := c.prepared[text]; ok {
		return stmt, nil
	}
	stmt, err := c.Prepare(text)
	if err == nil {
		c.prepared[text] = stmt
	}
	return stmt, err
}

func (c *conn) named(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// exec runs a statement and tells how many rows it changed. Args are int64,
// float64, string, []byte or nil.
func (c *conn) exec(text string, args ...any) (int64, error) {
	stmt, err := c.prepare(text)
	if err != nil {
		return 0, err
	}
	r, err := stmt.(driver.StmtExecContext).ExecContext(context.Background(), c.named(args))
	if err != nil {
		return 0, err
	}
	c.last, _ = r.LastInsertId()
	return r.RowsAffected()
}

// script runs several statements.
func (c *conn) script(text string) error {
	_, err := c.Conn.(driver.ExecerContext).ExecContext(context.Background(), text, nil)
	return err
}

// each calls row for every row of a query. The values must not be kept: the
// next row overwrites them.
func (c *conn) each(ctx context.Context, row func([]driver.Value) error, text string, args ...any) error {
	stmt, err := c.prepare(text)
	if err != nil {
		return err
	}
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, c.named(args))
	if err != nil {
		return err
	}
	values := make([]driver.Value, len(rows.Columns()))
	for {
		if err = rows.Next(values); err == nil {
			err = row(values)
		}
		if err != nil {
			break
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, errEnough) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// errEnough ends [conn.each] without an error.
var errEnough = errors.New("enough rows")

// run runs a statement to its end, whatever rows it gives.
func (c *conn) run(text string) error {
	return c.each(context.Background(), func([]driver.Value) error { return nil }, text)
}

// one gives the first row of a query, nil where there is none.
func (c *conn) one(ctx context.Context, text string, args ...any) (found []driver.Value, err error) {
	err = c.each(ctx, func(row []driver.Value) error {
		found = append([]driver.Value(nil), row...)
		return errEnough
	}, text, args...)
	return found, err
}

// number gives the one number that a query asks for.
func (c *conn) number(text string, args ...any) (int64, error) {
	row, err := c.one(context.Background(), text, args...)
	if err != nil {
		return 0, err
	}
	if len(row) == 0 {
		return 0, fmt.Errorf("no row for %s", text)
	}
	return integer(row[0]), nil
}

// Columns that hold something else than they should, in a damaged file, read
// as empty.

func integer(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}

func word(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

func real(v driver.Value) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	}
	return 0
}
