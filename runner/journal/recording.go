package journal

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// A recording is one start of one run. Its branches emit events and request
// effects concurrently. A goroutine that holds mu may lock resultMu or add a
// job to the writer, but not the other way round. So a job and its done
// function lock only resultMu, and nobody waits for a job while holding mu.
type recording struct {
	j     *Journal
	n     int64        // the run's number
	epoch int64        // the run belongs to this start while it has this epoch
	era   atomic.Int64 // era of the writer in which the epoch was checked
	start runner.Start
	ended *engine.Result // set if the run has ended finally

	mu       sync.Mutex // held while sinks are called, so that they receive events in order
	seq      int64      // number of the last event
	row      int64      // number of the last row
	time     int64      // time of the last row, which never goes back
	visits   visits     // finished visits
	finished bool
	piece    piece // rows that the writer has not received yet
	timer    *time.Timer

	stored        map[event.Path]storedEffect      // effects of earlier starts
	replaces      bool                             // failed effects were dropped, so dependent results may change
	recorded      map[codec.Digest][]recordedEvent // events of earlier starts that have not been repeated yet, by kind and path
	spent         map[event.Path]model.Usage
	startedWrites startedWrites         // of earlier starts and of the parent
	open          []openRow             // unanswered questions, in the order of their keys
	notices       map[event.Path]string // the process that sends the notice of a question, or "" if it was sent
	since         map[event.Path]int64  // first times of questions that expire
	shared        *parentEffects
	reply         map[event.Path]int64             // rows of effects whose event has not been emitted
	prints        map[event.Path]codec.Fingerprint // of requests that were emitted but not made yet
	verdictRows   map[event.Path]codec.VerdictRow
	conversations codec.Conversations

	resultMu     sync.Mutex // guards what the writer reports
	broken       error
	lost         []*piece // pieces that could not be written, in order
	confirmedRow int64    // the last confirmed row
	recent       []confirmed
}

// visits are visits to phases of the run's own cascade. A visit that waited or
// was interrupted finishes again after the run resumes.
type visits map[event.Path]bool

// finish records a visit if an event's row is the end of one.
func (v visits) finish(kind string, at event.Path) {
	if kind == string(event.PhaseFinished) && at.Parent() == "" {
		v[at] = true
	}
}

// storedEffect is an effect in the store.
type storedEffect struct {
	row   int64
	kind  string
	print codec.Fingerprint
	data  []byte // packed
}

// A piece is a list of rows that are written together.
type piece struct {
	codec.Packer
	rows    []codec.Row
	before  int64       // number of the last event before the piece
	sealed  *codec.Pack // the rows as a pack, ready for the writer
	dropped []int64     // rows of effects that will be repeated
	pending any         // the open questions: a text, or nil; unset if they have not changed
}

// unset leaves a run's open questions unchanged.
type unset struct{}

func (r *recording) newPiece() piece {
	return piece{Packer: codec.Packer{Secrets: r.j.secrets}, pending: unset{}}
}

func (j *Journal) newRecording(n, epoch int64, s runner.Start) *recording {
	r := &recording{
		j: j, n: n, epoch: epoch, start: s, visits: visits{}, recorded: map[codec.Digest][]recordedEvent{}, stored: map[event.Path]storedEffect{}, spent: map[event.Path]model.Usage{}, startedWrites: startedWrites{}, since: map[event.Path]int64{}, notices: map[event.Path]string{},
		reply: map[event.Path]int64{}, prints: map[event.Path]codec.Fingerprint{}, verdictRows: map[event.Path]codec.VerdictRow{}, conversations: codec.NewConversations(j.secrets),
	}
	r.piece = r.newPiece()
	return r
}

// Start returns the start of the run.
func (r *recording) Start() runner.Start { return r.start }

// Ended returns the result of a run that has ended finally.
func (r *recording) Ended() (engine.Result, bool) {
	if r.ended == nil {
		return engine.Result{}, false
	}
	return *r.ended, true
}

// now returns the time, which never goes back, even if the clock does.
func (r *recording) now() int64 {
	r.time = max(r.time, r.j.db.Now().UnixNano())
	return r.time
}

// put adds a row. The caller must hold r.mu.
func (r *recording) put(w codec.Row) int64 {
	r.row++
	w.N = r.row
	if w.Time == 0 {
		w.Time = r.now()
	}
	if len(r.piece.rows) == 0 {
		r.piece.before = r.seq
		if codec.IsEvent(w.Kind) {
			r.piece.before-- // the row itself is an event
		}
	}
	r.piece.rows = append(r.piece.rows, w)
	return r.row
}

// take removes the current piece, for the writer. The caller must hold r.mu.
func (r *recording) take() *piece {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	p := r.piece
	r.piece = r.newPiece()
	if len(p.rows) > 0 {
		p.sealed = codec.NewPack(r.n, p.before, p.rows)
		p.rows = nil
	}
	return &p
}

// queue passes the piece to the writer and returns a channel for the result. The caller
// must hold r.mu, so that no other branch's piece overtakes this one: both can have
// rows of the other branch's effects.
func (r *recording) queue() <-chan error {
	p, done := r.take(), make(chan error, 1)
	r.j.db.Writer.Add(func(c *stores.Conn) error { return r.insert(c, p) }, func(err error) {
		r.resultMu.Lock()
		if err != nil {
			r.broken = err
			r.lost = append(r.lost, p)
		} else {
			r.addConfirmed(p)
		}
		r.resultMu.Unlock()
		done <- err
		r.j.notify(r.start.RunID)
	})
	return done
}

// commit writes the current piece and waits for the result.
func (r *recording) commit() error {
	r.mu.Lock()
	done := r.queue()
	r.mu.Unlock()
	return r.j.db.Writer.Wait(done)
}

// scheduleWrite writes the current piece soon, if it has not been written by then. The
// caller must hold r.mu.
func (r *recording) scheduleWrite() {
	if len(r.piece.rows) == 0 || r.timer != nil {
		return
	}
	var t *time.Timer
	t = time.AfterFunc(r.j.watchers.delay(r.start.RunID), func() {
		r.mu.Lock()
		var done <-chan error
		if r.timer == t {
			done = r.queue()
		}
		r.mu.Unlock()
		if done != nil {
			_ = r.j.db.Writer.Wait(done) // the run's next effect returns the error
		}
	})
	r.timer = t
}

// insert writes a piece. A failed piece ends all writes of the run, so that there is no
// gap.
func (r *recording) insert(c *stores.Conn, p *piece) error {
	r.resultMu.Lock()
	broken := r.broken
	r.resultMu.Unlock()
	if broken != nil {
		return broken
	}
	return r.insertAll(c, p)
}

func (r *recording) insertAll(c *stores.Conn, pieces ...*piece) error {
	if err := r.checkEpoch(c); err != nil {
		return err
	}
	return r.write(c, pieces...)
}

func (r *recording) write(c *stores.Conn, pieces ...*piece) error {
	for _, p := range pieces {
		if err := r.j.db.Writer.Texts(p.Texts); err != nil {
			return err
		}
		if p.sealed != nil {
			if err := writePack(c, p.sealed, r.epoch); err != nil {
				return err
			}
		}
		for _, row := range p.dropped {
			if err := r.j.dropRow(c, r.n, row); err != nil {
				return err
			}
		}
		if _, none := p.pending.(unset); !none {
			if err := c.Queue("UPDATE run SET pending = ? WHERE n = ?", p.pending, r.n); err != nil {
				return err
			}
		}
	}
	return nil
}

// stopped returns the error that ends a run after its journal failed.
func stopped(at event.Path, err error) error {
	if err == nil {
		return nil
	}
	code := engine.Failed
	if errors.Is(err, runner.ErrRunTaken) {
		code = engine.TakenOver
	}
	return &engine.Error{Code: code, Path: at, Message: "journal: " + err.Error(), Err: err}
}

// err returns the first error of the recording, or nil.
func (r *recording) err() error {
	r.resultMu.Lock()
	defer r.resultMu.Unlock()
	return r.broken
}

// End stores the end of a run. It first repeats the writes that failed before. If that
// fails, it retries later.
func (r *recording) End(result engine.Result, cause *engine.Error) error {
	r.mu.Lock()
	if r.finished || r.ended != nil {
		r.mu.Unlock()
		return nil
	}
	r.finished = true
	last := r.take()
	if cause != nil && cause.Code == engine.Waiting {
		r.open = slices.DeleteFunc(r.open, func(q openRow) bool { return !q.fresh }) // questions of earlier starts, which nobody asks any more
		last.pending = rowOf(r.open)
	}
	finished, events, phases := r.now(), r.seq, int64(len(r.visits))
	r.mu.Unlock()
	e, err := r.ending(last, result)
	if err != nil {
		return err
	}
	e.finished, e.events, e.phases = finished, events, phases
	if cause != nil && cause.Code == engine.Failed {
		e.failedPaths = failedPaths(cause)
	}
	return r.j.writeOrRetry(r.start.RunID, func() error {
		defer r.j.notify(r.start.RunID)
		err := r.j.db.Writer.Do(func(c *stores.Conn) error { return r.writeEnd(c, last, e) })
		if errors.Is(err, stores.ErrLost) { // the end would follow a gap
			err = r.release()
		}
		return err
	})
}

func (r *recording) writeEnd(c *stores.Conn, last *piece, e ending) error {
	r.resultMu.Lock()
	lost := r.lost
	r.resultMu.Unlock()
	if err := r.j.db.Sync(c); err != nil {
		return err
	}
	if err := r.insertAll(c, append(slices.Clone(lost), last)...); err != nil {
		return err
	}
	return e.write(c, r.n)
}

// Host returns a host that records the effects and events of inner.
func (r *recording) Host(inner engine.Host) engine.Host { return &host{Host: inner, r: r} }

var _ runner.Recording = (*recording)(nil)
