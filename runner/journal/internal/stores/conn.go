package stores

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"

	"modernc.org/sqlite"

	"github.com/seed61713e19/capstan/internal/databases"
	"github.com/seed61713e19/capstan/internal/databases/postgres"
)

// A Link is a connection to a store. It serves one goroutine. Arguments must be
// int64, float64, string, []byte or nil.
type Link interface {
	// Exec runs a statement and returns the number of changed rows.
	Exec(text string, args ...any) (int64, error)
	// Send runs a statement without waiting for its result. Its error may be
	// returned by the next statement. row, if not nil, is called for each row.
	Send(when postgres.Order, row func([]driver.Value) error, text string, args ...any) error
	// Each calls row for every row of a query. row must not retain the values,
	// because the next row overwrites them.
	Each(ctx context.Context, row func([]driver.Value) error, text string, args ...any) error
	// Rollback undoes the transaction.
	Rollback() error
	// Script runs several statements.
	Script(text string) error
	Close() error
}

// A Conn is one connection to a store.
type Conn struct{ Link }

// Queue runs a statement without waiting for its result, after those of other orders.
func (c *Conn) Queue(text string, args ...any) error {
	return c.Send(postgres.Rest, nil, text, args...)
}

// Each calls row for every row of a query, until row returns [ErrEnough].
func (c *Conn) Each(ctx context.Context, row func([]driver.Value) error, text string, args ...any) error {
	err := c.Link.Each(ctx, row, text, args...)
	if errors.Is(err, ErrEnough) {
		err = nil
	}
	return err
}

// ErrEnough makes [Conn.Each] stop and return nil.
var ErrEnough = errors.New("enough rows")

// run runs a statement and ignores its rows.
func (c *Conn) run(text string) error {
	return c.Each(context.Background(), func([]driver.Value) error { return nil }, text)
}

// One returns the first row of a query, or nil.
func (c *Conn) One(ctx context.Context, text string, args ...any) (found []driver.Value, err error) {
	err = c.Each(ctx, func(row []driver.Value) error {
		found = append([]driver.Value(nil), row...)
		return ErrEnough
	}, text, args...)
	return found, err
}

// Number returns the number in the first row of a query.
func (c *Conn) Number(text string, args ...any) (int64, error) {
	row, err := c.One(context.Background(), text, args...)
	if err != nil {
		return 0, err
	}
	if len(row) == 0 {
		return 0, fmt.Errorf("no row for %s", text)
	}
	return Integer(row[0]), nil
}

// In a damaged store a column can have the wrong type. The following functions return a
// zero value then.

// Integer returns a whole number.
func Integer(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}

// Text returns a string.
func Text(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

// Real returns a number.
func Real(v driver.Value) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	}
	return 0
}

// A fileLink is one connection of SQLite. It uses the driver directly, because
// database/sql doubles the cost of a short statement.
type fileLink struct {
	driver.Conn
	prepared map[string]driver.Stmt
	args     []driver.NamedValue
}

// DialFile opens the file. mode is rwc, rw or ro, as in SQLite.
func DialFile(file, mode string, patience time.Duration, more ...string) (*Conn, error) {
	connector, err := sqlite.NewConnector(databases.File{Path: file, Mode: mode, Wait: patience, Options: more}.Name())
	if err != nil {
		return nil, err
	}
	c, err := connector.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	return &Conn{&fileLink{Conn: c, prepared: map[string]driver.Stmt{}}}, nil
}

// Close closes the connection. It closes the prepared statements first, because an open
// statement keeps the file open.
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

// Send runs a statement at once, because a file has no latency to hide.
func (c *fileLink) Send(_ postgres.Order, row func([]driver.Value) error, text string, args ...any) error {
	if row != nil {
		return c.Each(context.Background(), row, text, args...)
	}
	_, err := c.Exec(text, args...)
	return err
}

// Rollback undoes the transaction.
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
