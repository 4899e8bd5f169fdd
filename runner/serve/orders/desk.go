package orders

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/validators/schema"
)

// Runs starts, resumes and ends runs. A [*Crew] does so in this process.
type Runs interface {
	// Inputs are what an offered cascade takes, in the order of its file.
	Inputs(cascade string) ([]cascades.Input, error)
	// Start begins a run and gives its name as soon as the run is kept.
	Start(ctx context.Context, o Order) (id string, err error)
	// Resume goes on with a run in the background.
	Resume(ctx context.Context, id string) error
	// Again makes a new run of a kept one and gives its name as soon as it is kept.
	Again(ctx context.Context, id string, change Change) (string, error)
	// Cancel ends a run of this process; it can be resumed.
	Cancel(id string) error
}

// A Drafter tells what models are saying in runs of this process. A [*Crew] is one.
type Drafter interface {
	// Drafts has told called, which does not wait, whenever a model says more in a
	// run, until stop is called. Now gives what is being said, in the order of paths.
	Drafts(id string, told func()) (now func() []Draft, stop func())
}

// A Store has the runs that orders are about, and keeps answers; what each method
// promises is said at [journal.Journal].
type Store interface {
	Run(ctx context.Context, id string) (*journal.Run, error)
	Answer(ctx context.Context, id string, question event.Path, a runner.Answer) error
}

// What a [Desk] may say no with, beside what its [Runs] do.
var (
	errNone       = errors.New("this server only shows runs")
	errOther      = errors.New("there is a run of that name, of another order")
	ErrElsewhere  = errors.New("another engine runs it and holds its results: a new run could share nothing")
	errNotWaiting = errors.New("the run does not wait for an answer to that question")
)

// An UnfitError says why an answer is none to its question.
type UnfitError string

// Error gives the reason.
func (e UnfitError) Error() string { return string(e) }

// A severalError says that several questions are open, and their keys.
type severalError string

// Error returns the list.
func (e severalError) Error() string { return string(e) }

// A KeptError says that an answer is kept, and why the run does not go on with it.
type KeptError struct{ Err error }

// Error gives the reason, and that the answer need not be given again.
func (e *KeptError) Error() string { return "the answer is kept, but " + e.Err.Error() }

// Unwrap gives the reason.
func (e *KeptError) Unwrap() error { return e.Err }

// A Desk takes orders that may come twice, of people and of programs: one that is
// repeated under its name gets the run that it has made.
type Desk struct {
	Runs  // nil where runs are only shown
	Store Store
}

// A Standing is where a run stands, for who has ordered something of it.
type Standing struct {
	RunID    string `json:"run_id"`
	Status   string `json:"status"`
	Repeated bool   `json:"-"` // the run was there: the order is one that had been taken
}

// Open gives [errNone] where no orders are taken.
func (d Desk) Open() error {
	if d.Runs == nil {
		return errNone
	}
	return nil
}

// About gives the run of this whole name, of which something is to be ordered. The
// beginning of a name could be another run's tomorrow.
func (d Desk) About(ctx context.Context, id string) (*journal.Run, error) {
	if err := d.Open(); err != nil {
		return nil, err
	}
	run, err := d.Store.Run(ctx, id)
	if err == nil && run.RunID != id {
		return nil, fmt.Errorf("run %s: %w", id, runner.ErrNoRun)
	}
	return run, err
}

// Start starts a run, or gives the one that the same order has started.
func (d Desk) Start(ctx context.Context, o Order) (Standing, error) {
	id, err := d.Runs.Start(ctx, o)
	if errors.Is(err, runner.ErrRunExists) || errors.Is(err, runner.ErrRunBusy) {
		return d.same(ctx, o)
	}
	return Standing{RunID: id, Status: journal.Running}, err
}

// same is the run of an order under a name that is taken: a repetition gets
// the run, anything else a no.
func (d Desk) same(ctx context.Context, o Order) (Standing, error) {
	run, err := d.taken(ctx, o.RunID)
	if err != nil {
		return Standing{}, err
	}
	start := run.Start
	if start.Settings["cascade"] != o.Cascade || start.Model != o.Model && o.Model != "" || !equal(start.Input, o.Input) {
		return Standing{}, errOther
	}
	return Standing{run.RunID, run.Status, true}, nil
}

// taken is the run under a name that is taken.
func (d Desk) taken(ctx context.Context, id string) (*journal.Run, error) {
	run, err := d.Store.Run(ctx, id)
	if errors.Is(err, runner.ErrNoRun) || err == nil && run.RunID != id {
		return nil, runner.ErrRunBusy // another process is about to keep it
	}
	return run, err
}

// Again makes a run of a kept one, or gives the one that the same order has made.
func (d Desk) Again(ctx context.Context, run *journal.Run, change Change) (Standing, error) {
	if run.Guest {
		return Standing{}, ErrElsewhere
	}
	id, err := d.Runs.Again(ctx, run.RunID, change)
	if change.RunID == "" || !errors.Is(err, runner.ErrRunExists) && !errors.Is(err, runner.ErrRunBusy) {
		return Standing{RunID: id, Status: journal.Running}, err
	}
	there, err := d.taken(ctx, change.RunID)
	if err != nil {
		return Standing{}, err
	}
	if there.Parent != run.RunID || there.Start.From != change.From || !change.makes(there.Start.Input, run.Start.Input) {
		return Standing{}, errOther
	}
	return Standing{there.RunID, there.Status, true}, nil
}

// makes tells whether an input is what the change makes of a kept run's.
func (c Change) makes(input, kept map[string]any) bool {
	want := map[string]any{}
	for name, v := range kept {
		if _, there := input[name]; there { // else the cascade takes it no more
			want[name] = v
		}
	}
	maps.Copy(want, c.Input)
	return equal(want, input)
}

func equal(a, b any) bool {
	x, err := schema.Plain(a)
	y, wrong := schema.Plain(b)
	return err == nil && wrong == nil && reflect.DeepEqual(x, y)
}

// Answer keeps the answer to a question, as [journal.Run.Question] picks it, and goes on
// with the run; a [*KeptError] says that it could not be gone on with, an [UnfitError]
// that the answer is none, a [severalError] that it names no question.
func (d Desk) Answer(ctx context.Context, run *journal.Run, question event.Path, a runner.Answer) error {
	p, err := run.Question(question)
	switch {
	case errors.Is(err, runner.ErrSeveral):
		return severalError(runner.ErrSeveral.Error() + ": " + journal.Keys(run.Pending))
	case err != nil:
		return errNotWaiting
	}
	if wrong := p.Question.Unfit(a.Value); wrong != "" && !p.Expired {
		return UnfitError(wrong)
	}
	if err := d.Store.Answer(ctx, run.RunID, p.Path, a); err != nil {
		if errors.Is(err, runner.ErrAnswered) { // somebody else has, meanwhile
			return errNotWaiting
		}
		return err
	}
	if err := d.Resume(ctx, run.RunID); err != nil {
		return &KeptError{err}
	}
	return nil
}
