package request

import (
	"cmp"
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// What a dispatcher answers to a call that makes no sense at the time.
var (
	ErrOpen    = errors.New("the task has an attempt that is open")
	ErrUnknown = errors.New("no such task is known here")
	ErrFull    = errors.New("too many tasks are open")
	ErrClosed  = errors.New("the dispatcher is closed")
)

// A Config says how a dispatcher works.
type Config struct {
	Fresh   func() Runner          // makes the validator of a try; nil where all responses are delivered from outside
	Judging func(*Request) Options // how the responses to a request are judged; nil is the zero Options
	Keep    int                    // how many settled tasks are kept, the newest; 0 is 10,000
	MaxOpen int                    // how many tasks may be open at a time; 0 is 100,000
}

// A Dispatcher takes requests to validators and their responses back, by
// task_id. The first response that is one settles a task's attempt; what comes
// later is recorded and never applied. It is safe for concurrent use. Make one
// with [NewDispatcher], and close it.
type Dispatcher struct {
	config  Config
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup // calls of runners
	reading chan struct{}  // a place for each response that is read at a time, which takes many times its text

	mu      sync.Mutex
	tasks   map[string]*task
	open    int
	settled list.List // of the *task, the one that was settled first before all
	closed  bool
}

// A task has one attempt at a time, and the record of all.
type task struct {
	current *attempt
	record  Record
	place   *list.Element // among the settled; nil while it is open
}

// NewDispatcher makes a dispatcher.
func NewDispatcher(c Config) *Dispatcher {
	c.Keep = cmp.Or(max(c.Keep, 0), 10_000)
	if c.MaxOpen <= 0 {
		c.MaxOpen = 100_000
	}
	d := &Dispatcher{config: c, tasks: map[string]*task{}, reading: make(chan struct{}, runtime.GOMAXPROCS(0))}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Open opens an attempt for a request, sends a validator where the dispatcher
// has them, and returns at once with the attempt's number, which counts from 1.
// While an attempt of the task is open another is refused with [ErrOpen]:
// whoever waits for it would get the verdict on something else. A request that
// is malformed is a [*ProtocolError].
func (d *Dispatcher) Open(r *Request) (int, error) {
	a, err := d.openAttempt(r)
	if err != nil {
		return 0, err
	}
	return a.number, nil
}

func (d *Dispatcher) openAttempt(r *Request) (*attempt, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	if r, err = ParseRequest(text); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tasks[r.TaskID]
	switch {
	case d.closed:
		return nil, ErrClosed
	case t != nil && !t.current.settled():
		return nil, fmt.Errorf("task %s: %w", r.TaskID, ErrOpen)
	case d.open >= d.config.MaxOpen:
		return nil, ErrFull
	case t == nil:
		t = &task{current: &attempt{}, record: Record{TaskID: r.TaskID}}
		d.tasks[r.TaskID] = t
	}
	a := &attempt{d: d, task: t, number: t.current.number + 1, request: r, opened: time.Now().UTC(), done: make(chan struct{})}
	t.current = a
	d.open++
	d.unsettle(t)
	a.log(Entry{Event: Opened})
	a.fresh()
	return a, nil
}

// A Receipt says what became of a response that was delivered.
type Receipt struct {
	TaskID    string    `json:"task_id"`
	Attempt   int       `json:"attempt"`
	Event     Event     `json:"event"` // accepted, duplicate or late
	Judgement Judgement `json:"judgement"`
}

// maxResponse bounds a response that a dispatcher takes, in bytes.
const maxResponse = 8 << 20

// Deliver takes a response from outside to the task that it names. One that is
// no response is a [*ProtocolError], one to a task that is not known
// [ErrUnknown]; neither changes anything. One whose timestamp lies between the
// opening of the task's first attempt and that of the open one answers an
// earlier attempt, and is late.
func (d *Dispatcher) Deliver(text []byte) (Receipt, error) {
	given, err := parseBounded(text)
	if err != nil {
		return Receipt{}, err
	}
	a, err := d.attempt(given.TaskID)
	if err != nil {
		return Receipt{}, err
	}
	j := Judge(a.request, given, a.options())
	d.mu.Lock()
	defer d.mu.Unlock()
	event := Accepted
	if a.settled() || a.earlier(given) {
		event, j = a.missed(text, given, j)
	} else {
		a.settle(Entry{Event: Accepted}, given, j)
	}
	return Receipt{a.request.TaskID, a.number, event, j}, nil
}

func parseBounded(text []byte) (*Response, error) {
	if len(text) > maxResponse {
		var p problems
		p.add("", "has more than %d MiB", maxResponse>>20)
		return nil, p.err("validation response")
	}
	return ParseResponse(text)
}

// options are how the responses to an attempt are judged.
func (a *attempt) options() Options {
	var o Options
	if a.d.config.Judging != nil {
		o = a.d.config.Judging(a.request)
	}
	if o.Asked.IsZero() {
		o.Asked = a.opened
	}
	return o
}

func (d *Dispatcher) attempt(taskID string) (*attempt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.tasks[taskID]; t != nil {
		return t.current, nil
	}
	return nil, fmt.Errorf("task %s: %w", quoted(taskID), ErrUnknown)
}

// Wait waits until the task's attempt that is the newest now is settled, or ctx
// is done. The outcome must not be changed.
func (d *Dispatcher) Wait(ctx context.Context, taskID string) (Outcome, error) {
	a, err := d.attempt(taskID)
	if err != nil {
		return Outcome{}, err
	}
	return a.wait(ctx)
}

// Do opens an attempt for a request and waits for its outcome. When ctx is done
// the attempt is cancelled, as by [Dispatcher.Cancel].
func (d *Dispatcher) Do(ctx context.Context, r *Request) (Outcome, error) {
	a, err := d.openAttempt(r)
	if err != nil {
		return Outcome{}, err
	}
	o, err := a.wait(ctx)
	if err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		a.giveUp(Cancelled, "nobody waits for it any longer")
	}
	return o, err
}

// Cancel settles the open attempt of a task as BLOCKED, for a reason. A task
// that is settled stays as it is.
func (d *Dispatcher) Cancel(taskID, reason string) error {
	a, err := d.attempt(taskID)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	a.giveUp(Cancelled, reason)
	return nil
}

// Forget drops a settled task with its record; one that is open is [ErrOpen].
// The next request of that name is the first of a new task.
func (d *Dispatcher) Forget(taskID string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tasks[taskID]
	switch {
	case t == nil:
		return fmt.Errorf("task %s: %w", quoted(taskID), ErrUnknown)
	case !t.current.settled():
		return fmt.Errorf("task %s: %w", taskID, ErrOpen)
	}
	d.unsettle(t)
	delete(d.tasks, taskID)
	return nil
}

// Close settles what is open as BLOCKED, stops the validators and waits for
// them to come back.
func (d *Dispatcher) Close() {
	d.mu.Lock()
	d.closed = true
	for _, t := range d.tasks {
		t.current.giveUp(Cancelled, "the dispatcher was closed")
	}
	d.cancel()
	d.mu.Unlock()
	d.running.Wait()
}

// retire keeps the newest settled tasks and forgets the others.
func (d *Dispatcher) retire(t *task) {
	d.open--
	t.place = d.settled.PushBack(t)
	if d.settled.Len() > d.config.Keep {
		oldest := d.settled.Remove(d.settled.Front()).(*task)
		delete(d.tasks, oldest.record.TaskID)
	}
}

// unsettle takes a task's place among the settled ones.
func (d *Dispatcher) unsettle(t *task) {
	if t.place != nil {
		d.settled.Remove(t.place)
		t.place = nil
	}
}
