package orders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/serve/internal/metrics"
)

// Errors of a [Pool], besides those of the journal and of cascades.
var (
	ErrNoCascade  = errors.New("no cascade of that name is offered")
	ErrFull       = errors.New("the maximum number of runs is already running")
	ErrClosed     = errors.New("the server is shutting down")
	ErrNotRunning = errors.New("the run is not running in this process")
	errNoModel    = NewProblem(http.StatusUnprocessableEntity, "unknown_model", "no model of that name is offered")
)

// A Pool executes cascades in this process, each in its own goroutine. Make one with
// [NewPool]. It is safe for concurrent use.
type Pool struct {
	o       PoolOptions
	ctx     context.Context
	stop    context.CancelFunc
	mu      sync.Mutex
	closed  bool
	running map[*job]bool
	judging int // gates that judge posted texts
	jobs    sync.WaitGroup
	drafts  drafts
}

// A job executes one run. For a moment a run may have two: one that has just recorded its
// end, and one that resumes it. The journal prevents more.
type job struct {
	id      string
	cascade string // the offered name
	resume  bool
	cancel  context.CancelFunc
	settled chan struct{} // closed after the journal has stored the run, or the job has ended
	settle  func()        // closes settled once
}

// PoolOptions configure a [Pool].
type PoolOptions struct {
	// Store stores the runs.
	Store Store
	// Runner makes the runner for a new or resumed run, which must store it in j. For a
	// new run, s has the name, the Settings, and the ordered model, which must be the
	// runner's default.
	Runner func(s runner.Start, j runner.Journal) (*runner.Runner, error)
	// Cascades are the offered files by name.
	Cascades map[string]string
	// Models are the models that an order may name.
	Models []string
	// Settings are stored with each new run, together with "cascade", the offered name.
	Settings map[string]string
	// Limit is the maximum number of concurrent runs and judgements. Default: 16.
	Limit int
	// Log receives a line for each run that begins or ends and for the shutdown, without
	// texts of runs. Nil discards them.
	Log *slog.Logger
	// Metrics are those of the server. Each pool needs its own. Nil discards them.
	Metrics *metrics.Metrics
	// Done, if not nil, is called after each run. The error may be one of the journal or
	// a panic.
	Done func(id string, r engine.Result, err error)
}

// NewPool returns a pool without runs.
func NewPool(o PoolOptions) *Pool {
	o.Limit = cmp.Or(max(o.Limit, 0), 16)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Metrics == nil {
		o.Metrics = metrics.New()
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Pool{o: o, ctx: ctx, stop: stop, running: map[*job]bool{}}
	o.Metrics.Places(p.busy, o.Limit)
	return p
}

// Start begins a run of the cascade as its files are now, and returns when the journal
// has stored the run. It returns [ErrFull] before it reads anything.
func (p *Pool) Start(ctx context.Context, o Order) (string, error) {
	switch {
	case o.Model != "" && !slices.Contains(p.o.Models, o.Model):
		return "", errNoModel
	case o.RunID == "":
		o.RunID = runner.NewRunID(time.Now())
	}
	settings := p.settings(o.Cascade)
	return o.RunID, p.begin(ctx, &job{id: o.RunID, cascade: o.Cascade}, func(j runner.Journal) (runFunc, error) {
		r, cascade, err := p.load(o, settings, j)
		if err != nil {
			return nil, err
		}
		if wrong := cascade.CheckInput(ctx.Err, o.Input); len(wrong) > 0 {
			return nil, wrong
		}
		return func(ctx context.Context) (engine.Result, error) {
			return r.Run(ctx, cascade, o.Input, p.observe(o.RunID, o.Watched), runner.WithRunID(o.RunID), runner.WithSettings(settings))
		}, nil
	})
}

// Inputs returns the inputs of an offered cascade as its files are now.
func (p *Pool) Inputs(name string) ([]cascades.Input, error) {
	_, cascade, err := p.load(Order{Cascade: name}, p.settings(name), p.o.Store)
	if err != nil {
		return nil, err
	}
	return cascade.Inputs, nil
}

func (p *Pool) settings(cascade string) map[string]string {
	settings := map[string]string{"cascade": cascade}
	maps.Copy(settings, p.o.Settings)
	return settings
}

// load returns an offered cascade and its runner.
func (p *Pool) load(o Order, settings map[string]string, j runner.Journal) (*runner.Runner, *cascades.Cascade, error) {
	file, ok := p.o.Cascades[o.Cascade]
	if !ok {
		return nil, nil, ErrNoCascade
	}
	r, err := p.o.Runner(runner.Start{RunID: o.RunID, Model: o.Model, Settings: settings}, j)
	if err != nil {
		return nil, nil, err
	}
	cascade, err := r.Load(file)
	return r, cascade, err
}

// Resume continues a run and returns when the journal has reopened it.
func (p *Pool) Resume(ctx context.Context, id string) error {
	run, err := p.o.Store.Run(ctx, id)
	if err != nil {
		return err
	}
	start := run.Start
	return p.begin(ctx, &job{id: start.RunID, cascade: start.Settings["cascade"], resume: true}, func(j runner.Journal) (runFunc, error) {
		r, err := p.o.Runner(start, j)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (engine.Result, error) {
			return r.Resume(ctx, start.RunID, p.observe(start.RunID, true))
		}, nil
	})
}

// A runFunc executes a run to its end.
type runFunc func(context.Context) (engine.Result, error)

// begin executes a job in the background if there is a free place. It returns after the
// journal has stored the run or refused it.
func (p *Pool) begin(ctx context.Context, j *job, prepare func(runner.Journal) (runFunc, error)) error {
	own, cancel := context.WithCancel(p.ctx)
	j.cancel, j.settled = cancel, make(chan struct{})
	j.settle = sync.OnceFunc(func() { close(j.settled) })
	if err := p.admit(ctx, j); err != nil {
		cancel()
		return err
	}
	began := time.Now()
	b := &beginning{Journal: p.o.Store, metrics: p.o.Metrics, first: make(chan error, 1), onStore: func() { j.settle(); p.logBegin(j) }}
	run, err := prepare(b)
	if err != nil {
		p.remove(j)
		p.jobs.Done()
		return err
	}
	ended := make(chan error, 1)
	go func() {
		defer p.jobs.Done()
		result, err := withoutPanic(own, run)
		p.remove(j) // the place must be free before anybody learns of the end
		ended <- err
		if !b.stored() {
			return
		}
		p.logEnd(j, result, err, time.Since(began))
		if p.o.Done != nil {
			p.o.Done(j.id, result, err)
		}
	}()
	select {
	case err := <-b.first:
		if err != nil {
			<-ended // a refused run must have no job left that could be cancelled
		}
		return err
	case err := <-ended:
		if b.stored() {
			return nil // the run has begun, and is over already
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func withoutPanic(ctx context.Context, run runFunc) (r engine.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("run: panic: %v", p)
		}
	}()
	return run(ctx)
}

// admit adds a job. If another job is about to begin the run of that name, admit waits
// until the run is stored or has failed.
func (p *Pool) admit(ctx context.Context, j *job) error {
	for {
		first, err := p.tryAdmit(j)
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

// tryAdmit is admit without waiting: it returns the job to wait for, if there is one.
func (p *Pool) tryAdmit(j *job) (first *job, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.jobsOf(j.id)
	switch {
	case p.closed:
		return nil, ErrClosed
	case !j.resume && len(list) > 0:
		if i := slices.IndexFunc(list, (*job).beginning); i >= 0 {
			return list[i], nil
		}
		return nil, runner.ErrRunBusy
	}
	if err := p.ready(); err != nil {
		p.o.Metrics.Refused()
		return nil, err
	}
	p.running[j] = true
	p.jobs.Add(1) // under the lock, so that Close waits for it
	return nil, nil
}

// beginning reports whether the job is to make a run that is not stored yet.
func (j *job) beginning() bool {
	select {
	case <-j.settled:
		return false
	default:
		return !j.resume
	}
}

func (p *Pool) remove(j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j.cancel()
	j.settle()
	delete(p.running, j)
	if len(p.jobsOf(j.id)) == 0 {
		p.drafts.end(j.id)
	}
}

// jobsOf returns the jobs of a run.
func (p *Pool) jobsOf(id string) []*job {
	var list []*job
	for j := range p.running {
		if j.id == id {
			list = append(list, j)
		}
	}
	return list
}

// Cancel ends a run of this pool. The run can be resumed. Cancel returns [ErrNotRunning]
// if the pool does not execute the run.
func (p *Pool) Cancel(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.jobsOf(id)
	for _, j := range list {
		j.cancel()
	}
	if len(list) == 0 {
		return ErrNotRunning
	}
	return nil
}

// Close accepts no more runs and waits for the running ones. If ctx ends first, Close
// cancels these runs and waits for their ends. They can be resumed.
func (p *Pool) Close(ctx context.Context) {
	p.closing(ctx)
	release := context.AfterFunc(ctx, func() {
		p.o.Log.Warn("shutdown: cancel runs, which can be resumed", "runs", p.names())
		p.stop()
	})
	defer release()
	p.jobs.Wait()
	p.stop()
}
