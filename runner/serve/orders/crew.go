package orders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
)

// What a [Crew] may say no with, beside the errors of the journal and
// [cascades.Diagnostics].
var (
	ErrNoCascade  = errors.New("no cascade of that name is offered")
	errNoModel    = errors.New("no model of that name is offered")
	ErrFull       = errors.New("the maximum number of runs is already running")
	ErrClosed     = errors.New("the server is shutting down")
	ErrNotRunning = errors.New("the run is not running in this process")
)

// A Crew runs cascades in this process, each in a goroutine of its own. Make
// one with [NewCrew]. It is safe for concurrent use.
type Crew struct {
	o       CrewOptions
	ctx     context.Context
	stop    context.CancelFunc
	mu      sync.Mutex
	closed  bool
	running map[*hand]bool
	hands   sync.WaitGroup
	shelf   shelf
	drafts  drafts
}

// A hand makes one run. Of one that has just ended there may be two: the one
// that noted its end, and the one that goes on with it. That there is no more
// than one before is for the journal to see to.
type hand struct {
	id      string
	resume  bool
	cancel  context.CancelFunc
	settled chan struct{} // closed when the journal has its run, or it is let go
	settle  func()        // closes it, once
}

// CrewOptions say what a crew runs.
type CrewOptions struct {
	// Journal keeps the runs.
	Journal runner.Journal
	// Starts gives what a kept run began with.
	Starts func(ctx context.Context, id string) (runner.Start, error)
	// Runner makes the runner for one run, new or resumed; it must keep runs in
	// the journal it is given. Of a new run, s has the name, Settings, and as
	// Model the one that was ordered, which the runner's default has to be; what
	// cascades may name must be the same for all new runs.
	Runner func(s runner.Start, j runner.Journal) (*runner.Runner, error)
	// Cascades are the files that are offered, by name.
	Cascades map[string]string
	// Models are the models that an order may ask for.
	Models []string
	// Settings are kept with every new run, beside "cascade", the offered name.
	Settings map[string]string
	// Limit is how many runs there may be at once; 0 means 16.
	Limit int
	// Done, where it is set, is told how every run ended. The error may be one
	// that is not the run's own: its journal's, a panic.
	Done func(id string, r runner.Result, err error)
}

// NewCrew makes a crew without runs.
func NewCrew(o CrewOptions) *Crew {
	o.Limit = cmp.Or(max(o.Limit, 0), 16)
	ctx, stop := context.WithCancel(context.Background())
	return &Crew{o: o, ctx: ctx, stop: stop, running: map[*hand]bool{}, shelf: shelf{kept: map[string]*shelved{}}}
}

// Start begins a run of the cascade as its files are now, and returns when the
// journal has it. Its errors are those above, of which [ErrFull] comes before
// anything is read, [cascades.InputErrors], [cascades.Diagnostics], and
// [runner.ErrRunExists].
func (c *Crew) Start(ctx context.Context, o Order) (string, error) {
	switch {
	case o.Model != "" && !slices.Contains(c.o.Models, o.Model):
		return "", errNoModel
	case o.RunID == "":
		o.RunID = runner.NewRunID(time.Now())
	}
	settings := c.settings(o.Cascade)
	return o.RunID, c.send(ctx, &hand{id: o.RunID}, func(opened *opening) (making, error) {
		r, cascade, err := c.load(o, settings, opened)
		if err != nil {
			return nil, err
		}
		if wrong := cascade.CheckInput(ctx.Err, o.Input); len(wrong) > 0 {
			return nil, wrong
		}
		return func(ctx context.Context) (runner.Result, error) {
			return r.Run(ctx, cascade, o.Input, c.drafts.hear(o.RunID, o.Watched), runner.WithRunID(o.RunID), runner.WithSettings(settings))
		}, nil
	})
}

// Inputs gives what the cascade takes as its files are now. Its errors are
// [ErrNoCascade] and [cascades.Diagnostics].
func (c *Crew) Inputs(name string) ([]cascades.Input, error) {
	_, cascade, err := c.load(Order{Cascade: name}, c.settings(name), c.o.Journal)
	if err != nil {
		return nil, err
	}
	return cascade.Asked(), nil
}

func (c *Crew) settings(cascade string) map[string]string {
	settings := map[string]string{"cascade": cascade}
	maps.Copy(settings, c.o.Settings)
	return settings
}

// load gives an offered cascade, with a runner of its own.
func (c *Crew) load(o Order, settings map[string]string, j runner.Journal) (*runner.Runner, *cascades.Cascade, error) {
	file, ok := c.o.Cascades[o.Cascade]
	if !ok {
		return nil, nil, ErrNoCascade
	}
	r, err := c.o.Runner(runner.Start{RunID: o.RunID, Model: o.Model, Settings: settings}, j)
	if err != nil {
		return nil, nil, err
	}
	cascade, err := c.shelf.load(r, file)
	return r, cascade, err
}

// Resume goes on with a run and returns when the journal has reopened it. Its
// errors are those above, [runner.ErrNoRun] and [runner.ErrRunBusy].
func (c *Crew) Resume(ctx context.Context, id string) error {
	start, err := c.o.Starts(ctx, id)
	if err != nil {
		return err
	}
	return c.send(ctx, &hand{id: start.RunID, resume: true}, func(opened *opening) (making, error) {
		r, err := c.o.Runner(start, opened)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (runner.Result, error) {
			return r.Resume(ctx, start.RunID, c.drafts.hear(start.RunID, true)) // somebody wanted it to go on
		}, nil
	})
}

// A making makes a run, to its end.
type making func(context.Context) (runner.Result, error)

// send has a run made in the background, where there is a place for it, and
// waits until the journal has said yes or no to it.
func (c *Crew) send(ctx context.Context, h *hand, ready func(*opening) (making, error)) error {
	own, cancel := context.WithCancel(c.ctx)
	h.cancel, h.settled = cancel, make(chan struct{})
	h.settle = sync.OnceFunc(func() { close(h.settled) })
	if err := c.enlist(ctx, h); err != nil {
		cancel()
		return err
	}
	opened := &opening{Journal: c.o.Journal, heard: make(chan error, 1), kept: h.settle}
	run, err := ready(opened)
	if err != nil {
		c.dismiss(h)
		c.hands.Done()
		return err
	}
	ended := make(chan error, 1)
	go func() {
		defer c.hands.Done()
		result, err := guarded(own, run)
		c.dismiss(h) // before anybody is told: the place is free then
		ended <- err
		if c.o.Done != nil && opened.said() {
			c.o.Done(h.id, result, err)
		}
	}()
	select {
	case err := <-opened.heard:
		if err != nil {
			<-ended // who is refused has no hand at the run any more
		}
		return err
	case err := <-ended:
		if opened.said() {
			return nil // it was begun, and is over already
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func guarded(ctx context.Context, run making) (r runner.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("run: panic: %v", p)
		}
	}()
	return run(ctx)
}

// enlist takes a hand on. Where another is about to begin the run of that name it waits
// for what becomes of that: who has ordered the same gets that run, and has one begun
// where it has failed.
func (c *Crew) enlist(ctx context.Context, h *hand) error {
	for {
		first, err := c.take(h)
		if first == nil {
			return err
		}
		select {
		case <-first.settled:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// take is enlist where nobody has to be waited for, else it gives the one who has.
func (c *Crew) take(h *hand) (first *hand, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	there := c.of(h.id)
	switch {
	case c.closed:
		return nil, ErrClosed
	case !h.resume && len(there) > 0:
		if i := slices.IndexFunc(there, (*hand).begins); i >= 0 {
			return there[i], nil
		}
		return nil, runner.ErrRunBusy
	case len(c.running) >= c.o.Limit:
		return nil, ErrFull
	}
	c.running[h] = true
	c.hands.Add(1) // with the lock: none is added behind Close, which waits for them
	return nil, nil
}

// begins tells whether the hand is to make a run that is not kept yet.
func (h *hand) begins() bool {
	select {
	case <-h.settled:
		return false
	default:
		return !h.resume
	}
}

func (c *Crew) dismiss(h *hand) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.cancel()
	h.settle()
	delete(c.running, h)
	if len(c.of(h.id)) == 0 {
		c.drafts.over(h.id)
	}
}

// of are the hands that a run has.
func (c *Crew) of(id string) []*hand {
	var list []*hand
	for h := range c.running {
		if h.id == id {
			list = append(list, h)
		}
	}
	return list
}

// Cancel ends a run of this crew, which can be resumed; [ErrNotRunning] says
// that it has none of that name.
func (c *Crew) Cancel(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	hands := c.of(id)
	for _, h := range hands {
		h.cancel()
	}
	if len(hands) == 0 {
		return ErrNotRunning
	}
	return nil
}

// Close takes no more runs and waits for those there are. When ctx ends first
// it cancels them, so that each can be resumed, and waits for that.
func (c *Crew) Close(ctx context.Context) {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	release := context.AfterFunc(ctx, c.stop)
	defer release()
	c.hands.Wait()
	c.stop()
}

// An opening is a journal that tells when it has taken a run, or why not.
type opening struct {
	runner.Journal
	heard chan error // one
	kept  func()     // is told when the journal has taken it
	mu    sync.Mutex
	taken bool
}

// Begin notes a new run and tells of it.
func (o *opening) Begin(s runner.Start) (runner.Recording, error) {
	r, err := o.Journal.Begin(s)
	o.hear(err)
	return r, err
}

// Reopen goes on with a run and tells of it.
func (o *opening) Reopen(id string) (runner.Recording, error) {
	r, err := o.Journal.Reopen(id)
	o.hear(err)
	return r, err
}

func (o *opening) hear(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		o.taken = true
		o.kept()
	}
	select {
	case o.heard <- err:
	default: // only the first counts
	}
}

// said tells whether the journal has taken the run.
func (o *opening) said() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.taken
}
