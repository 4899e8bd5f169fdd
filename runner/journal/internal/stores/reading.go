package stores

import (
	"context"
	"errors"
)

// Reader returns a connection for reading. [DB.Release] returns the connection to the pool. A
// goroutine must not use two readers.
func (db *DB) Reader(ctx context.Context) (*Conn, error) {
	select {
	case db.ReadSlots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	err := ErrClosed
	if !db.Closed.Load() {
		select {
		case c := <-db.Readers:
			return c, nil
		case db.single() <- struct{}{}:
			return db.Writer.C, nil
		default:
		}
		var c *Conn
		if c, err = db.Store.Reader(); err == nil {
			return c, nil
		}
	}
	<-db.ReadSlots
	return nil, db.Fault(err)
}

// single returns the turn of the writer if its connection may read, and nil otherwise.
func (db *DB) single() chan struct{} {
	if db.Options.Single && db.Writer != nil && !db.Dialect.Forgets {
		return db.Writer.Turn
	}
	return nil
}

// Release returns a connection to the pool. After an error it closes the connection.
func (db *DB) Release(c *Conn, err error) {
	defer func() { <-db.ReadSlots }()
	if db.Writer != nil && c == db.Writer.C {
		<-db.Writer.Turn
		return
	}
	if !db.Store.Broken(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !db.Closed.Load() {
		select {
		case db.Readers <- c:
			return
		default:
		}
	}
	c.Close()
}

// Read runs body with a connection that reads one consistent snapshot of the
// store.
func (db *DB) Read(ctx context.Context, body func(c *Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := db.Reader(ctx)
	if err != nil {
		return err
	}
	if _, err = c.Exec(db.Dialect.read); db.Dialect.Forgets && db.Store.Broken(err) { // the idle connection was closed by the server
		var fresh *Conn
		if fresh, err = db.Store.Reader(); err == nil {
			_ = c.Close()
			c = fresh
			_, err = c.Exec(db.Dialect.read)
		}
	}
	if err == nil {
		err = body(c)
	}
	if e := c.Rollback(); err == nil {
		err = e
	}
	db.Release(c, err)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return db.Fault(err)
}

// ErrClosed is the error for a closed journal.
var ErrClosed = errors.New("the journal is closed")
