package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"
)

// A job is something to be written in one piece.
type job struct {
	write func(c *conn) error // may be called again where what it wrote was taken back
	done  func(error)         // called once, when it is in the file or cannot be
}

// A writer has the one connection that writes. Jobs that come while it is busy
// are committed together.
type writer struct {
	j      *Journal
	c      *conn
	mu     sync.Mutex
	come   *sync.Cond
	queue  []job
	closed bool
	over   chan struct{}
	back   *checkpointer
	rows   int             // written since the last checkpoint was asked for
	known  map[digest]bool // texts that are in the file
	before func() error    // called before each commit, for tests; may be nil
}

// manyTexts bounds what a writer remembers of texts that are in the file.
const manyTexts = 1 << 16

func newWriter(j *Journal, c *conn, back *checkpointer) *writer {
	w := &writer{j: j, c: c, over: make(chan struct{}), known: map[digest]bool{}, back: back}
	w.come = sync.NewCond(&w.mu)
	go w.run()
	return w
}

// add queues a job. Jobs are written in the order in which they are added.
func (w *writer) add(jb job) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		jb.done(errClosed)
		return
	}
	w.queue = append(w.queue, jb)
	w.mu.Unlock()
	w.come.Signal()
}

// do writes and waits.
func (w *writer) do(write func(c *conn) error) error {
	done := make(chan error, 1)
	w.add(job{write, func(err error) { done <- err }})
	return <-done
}

// close writes what is queued and lets go of the file.
func (w *writer) close() error {
	w.mu.Lock()
	already := w.closed
	w.closed = true
	w.mu.Unlock()
	w.come.Signal()
	<-w.over
	if already {
		return nil
	}
	return errors.Join(w.back.close(), w.c.Close())
}

func (w *writer) run() {
	defer close(w.over)
	var spare []job
	for {
		w.mu.Lock()
		for len(w.queue) == 0 && !w.closed {
			w.come.Wait()
		}
		jobs := w.queue
		w.queue = spare[:0]
		w.mu.Unlock()
		if len(jobs) == 0 {
			return
		}
		w.commit(jobs)
		if w.rows += len(jobs); w.rows >= checkpointAfter {
			w.rows = 0
			w.back.ask()
		}
		clear(jobs)
		spare = jobs
	}
}

// commit writes jobs together or, where that fails, each by itself, so that
// one that cannot be written does not take others with it.
func (w *writer) commit(jobs []job) {
	err := w.together(jobs)
	if err == nil || len(jobs) == 1 {
		for _, jb := range jobs {
			jb.done(err)
		}
		return
	}
	for i := range jobs {
		jobs[i].done(w.together(jobs[i : i+1]))
	}
}

func (w *writer) together(jobs []job) error {
	err := within(w.c, func() error {
		for _, jb := range jobs {
			if err := jb.write(w.c); err != nil {
				return err
			}
		}
		if w.before != nil {
			return w.before()
		}
		return nil
	})
	if err != nil || len(w.known) > manyTexts {
		clear(w.known) // what was taken back is not there
	}
	return w.j.fault(err)
}

// texts writes those long strings that are not there yet. It is called by jobs.
func (w *writer) texts(list []text) error {
	for _, t := range list {
		if w.known[t.digest] {
			continue
		}
		if _, err := w.c.exec("INSERT INTO text (digest, text) VALUES (?, ?) ON CONFLICT DO NOTHING", t.digest[:], t.text); err != nil {
			return err
		}
		w.known[t.digest] = true
	}
	return nil
}

// How much is written before it is copied from SQLite's log to the file.
const (
	checkpointAfter = 1500  // jobs, of a page or a few each
	checkpointAtAll = 16000 // pages: then the writer waits for it
)

// A checkpointer copies what was written from SQLite's log to the file, on a
// connection of its own: its syncs take longer than a thousand effects do.
type checkpointer struct {
	c    *conn
	asks chan struct{}
	over chan struct{}
}

func newCheckpointer(c *conn) *checkpointer {
	k := &checkpointer{c, make(chan struct{}, 1), make(chan struct{})}
	go func() {
		defer close(k.over)
		for range k.asks {
			// One that does not succeed is made up for by a later one.
			_ = k.c.each(context.Background(), func([]driver.Value) error { return nil }, "PRAGMA wal_checkpoint(PASSIVE)")
		}
	}()
	return k
}

func (k *checkpointer) ask() {
	select {
	case k.asks <- struct{}{}:
	default: // it has enough to do
	}
}

func (k *checkpointer) close() error {
	close(k.asks)
	<-k.over
	return k.c.Close()
}
