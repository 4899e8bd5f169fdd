package stores

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed61713e19/capstan/internal/databases/postgres"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
)

// A job is data that is written in one piece.
type job struct {
	write func(c *Conn) error // may be called again after a rollback
	done  func(error)         // called once, after the commit or the failure
}

// A writer owns the writing connection. It has no goroutine of its own: one of the
// waiting goroutines writes for all. A single run therefore never waits for another
// goroutine.
type writer struct {
	db           *DB
	C            *Conn
	Turn         chan struct{} // has an element while a goroutine writes
	Mu           sync.Mutex    // guards queue and closed; never held during I/O
	queue        []job
	closed       bool
	spare        []job                 // for the next queue; this field and the next ones belong to the goroutine with the turn
	Checkpointer *checkpointer         // nil for a server
	jobs         int                   // written since the last request for a checkpoint
	Known        map[codec.Digest]bool // texts in the store
	Before       func() error          // called before each commit, for tests; may be nil
	lastTry      time.Time             // start of the last try

	Began   time.Time
	Era     atomic.Int64  // changes when another process writes, or a run's epoch is raised here
	EraSeen atomic.Int64  // when the era was last seen to continue, by clock
	Trust   time.Duration // how long eraSeen counts
}

// maxKnownTexts is the maximum number of texts that a writer remembers.
const maxKnownTexts = 1 << 16

// newWriter returns a writer on the connection c. If back is not nil, the writer has a
// checkpointer, whose connection back opens.
func newWriter(db *DB, c *Conn, back func() (*Conn, error)) *writer {
	turn := make(chan struct{}, 1)
	w := &writer{db: db, C: c, Turn: turn, Known: map[codec.Digest]bool{}, Began: time.Now(), Trust: eraTrust}
	if back != nil {
		w.Checkpointer = newCheckpointer(back, turn)
	}
	w.EndEra()
	return w
}

// EndEra makes each run check its epoch again.
func (w *writer) EndEra() { w.Era.Add(1) }

// Clock returns a time that changes of the system clock do not affect.
func (w *writer) Clock() int64 { return int64(time.Since(w.Began)) }

// Add queues data that write writes in one piece. The caller must then call Wait. write
// may be called again after a rollback. done is called once, after the commit or the
// failure. Data is written in the order of the calls.
func (w *writer) Add(write func(c *Conn) error, done func(error)) {
	w.Mu.Lock()
	if w.closed {
		w.Mu.Unlock()
		done(ErrClosed)
		return
	}
	w.queue = append(w.queue, job{write, done})
	w.Mu.Unlock()
}

// Wait returns the result of a queued job, which done receives. If no goroutine is
// writing, it writes the queue itself. Example: A and B wait, A gets the turn and
// writes both jobs. B receives its result from done, or gets the turn after A and then
// receives it.
func (w *writer) Wait(done <-chan error) error {
	select {
	case err := <-done:
		return err
	case w.Turn <- struct{}{}:
		runtime.Gosched() // lets other goroutines add their jobs first
		w.write()
		<-w.Turn
		return <-done // the job is now written
	}
}

// Do writes and waits.
func (w *writer) Do(write func(c *Conn) error) error {
	done := make(chan error, 1)
	w.Add(write, func(err error) { done <- err })
	return w.Wait(done)
}

// close writes the queue and closes the connections.
func (w *writer) close() error {
	w.Mu.Lock()
	w.closed = true
	w.Mu.Unlock()
	w.Turn <- struct{}{}
	w.write()
	<-w.Turn // nothing is queued any more
	var err error
	if w.Checkpointer != nil {
		err = w.Checkpointer.close()
		// Other processes that only read could not copy the log when they
		// close.
		_ = w.C.Script("PRAGMA busy_timeout=100; PRAGMA wal_checkpoint(TRUNCATE)")
	}
	return errors.Join(err, w.C.Close())
}

// write writes the queue. The caller must have the turn.
func (w *writer) write() {
	w.Mu.Lock()
	jobs := w.queue // the two slices are swapped to avoid allocations
	w.queue = w.spare[:0]
	w.Mu.Unlock()
	if len(jobs) > 0 {
		w.commit(jobs)
		if w.jobs += len(jobs); w.jobs >= CheckpointAfter && w.Checkpointer != nil {
			w.jobs = 0
			w.Checkpointer.Request()
		}
	}
	clear(jobs)
	w.spare = jobs
}

// commit writes jobs together. If that fails, it writes each job alone, so that a failing job
// does not affect others. It waits for an unavailable store only once.
func (w *writer) commit(jobs []job) {
	err := w.commitTogether(jobs)
	alone := err != nil && len(jobs) > 1
	for i, jb := range jobs {
		if alone && !w.db.Store.Away(err) {
			err = w.commitTogether(jobs[i : i+1])
		}
		jb.done(w.db.Fault(err))
	}
}

// commitTogether writes jobs in one transaction.
func (w *writer) commitTogether(jobs []job) error {
	err := w.attempt(jobs)
	for tries := 0; err != nil && w.db.Store.Again(w, err, tries); tries++ {
		err = w.attempt(jobs)
	}
	if err != nil || len(w.Known) > maxKnownTexts {
		clear(w.Known) // rolled back texts are not stored
	}
	if err != nil {
		w.EndEra() // no check of an epoch was committed
	}
	return err
}

func (w *writer) attempt(jobs []job) error {
	w.lastTry = time.Now()
	err := w.db.Store.Begin(w)
	for i := 0; i < len(jobs) && err == nil; i++ {
		err = jobs[i].write(w.C)
	}
	if err == nil && w.Before != nil {
		err = w.Before()
	}
	if err == nil {
		_, err = w.C.Exec("COMMIT")
	}
	if err != nil {
		_ = w.C.Rollback() // if not already done
	}
	return err
}

// Texts writes the long strings that are missing in the store. It must be
// called by jobs.
func (w *writer) Texts(list []codec.Text) error {
	for _, t := range list {
		if w.Known[t.Digest] {
			continue
		}
		if err := w.C.Send(postgres.Shared, nil, "INSERT INTO text (digest, text) VALUES (?, ?) ON CONFLICT DO NOTHING", t.Digest[:], t.Text); err != nil {
			return err
		}
		w.Known[t.Digest] = true
	}
	return nil
}

// eraTrust is how long an era counts as valid without a new check. An effect of a run
// that is taken over in this time counts as started before. A process that slept
// notices that more time has passed.
const eraTrust = 10 * time.Millisecond
