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
	"github.com/seed61713e19/capstan/runner/model"
)

// A recording is one start of one run. Its branches emit and ask at the same time:
// whoever holds mu may take fate, or add a job to the writer, but never the other
// way. So a job and its done take fate alone, and nobody waits for one with mu held.
type recording struct {
	j     *Journal
	n     int64        // the run's number
	epoch int64        // the run is this start's as long as it has this one
	era   atomic.Int64 // of the writer, in which the epoch was seen to stand
	start runner.Start
	ended *engine.Result // of a run that has ended for good

	mu      sync.Mutex // held while sinks are told, so that they hear in order
	seq     int64      // of the last event
	row     int64      // the number of the last row
	time    int64      // of the last row: never goes back
	visits  visits     // that have finished
	over    bool
	piece   piece  // what has not been handed to the writer
	scratch []byte // of one piece after the other
	soon    *time.Timer

	kept     map[event.Path]kept // effects of earlier starts
	replaces bool                // failures were dropped: what hangs on them may come out otherwise
	told     map[digest][]teller // events of earlier starts that have not come again, by kind and path
	spent    map[event.Path]model.Usage
	begun    begun                 // of earlier starts, and those taken from the parent
	open     []openRow             // questions that nobody has answered, in the order of their keys
	notices  map[event.Path]string // who gives notice of questions: a process, or "" where it is done
	since    map[event.Path]int64  // when questions that expire were first asked
	shared   *shared
	reply    map[event.Path]int64 // rows of effects whose event has not come
	prints   map[event.Path]print // of requests that were told and not made yet
	ruled    map[event.Path]ruled
	talks    talks

	fate   sync.Mutex // guards what the writer tells
	broken error
	lost   []*piece // what could not be written, in order
	there  int64    // the last row that was confirmed
	recent []confirmed
}

// visits are those to phases of the run's own cascade. One that waited or broke off,
// and was gone on with, finishes again.
type visits map[event.Path]bool

// finish notes the row of an event where it tells that a visit has finished.
func (v visits) finish(kind string, at event.Path) {
	if kind == string(event.PhaseFinished) && at.Up() == "" {
		v[at] = true
	}
}

// kept is an effect in the file.
type kept struct {
	row   int64
	kind  string
	print print
	data  []byte // packed
}

// A piece is rows that are written together.
type piece struct {
	packer
	rows    []row
	before  int64   // the last event that is not among them
	sealed  *pack   // what they have become, on their way to the writer
	dropped []int64 // rows of effects that are to be made again
	pending any     // the open questions: a text, or nil; unset for no change
}

type row struct {
	n, time, took int64
	kind, path    string
	print         print
	data          []byte
}

// unset leaves a run's open questions as they are.
type unset struct{}

// rowBits is how much of an older row's id numbers the row within its run.
const rowBits = 32

func (r *recording) newPiece() piece {
	return piece{packer: packer{secrets: r.j.secrets}, pending: unset{}}
}

func (j *Journal) newRecording(n, epoch int64, s runner.Start) *recording {
	r := &recording{
		j: j, n: n, epoch: epoch, start: s, visits: visits{}, told: map[digest][]teller{}, kept: map[event.Path]kept{}, spent: map[event.Path]model.Usage{}, begun: begun{}, since: map[event.Path]int64{}, notices: map[event.Path]string{},
		reply: map[event.Path]int64{}, prints: map[event.Path]print{}, ruled: map[event.Path]ruled{}, talks: newTalks(),
	}
	r.piece = r.newPiece()
	return r
}

// Start is what the run began with.
func (r *recording) Start() runner.Start { return r.start }

// Ended gives the result of a run that has ended for good.
func (r *recording) Ended() (engine.Result, bool) {
	if r.ended == nil {
		return engine.Result{}, false
	}
	return *r.ended, true
}

// now is the time, which does not go back where the clock does.
func (r *recording) now() int64 {
	r.time = max(r.time, r.j.now().UnixNano())
	return r.time
}

// put adds a row. It is called with r.mu held.
func (r *recording) put(w row) int64 {
	r.row++
	w.n = r.row
	if w.time == 0 {
		w.time = r.now()
	}
	if len(r.piece.rows) == 0 {
		r.piece.before = r.seq
		if isEvent(w.kind) {
			r.piece.before-- // it is counted
		}
	}
	r.piece.rows = append(r.piece.rows, w)
	return r.row
}

// manyBytes bounds what a recording keeps at hand between its pieces.
const manyBytes = 16 << 10

// take empties the piece for the writer. It is called with r.mu held.
func (r *recording) take() *piece {
	if r.soon != nil {
		r.soon.Stop()
		r.soon = nil
	}
	p := r.piece
	r.piece = r.newPiece()
	if len(p.rows) > 0 {
		p.sealed = new(pack)
		*p.sealed, r.scratch = packed(r.n, p.before, p.rows, r.scratch)
		clear(p.rows)
		p.rows, r.piece.rows = nil, p.rows[:0] // the pack has them: the next piece takes their place
		if cap(r.scratch) > manyBytes {
			r.scratch, r.piece.rows = nil, nil
		}
	}
	return &p
}

// queue hands the piece to the writer, and gives what comes of it. It is called
// with r.mu held: another branch's piece must not overtake this one, since
// either may hold what the other's effects came to.
func (r *recording) queue() <-chan error {
	p, done := r.take(), make(chan error, 1)
	r.j.writer.add(job{
		write: func(c *conn) error { return r.insert(c, p) },
		done: func(err error) {
			r.fate.Lock()
			if err != nil {
				r.broken = err
				r.lost = append(r.lost, p)
			} else {
				r.holds(p)
			}
			r.fate.Unlock()
			done <- err
			r.j.tell(r.start.RunID)
		},
	})
	return done
}

// commit writes what there is and waits until it is in the file.
func (r *recording) commit() error {
	r.mu.Lock()
	done := r.queue()
	r.mu.Unlock()
	return r.j.writer.wait(done)
}

// later writes what there is in a moment, unless something else writes it
// first. It is called with r.mu held.
func (r *recording) later() {
	if len(r.piece.rows) == 0 || r.soon != nil {
		return
	}
	var t *time.Timer
	t = time.AfterFunc(r.j.watchers.delay(r.start.RunID), func() {
		r.mu.Lock()
		var done <-chan error
		if r.soon == t {
			done = r.queue()
		}
		r.mu.Unlock()
		if done != nil {
			_ = r.j.writer.wait(done) // the run's next effect hears of an error
		}
	})
	r.soon = t
}

// insert writes a piece. A run whose earlier piece could not be written writes
// none, so that there is no gap.
func (r *recording) insert(c *conn, p *piece) error {
	r.fate.Lock()
	broken := r.broken
	r.fate.Unlock()
	if broken != nil {
		return broken
	}
	return r.insertAll(c, p)
}

func (r *recording) insertAll(c *conn, pieces ...*piece) error {
	if err := r.stands(c); err != nil {
		return err
	}
	return r.write(c, pieces...)
}

func (r *recording) write(c *conn, pieces ...*piece) error {
	for _, p := range pieces {
		if err := r.j.writer.texts(p.texts); err != nil {
			return err
		}
		if p.sealed != nil {
			if err := p.sealed.write(c, r.epoch); err != nil {
				return err
			}
		}
		for _, row := range p.dropped {
			if err := r.j.dropRow(c, r.n, row); err != nil {
				return err
			}
		}
		if _, none := p.pending.(unset); !none {
			if err := c.send("UPDATE run SET pending = ? WHERE n = ?", p.pending, r.n); err != nil {
				return err
			}
		}
	}
	return nil
}

// stopped is the error that ends a run whose journal does not take it.
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

// state is why nothing more is written, nil where all is well.
func (r *recording) state() error {
	r.fate.Lock()
	defer r.fate.Unlock()
	return r.broken
}

// End notes how the run ended. What could not be written before is tried again, here
// and, where it still cannot be, later.
func (r *recording) End(result engine.Result, why *engine.Error) error {
	r.mu.Lock()
	if r.over || r.ended != nil {
		r.mu.Unlock()
		return nil
	}
	r.over = true
	last := r.take()
	if why != nil && why.Code == engine.Waiting {
		r.open = slices.DeleteFunc(r.open, func(q openRow) bool { return !q.fresh }) // of an earlier start: nobody asks them any more
		last.pending = rowOf(r.open)
	}
	finished, events, phases := r.now(), r.seq, int64(len(r.visits))
	r.mu.Unlock()
	e, err := r.ending(last, result)
	if err != nil {
		return err
	}
	e.finished, e.events, e.phases = finished, events, phases
	if why != nil && why.Code == engine.Failed {
		e.broke = broken(why)
	}
	return r.j.owe(r.start.RunID, func() error {
		defer r.j.tell(r.start.RunID)
		err := r.j.writer.do(func(c *conn) error { return r.writeEnd(c, last, e) })
		if errors.Is(err, errLost) { // the end would stand behind a gap
			err = r.letGo()
		}
		return err
	})
}

func (r *recording) writeEnd(c *conn, last *piece, e ending) error {
	r.fate.Lock()
	lost := r.lost
	r.fate.Unlock()
	if err := r.j.lasting(c); err != nil {
		return err
	}
	if err := r.insertAll(c, append(slices.Clone(lost), last)...); err != nil {
		return err
	}
	return e.write(c, r.n)
}

// Host keeps the effects and events of inner.
func (r *recording) Host(inner engine.Host) engine.Host { return &host{Host: inner, r: r} }

var _ runner.Recording = (*recording)(nil)
