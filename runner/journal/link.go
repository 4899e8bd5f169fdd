package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net/url"
	"strconv"
	"time"

	"modernc.org/sqlite"

	"github.com/seed61713e19/capstan/runner/journal/postgres"
)

// A fileLink is one connection of SQLite. It is the driver's own: database/sql
// costs as much again as a short statement does.
type fileLink struct {
	driver.Conn
	prepared map[string]driver.Stmt
	args     []driver.NamedValue
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
	return &conn{&fileLink{Conn: c, prepared: map[string]driver.Stmt{}}}, nil
}

// Close lets go of the file. What was prepared would keep it open.
func (c *fileLink) Close() error {
	var err error
	for _, stmt := range c.prepared {
		err = errors.Join(err, stmt.Close())
	}
	clear(c.prepared)
	return errors.Join(err, c.Conn.Close())
}

func (c *fileLink) prepare(text string) (driver.Stmt, error) {
	if stmt, ok := c.prepared[text]; ok {
		return stmt, nil
	}
	stmt, err := c.Prepare(text)
	if err == nil {
		c.prepared[text] = stmt
	}
	return stmt, err
}

func (c *fileLink) named(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// Exec runs a statement.
func (c *fileLink) Exec(text string, args ...any) (int64, error) {
	stmt, err := c.prepare(text)
	if err != nil {
		return 0, err
	}
	r, err := stmt.(driver.StmtExecContext).ExecContext(context.Background(), c.named(args))
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Send runs a statement: nothing is gained by waiting.
func (c *fileLink) Send(_ postgres.Order, row func([]driver.Value) error, text string, args ...any) error {
	if row != nil {
		return c.Each(context.Background(), row, text, args...)
	}
	_, err := c.Exec(text, args...)
	return err
}

// Rollback ends a transaction as if it had not been.
func (c *fileLink) Rollback() error {
	_, err := c.Exec("ROLLBACK")
	return err
}

// Script runs several statements.
func (c *fileLink) Script(text string) error {
	_, err := c.Conn.(driver.ExecerContext).ExecContext(context.Background(), text, nil)
	return err
}

// Each calls row for every row of a query.
func (c *fileLink) Each(ctx context.Context, row func([]driver.Value) error, text string, args ...any) error {
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
	if err == io.EOF {
		err = nil
	}
	if closed := rows.Close(); err == nil {
		err = closed
	}
	return err
}
