package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/runner/journal/postgres"
)

// A link is what a connection does, whatever the store is. It serves one
// goroutine. Args are int64, float64, string, []byte or nil.
type link interface {
	// Exec runs a statement and tells how many rows it changed.
	Exec(text string, args ...any) (int64, error)
	// Send runs a statement whose answer nobody waits for: it, and its error, may
	// come with the next one. Row, where it is not nil, is called for its rows.
	Send(when postgres.Order, row func([]driver.Value) error, text string, args ...any) error
	// Each calls row for every row of a query. The values must not be kept: the
	// next row overwrites them.
	Each(ctx context.Context, row func([]driver.Value) error, text string, args ...any) error
	// Rollback ends a transaction as if it had not been.
	Rollback() error
	// Script runs several statements.
	Script(text string) error
	Close() error
}

// A conn is one connection of a store.
type conn struct{ link }

func (c *conn) send(text string, args ...any) error { return c.Send(postgres.Rest, nil, text, args...) }

// each calls row for every row of a query, until row has enough of them.
func (c *conn) each(ctx context.Context, row func([]driver.Value) error, text string, args ...any) error {
	err := c.Each(ctx, row, text, args...)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return err
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
