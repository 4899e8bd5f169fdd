// Package dispatch sends validation requests to validators and accepts their responses.
//
// A [Dispatcher] makes a fresh [Validate] for each try. It returns an unreadable answer once,
// and asks a second validator after a timeout or a crash (attempt.go). The first response
// settles a task. Later responses are recorded and change nothing.
package dispatch

import (
	"cmp"
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/validators/request"
)

// Errors of calls that do not fit the state of the task.
var (
	ErrOpen    = errors.New("the task has an attempt that is open")
	ErrUnknown = errors.New("no such task is known here")
	ErrFull    = errors.New("too many tasks are open")
	ErrClosed  = errors.New("the dispatcher is closed")
)

// Validate returns the text of a response to r. An error or a panic is a crash of the
// validator. It should return soon after ctx ends. If repair is set, the last answer was no
// response. It must not change r.
type Validate func(ctx context.Context, r *request.Request, repair *request.ProtocolError) ([]byte, error)

// A Config configures a dispatcher.
type Config struct {
	Fresh   func() Validate                        // makes the validator of a try; nil: responses come by Deliver alone
	Judging func(*request.Request) request.Options // options for judging the responses to a request; may be nil
	Keep    int                                    // maximum of stored settled tasks, the newest; 0: 10,000
	MaxOpen int                                    // maximum of open tasks; 0: 100,000
}

// A Dispatcher correlates requests and responses by task_id. It is safe for concurrent
// use. It must be closed.
type Dispatcher struct {
	config  Config
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	reading chan struct{} // limits the responses that are read at a time: reading takes many times their length

	mu      sync.Mutex
	tasks   map[string]*task
	open    int
	settled list.List // of *task, the oldest first
	closed  bool
}

// A task has one attempt at a time.
type task struct {
	current *attempt
	record  []Entry
	dropped int
	place   *list.Element // in settled; nil while the task is open
}

// New returns a dispatcher.
func New(c Config) *Dispatcher {
	c.Keep, c.MaxOpen = cmp.Or(max(c.Keep, 0), 10_000), cmp.Or(max(c.MaxOpen, 0), 100_000)
	d := &Dispatcher{config: c, tasks: map[string]*task{}, reading: make(chan struct{}, runtime.GOMAXPROCS(0))}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Open opens an attempt, asks a validator if the dispatcher has validators, and returns the
// number of the attempt, from 1. If the task has an open attempt, the error is [ErrOpen]. A
// malformed request is a [*request.ProtocolError].
func (d *Dispatcher) Open(r *request.Request) (int, error) {
	a, err := d.openAttempt(r)
	if err != nil {
		return 0, err
	}
	return a.number, nil
}

func (d *Dispatcher) openAttempt(r *request.Request) (*attempt, error) {
	text, err := json.Marshal(r) // a copy, which the caller cannot change
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	if r, err = request.ParseRequest(text); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tasks[r.TaskID]
	switch {
	case d.closed:
		return nil, ErrClosed
	case t != nil && t.place == nil:
		return nil, fmt.Errorf("task %s: %w", r.TaskID, ErrOpen)
	case d.open >= d.config.MaxOpen:
		return nil, ErrFull
	case t == nil:
		t = &task{}
		d.tasks[r.TaskID] = t
	default:
		d.settled.Remove(t.place)
		t.place = nil
	}
	a := &attempt{d: d, task: t, number: 1, request: r, opened: time.Now().UTC(), done: make(chan struct{})}
	if t.current != nil {
		a.number = t.current.number + 1
	}
	t.current = a
	d.open++
	a.log(Entry{Event: Opened})
	a.start()
	return a, nil
}

// A Receipt is the effect of a delivered response.
type Receipt struct {
	TaskID    string            `json:"task_id"`
	Attempt   int               `json:"attempt"`
	Event     Event             `json:"event"` // accepted, duplicate or late
	Judgement request.Judgement `json:"judgement"`
}

// maxResponse is the maximum length of a response, in bytes.
const maxResponse = 8 << 20

// Deliver applies a response from outside to the task that it names. A text that is no
// response is a [*request.ProtocolError]. A response with a timestamp before the open attempt,
// and after the first one, is late.
func (d *Dispatcher) Deliver(text []byte) (Receipt, error) {
	given, err := parse(text)
	if err != nil {
		return Receipt{}, err
	}
	a, err := d.attempt(given.TaskID)
	if err != nil {
		return Receipt{}, err
	}
	j := request.Judge(a.request, given, a.options())
	d.mu.Lock()
	defer d.mu.Unlock()
	event := Accepted
	if a.outcome != nil || a.earlier(given) {
		event, j = a.miss(text, given, j)
	} else {
		a.settle(Entry{Event: Accepted}, given, j)
	}
	return Receipt{a.request.TaskID, a.number, event, j}, nil
}

func parse(text []byte) (*request.Response, error) {
	if len(text) > maxResponse {
		problem := request.Problem{Message: fmt.Sprintf("has more than %d MiB", maxResponse>>20)}
		return nil, &request.ProtocolError{Of: "validation response", Problems: []request.Problem{problem}}
	}
	return request.ParseResponse(text)
}

// attempt returns the newest attempt of a task.
func (d *Dispatcher) attempt(taskID string) (*attempt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.tasks[taskID]; t != nil {
		return t.current, nil
	}
	return nil, fmt.Errorf("task %.500q: %w", taskID, ErrUnknown)
}

// Wait waits until the newest attempt of the task is settled, or ctx is done. The outcome
// must not be changed.
func (d *Dispatcher) Wait(ctx context.Context, taskID string) (Outcome, error) {
	a, err := d.attempt(taskID)
	if err != nil {
		return Outcome{}, err
	}
	return a.wait(ctx)
}

// Do opens an attempt and waits for its outcome. If ctx is done first, the attempt is
// cancelled.
func (d *Dispatcher) Do(ctx context.Context, r *request.Request) (Outcome, error) {
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

// A Standing is the state of a task.
type Standing struct {
	TaskID  string    `json:"task_id"`
	Attempt int       `json:"attempt"` // the newest
	Open    bool      `json:"open"`
	Opened  time.Time `json:"opened"`
	Outcome *Outcome  `json:"outcome,omitempty"` // of a settled attempt; must not be changed

	Record  []Entry `json:"-"` // the events of all attempts, in order
	Dropped int     `json:"-"` // events that the record had no place for
}

// Status returns the state of a task.
func (d *Dispatcher) Status(taskID string) (Standing, error) {
	a, err := d.attempt(taskID)
	if err != nil {
		return Standing{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return Standing{
		TaskID: taskID, Attempt: a.number, Open: a.outcome == nil, Opened: a.opened, Outcome: a.outcome,
		Record: slices.Clone(a.task.record), Dropped: a.task.dropped,
	}, nil
}

// Close settles the open attempts as BLOCKED, and waits until the validators return.
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

// retire stores a settled task, and drops the oldest one above the maximum.
func (d *Dispatcher) retire(t *task) {
	d.open--
	t.place = d.settled.PushBack(t)
	if d.settled.Len() > d.config.Keep {
		oldest := d.settled.Remove(d.settled.Front()).(*task)
		delete(d.tasks, oldest.current.request.TaskID)
	}
}
