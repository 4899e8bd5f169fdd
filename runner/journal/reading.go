package journal

import (
	"context"
	"errors"
)

// reader gives a connection that reads; release takes it back. Who has one must
// not ask for another.
func (j *Journal) reader(ctx context.Context) (*conn, error) {
	select {
	case j.reads <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case c := <-j.readers:
		return c, nil
	default:
	}
	err := errClosed
	if !j.closed.Load() {
		var c *conn
		if c, err = j.store.reader(); err == nil {
			return c, nil
		}
	}
	<-j.reads
	return nil, j.fault(err)
}

// release keeps a connection for the next reader, unless something went wrong
// on it.
func (j *Journal) release(c *conn, err error) {
	defer func() { <-j.reads }()
	if !j.store.broken(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !j.closed.Load() {
		select {
		case j.readers <- c:
			return
		default:
		}
	}
	c.Close()
}

// reading runs body with a connection that reads, on one unchanging view of
// the file.
func (j *Journal) reading(ctx context.Context, body func(c *conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := j.reader(ctx)
	if err != nil {
		return err
	}
	if _, err = c.Exec(j.says.read); j.says.forgets && j.store.broken(err) { // it was cut while nobody used it
		var fresh *conn
		if fresh, err = j.store.reader(); err == nil {
			_ = c.Close()
			c = fresh
			_, err = c.Exec(j.says.read)
		}
	}
	if err == nil {
		err = body(c)
	}
	if e := c.Rollback(); err == nil {
		err = e
	}
	j.release(c, err)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return j.fault(err)
}

var errClosed = errors.New("the journal is closed")
