// Package postgres is a connection of PostgreSQL as a journal needs one: its
// statements are those of the journal, with ? for what is put in, and those
// whose answer nobody waits for go to the server together with the next, in one
// round trip. It knows nothing of runs.
//
// It is over pgconn, the lower half of pgx: prepared statements, pipelines and
// notifications are there, and what a journal reads has five types.
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

// A Conn is one connection. It serves one goroutine.
type Conn struct {
	pg       *pgconn.PgConn
	prepared map[string]*pgconn.StatementDescription
	queue    []statement
	bytes    int           // of what is queued
	patience time.Duration // for one answer; 0 for any
}

// A statement is on its way to the server.
type statement struct {
	when Order
	as   *pgconn.StatementDescription
	args [][]byte
	row  func([]driver.Value) error // may be nil
}

// An Order says where among those that are sent together a statement goes.
type Order int

// First come those that the others rest on, as they were sent. Then come the
// Shared ones, which several processes may write in the same words: by their
// first value, so that no two wait for each other. Then comes the rest, as it
// was sent.
const (
	First Order = iota
	Shared
	Rest
)

// manyBytes bounds what is queued.
const manyBytes = 8 << 20

// Dial connects. A server that does not answer in the time that patience gives is
// taken for gone; 0 waits on.
func Dial(ctx context.Context, a *Address, patience time.Duration) (*Conn, error) {
	pg, err := pgconn.ConnectConfig(ctx, a.config.Copy())
	if err != nil {
		return nil, err
	}
	return &Conn{pg: pg, prepared: map[string]*pgconn.StatementDescription{}, patience: patience}, nil
}

// Session is an error where a pooler gives each transaction whichever session is
// free. It can be told where one stands between: two connections have one session.
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
	if mine, err = c.backend(ctx); err != nil { // and is done with it
		return err
	}
	if its, err := other.backend(ctx); err != nil || its != mine {
		return err
	}
	return errors.New(pooled)
}

// backend is the number of the server's process, which a pooler does not know.
func (c *Conn) backend(ctx context.Context) (uint32, error) {
	all, err := c.pg.Exec(ctx, "SELECT pg_backend_pid()").ReadAll()
	if err != nil {
		return 0, err
	}
	pid, err := strconv.ParseUint(string(all[0].Rows[0][0]), 10, 32)
	return uint32(pid), err
}

// Close ends the connection.
func (c *Conn) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c.queue = nil
	return c.pg.Close(ctx)
}

// Closed tells of a connection that is not there any more.
func (c *Conn) Closed() bool { return c.pg.IsClosed() }

// Send has a statement go to the server with the next one that is waited for,
// which gives its error. Row is called for each row that it gives, then; what it
// is called with must not be kept.
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

// Exec sends what is queued, and a statement behind that, and tells how many
// rows it changed. Args are int64, float64, string, []byte or nil.
func (c *Conn) Exec(text string, args ...any) (int64, error) {
	if err := c.Send(Rest, nil, text, args...); err != nil {
		return 0, err
	}
	return c.flush(context.Background())
}

// Each sends what is queued, and calls row for every row of a query. The values
// must not be kept. An error of row ends it, and is given back.
func (c *Conn) Each(ctx context.Context, row func([]driver.Value) error, text string, args ...any) error {
	if err := c.Send(Rest, row, text, args...); err != nil {
		return err
	}
	_, err := c.flush(ctx)
	return err
}

// Script runs several statements.
func (c *Conn) Script(text string) error {
	if _, err := c.flush(context.Background()); err != nil {
		return err
	}
	return c.pg.Exec(context.Background(), text).Close()
}

// Forget drops what is queued.
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

// flush sends what is queued and reads what it gives: how many rows the last
// one changed.
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

// numbered is a statement with $1 for the first ? that stands for a value. The
// journal's own have no ? within quotes.
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

// Rollback ends a transaction as if it had not been, with what is queued.
func (c *Conn) Rollback() error {
	c.Forget()
	_, err := c.Exec("ROLLBACK")
	return err
}
