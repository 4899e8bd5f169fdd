package journal

import (
	"encoding/hex"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed61713e19/capstan/runner/journal/postgres"
)

// A job is something to be written in one piece.
type job struct {
	write func(c *conn) error // may be called again where what it wrote was taken back
	done  func(error)         // called once, when it is in the file or cannot be
}

// A writer has the one connection that writes. There is no goroutine of its
// own: of those that wait, one writes for all, so that a run that is alone
// hands nothing over.
type writer struct {
	j      *Journal
	c      *conn
	turn   chan struct{} // has something in it while somebody writes
	mu     sync.Mutex    // guards queue and closed; held for no I/O
	queue  []job
	closed bool
	spare  []job           // for the next queue; this and what follows are of the one who writes
	back   *checkpointer   // of a file
	rows   int             // written since the last checkpoint was asked for
	known  map[digest]bool // texts that are in the file
	before func() error    // called before each commit, for tests; may be nil
	tried  time.Time       // when it began to write last

	began  time.Time
	era    atomic.Int64  // ends when others write, or a run's epoch is counted up here
	alone  atomic.Int64  // when it was last seen to go on, by clock
	trusts time.Duration // how long that is taken for true
}

// manyTexts bounds what a writer remembers of texts that are in the file.
const manyTexts = 1 << 16

// newWriter makes one that writes with c, and has what it wrote copied on a
// connection that back makes, where that is to be done.
func newWriter(j *Journal, c *conn, back func() (*conn, error)) *writer {
	turn := make(chan struct{}, 1)
	w := &writer{j: j, c: c, turn: turn, known: map[digest]bool{}, began: time.Now(), trusts: trusted}
	if back != nil {
		w.back = newCheckpointer(back, turn)
	}
	w.endEra()
	return w
}

// endEra has each run look anew whether it stands.
func (w *writer) endEra() { w.era.Add(1) }

// clock is the time that no setting of a clock changes.
func (w *writer) clock() int64 { return int64(time.Since(w.began)) }

// add queues a job; whoever adds one waits then. Jobs are written in the order
// in which they are added.
func (w *writer) add(jb job) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		jb.done(errClosed)
		return
	}
	w.queue = append(w.queue, jb)
	w.mu.Unlock()
}

// wait gives what a job that was added came to, which is told by done. It
// writes what is queued where nobody does. Of A and B who wait, A has the turn and
// writes for both; B hears it from done, or has the turn behind A, writes what has
// come since, and hears it then.
func (w *writer) wait(done <-chan error) error {
	select {
	case err := <-done:
		return err
	case w.turn <- struct{}{}:
		runtime.Gosched() // others who are about to add something come along
		w.write()
		<-w.turn
		return <-done // the job was queued, or written before
	}
}

// do writes and waits.
func (w *writer) do(write func(c *conn) error) error {
	done := make(chan error, 1)
	w.add(job{write, func(err error) { done <- err }})
	return w.wait(done)
}

// close writes what is queued and lets go of the file.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.turn <- struct{}{}
	w.write()
	<-w.turn // nothing is queued any more
	var err error
	if w.back != nil {
		err = w.back.close()
		// Of other processes that have the file open, those that only look could not
		// do it when they close.
		_ = w.c.Script("PRAGMA busy_timeout=100; PRAGMA wal_checkpoint(TRUNCATE)")
	}
	return errors.Join(err, w.c.Close())
}

// write writes what is queued. It is called by the one whose turn it is.
func (w *writer) write() {
	w.mu.Lock()
	jobs := w.queue // the two lists change places, so that none is made anew
	w.queue = w.spare[:0]
	w.mu.Unlock()
	if len(jobs) > 0 {
		w.commit(jobs)
		if w.rows += len(jobs); w.rows >= checkpointAfter && w.back != nil {
			w.rows = 0
			w.back.ask()
		}
	}
	clear(jobs)
	w.spare = jobs
}

// commit writes jobs together or, where that fails, each by itself, so that
// one that cannot be written does not take others with it. A store that is away is
// waited for once for all of them.
func (w *writer) commit(jobs []job) {
	err := w.together(jobs)
	alone := err != nil && len(jobs) > 1
	for i, jb := range jobs {
		if alone && !w.j.store.away(err) {
			err = w.together(jobs[i : i+1])
		}
		jb.done(w.j.fault(err))
	}
}

// together writes jobs in one transaction.
func (w *writer) together(jobs []job) error {
	err := w.attempt(jobs)
	for tries := 0; err != nil && w.j.store.again(w, err, tries); tries++ {
		err = w.attempt(jobs)
	}
	if err != nil || len(w.known) > manyTexts {
		clear(w.known) // what was taken back is not there
	}
	if err != nil {
		w.endEra() // nor has anybody seen anything stand
	}
	return err
}

func (w *writer) attempt(jobs []job) error {
	w.tried = time.Now()
	err := w.j.store.begin(w)
	for i := 0; i < len(jobs) && err == nil; i++ {
		err = jobs[i].write(w.c)
	}
	if err == nil && w.before != nil {
		err = w.before()
	}
	if err == nil {
		_, err = w.c.Exec("COMMIT")
	}
	if err != nil {
		_ = w.c.Rollback() // where it has not been done already
	}
	return err
}

// texts writes those long strings that are not there yet. It is called by jobs.
func (w *writer) texts(list []text) error {
	for _, t := range list {
		if w.known[t.digest] {
			continue
		}
		said := t.text
		if len(said) > partSize {
			var err error
			if said, err = w.inParts(said); err != nil {
				return err
			}
		}
		if err := w.c.Send(postgres.Shared, nil, "INSERT INTO text (digest, text) VALUES (?, ?) ON CONFLICT DO NOTHING", t.digest[:], said); err != nil {
			return err
		}
		w.known[t.digest] = true
	}
	return nil
}

// inParts writes the parts of a text, and gives what its own row says.
func (w *writer) inParts(said string) (string, error) {
	row := []byte(partly)
	for part := range parts(said, partSize) {
		d := digestText(part)
		if err := w.texts([]text{{d, part}}); err != nil {
			return "", err
		}
		row = hex.AppendEncode(row, d[:])
	}
	return string(row), nil
}
