// Package postgres connects to PostgreSQL for a journal. Its statements use ? for parameters. A
// statement whose result nobody waits for is sent together with the next one, in one round trip.
// The package does not depend on runs.
//
// It uses pgconn, the lower layer of pgx, which has prepared statements, pipelines and
// notifications. A journal reads only five types of values.
package postgres

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A Conn is one connection. It must not be used concurrently.
type Conn struct {
	pg       *pgconn.PgConn
	prepared map[string]*pgconn.StatementDescription
	queue    []statement
	bytes    int           // the size of the queued arguments
	patience time.Duration // the maximum wait for one answer; 0 means no limit
}

// A statement is queued for the server.
type statement struct {
	when Order
	as   *pgconn.StatementDescription
	args [][]byte
	row  func([]driver.Value) error // called for each row; may be nil
}

// An Order determines the position of a statement among those that are sent together.
type Order int

// First is for statements that others depend on; they keep their order. Shared is for rows that
// several processes may write. Shared statements are sorted by their first argument, so that no
// two processes wait for each other. Rest is for all others; they keep their order.
const (
	First Order = iota
	Shared
	Rest
)

// manyBytes is the size of the queue above which Send flushes it.
const manyBytes = 8 << 20

// Dial connects to the server. A server that does not answer within patience counts as
// unreachable. With a patience of 0, the connection waits without limit.
func Dial(ctx context.Context, a *Address, patience time.Duration) (*Conn, error) {
	pg, err := pgconn.ConnectConfig(ctx, a.config.Copy())
	if err != nil {
		return nil, err
	}
	return &Conn{pg: pg, prepared: map[string]*pgconn.StatementDescription{}, patience: patience}, nil
}

// Session returns an error if a pooler assigns each transaction to any free session. Session
// detects such a pooler because two connections then share one session.
func (c *Conn) Session(ctx context.Context, a *Address) error {
	mine, err := c.backend(ctx)
	if err != nil || mine == c.pg.PID() {
		return err
	}
	other, err := Dial(ctx, a, c.patience)
	if err != nil {
		return err
	}
	defer other.Close()
	if mine, err = c.backend(ctx); err != nil { // a pooler can now assign the session to the other connection
		return err
	}
	if its, err := other.backend(ctx); err != nil || its != mine {
		return err
	}
	return errors.New(pooled)
}

// backend returns the ID of the server's process. A pooler does not know this ID.
func (c *Conn) backend(ctx context.Context) (uint32, error) {
	all, err := c.pg.Exec(ctx, "SELECT pg_backend_pid()").ReadAll()
	if err != nil {
		return 0, err
	}
	pid, err := strconv.ParseUint(string(all[0].Rows[0][0]), 10, 32)
	return uint32(pid), err
}

// Close closes the connection.
func (c *Conn) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c.queue = nil
	return c.pg.Close(ctx)
}

// Closed reports whether the connection is closed.
func (c *Conn) Closed() bool { return c.pg.IsClosed() }

// Send queues a statement. The server receives it with the next statement that is waited for,
// which returns its error. Send calls row for each row of the result at that time. The function
// row must not keep its argument.
func (c *Conn) Send(when Order, row func([]driver.Value) error, text string, args ...any) error {
	as, err := c.prepare(text)
	if err != nil {
		return err
	}
	s := statement{when, as, make([][]byte, len(args)), row}
	for i, a := range args {
		s.args[i] = wire(a)
		c.bytes += len(s.args[i])
	}
	c.queue = append(c.queue, s)
	if c.bytes > manyBytes {
		_, err = c.flush(context.Background())
	}
	return err
}

// Exec sends the queue followed by a statement, and returns the number of rows that the statement
// changed. Args are int64, float64, string, []byte or nil.
func (c *Conn) Exec(text string, args ...any) (int64, error) {
	if err := c.Send(Rest, nil, text, args...); err != nil {
		return 0, err
	}
	return c.flush(context.Background())
}

// Each sends the queue followed by a query, and calls row for every row of the query. The
// function row must not keep its argument. If row returns an error, Each ignores the remaining
// rows and returns this error.
func (c *Conn) Each(ctx context.Context, row func([]driver.Value) error, text string, args ...any) error {
	if err := c.Send(Rest, row, text, args...); err != nil {
		return err
	}
	_, err := c.flush(ctx)
	return err
}

// Script runs several statements, after the queue.
func (c *Conn) Script(text string) error {
	if _, err := c.flush(context.Background()); err != nil {
		return err
	}
	return c.pg.Exec(context.Background(), text).Close()
}

// Forget empties the queue without sending it.
func (c *Conn) Forget() { c.queue, c.bytes = c.queue[:0], 0 }

func (c *Conn) prepare(text string) (*pgconn.StatementDescription, error) {
	if as, ok := c.prepared[text]; ok {
		return as, nil
	}
	as, err := c.pg.Prepare(context.Background(), "s"+strconv.Itoa(len(c.prepared)), numbered(text), nil)
	if err == nil {
		c.prepared[text] = as
	}
	return as, err
}

// flush sends the queue and reads its results. It returns the number of rows that the last
// statement changed.
func (c *Conn) flush(ctx context.Context) (changed int64, err error) {
	if len(c.queue) == 0 {
		return 0, nil
	}
	slices.SortStableFunc(c.queue, func(a, b statement) int {
		if a.when != b.when || a.when != Shared {
			return int(a.when - b.when)
		}
		return bytes.Compare(a.args[0], b.args[0])
	})
	if c.patience > 0 {
		_ = c.pg.Conn().SetDeadline(time.Now().Add(c.patience))
	}
	p := c.pg.StartPipeline(ctx)
	for i := range c.queue {
		s := &c.queue[i]
		p.SendQueryPrepared(s.as.Name, s.args, formats(s.as), nil)
	}
	if err = p.Sync(); err == nil {
		changed, err = c.results(p)
	}
	if e := p.Close(); err == nil {
		err = e
	}
	clear(c.queue)
	c.Forget()
	return changed, err
}

// results reads the results of the queued statements.
func (c *Conn) results(p *pgconn.Pipeline) (changed int64, err error) {
	for i := 0; i < len(c.queue) && err == nil; i++ {
		var got any
		if got, err = p.GetResults(); err != nil {
			break
		}
		r, ok := got.(*pgconn.ResultReader)
		if !ok {
			break
		}
		changed, err = rows(r, c.queue[i].row)
	}
	return changed, err
}

// rows reads the rows of one statement.
func rows(r *pgconn.ResultReader, row func([]driver.Value) error) (int64, error) {
	var stop error
	fields := r.FieldDescriptions()
	values := make([]driver.Value, len(fields))
	for r.NextRow() {
		if stop != nil || row == nil {
			continue
		}
		for i, raw := range r.Values() {
			values[i] = value(fields[i].DataTypeOID, raw)
		}
		stop = row(values)
	}
	tag, err := r.Close()
	if err == nil {
		err = stop
	}
	return tag.RowsAffected(), err
}

// numbered replaces every ? in a statement by $1, $2 and so on. Statements of the journal must
// not contain a ? within quotes.
func numbered(text string) string {
	var b strings.Builder
	for n := 0; ; {
		before, after, found := strings.Cut(text, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('$')
		if text = after; after == "" || after[0] < '1' || after[0] > '9' {
			n++
			b.WriteString(strconv.Itoa(n))
		}
	}
}

// Rollback empties the queue and rolls the transaction back.
func (c *Conn) Rollback() error {
	c.Forget()
	_, err := c.Exec("ROLLBACK")
	return err
}
