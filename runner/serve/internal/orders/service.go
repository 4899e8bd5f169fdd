package orders

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"

	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A Store contains runs, stores answers, and records the runs of a [Pool].
// [journal.Journal] documents the methods.
type Store interface {
	runner.Journal
	Run(ctx context.Context, id string) (*journal.Run, error)
	Answer(ctx context.Context, id string, question event.Path, a engine.Answer) error
}

// Problems of a [Service].
var (
	errNoRuns     = NewProblem(http.StatusNotImplemented, "not_offered", "this server only shows runs")
	errOtherRun   = NewProblem(http.StatusConflict, "run_exists", "there is a run of that name, of another order")
	errNotWaiting = NewProblem(http.StatusConflict, "not_waiting", "the run does not wait for an answer to that question")
)

// A NotResumedError is the reason why a run did not resume after its answer was stored.
type NotResumedError struct{ Err error }

// Error returns the reason, and that the answer is stored.
func (e *NotResumedError) Error() string { return "the answer is stored, but " + e.Err.Error() }

// Unwrap returns the reason.
func (e *NotResumedError) Unwrap() error { return e.Err }

// A Service executes the requests of people and programs. A repeated request under the
// same run name returns the run that the first one made.
type Service struct {
	*Pool // nil if the server only shows runs
	Store Store
}

// A RunState is the answer to a request that changes a run.
type RunState struct {
	RunID    string `json:"run_id"`
	Status   string `json:"status"`
	Repeated bool   `json:"-"` // an earlier request made the run
}

// Enabled returns nil if the server accepts requests that change runs.
func (s Service) Enabled() error {
	if s.Pool == nil {
		return errNoRuns
	}
	return nil
}

// Run returns the run that a request is to change. The name must be complete: tomorrow
// its beginning could name another run.
func (s Service) Run(ctx context.Context, id string) (*journal.Run, error) {
	if err := s.Enabled(); err != nil {
		return nil, err
	}
	run, err := s.Store.Run(ctx, id)
	if err == nil && run.RunID != id {
		return nil, fmt.Errorf("run %s: %w", id, runner.ErrNoRun)
	}
	return run, err
}

// Start starts a run, or returns the run that the same order has started.
func (s Service) Start(ctx context.Context, o Order) (RunState, error) {
	id, err := s.Pool.Start(ctx, o)
	if !errors.Is(err, runner.ErrRunExists) && !errors.Is(err, runner.ErrRunBusy) {
		return RunState{RunID: id, Status: journal.Running}, err
	}
	run, err := s.existing(ctx, o.RunID)
	if err != nil {
		return RunState{}, err
	}
	start := run.Start
	if start.Settings["cascade"] != o.Cascade || start.Model != o.Model && o.Model != "" || !equal(start.Input, o.Input) {
		return RunState{}, errOtherRun
	}
	return RunState{run.RunID, run.Status, true}, nil
}

// existing returns the run whose name is taken. It returns [runner.ErrRunBusy] if
// another process has not stored the run yet.
func (s Service) existing(ctx context.Context, id string) (*journal.Run, error) {
	run, err := s.Store.Run(ctx, id)
	if errors.Is(err, runner.ErrNoRun) || err == nil && run.RunID != id {
		return nil, runner.ErrRunBusy
	}
	return run, err
}

// Again makes a run from a stored one, or returns the run that the same request has made.
func (s Service) Again(ctx context.Context, run *journal.Run, change Change) (RunState, error) {
	if run.External {
		return RunState{}, nextsteps.ErrElsewhere
	}
	id, err := s.Pool.Again(ctx, run.RunID, change)
	if change.RunID == "" || !errors.Is(err, runner.ErrRunExists) && !errors.Is(err, runner.ErrRunBusy) {
		return RunState{RunID: id, Status: journal.Running}, err
	}
	made, err := s.existing(ctx, change.RunID)
	if err != nil {
		return RunState{}, err
	}
	if made.Parent != run.RunID || made.Start.From != change.From || !change.makes(made.Start.Input, run.Start.Input) {
		return RunState{}, errOtherRun
	}
	return RunState{made.RunID, made.Status, true}, nil
}

// makes reports whether the change turns the stored input into this input. The current
// cascade may no longer have some of the stored inputs.
func (c Change) makes(input, stored map[string]any) bool {
	want := map[string]any{}
	for name, v := range stored {
		if _, found := input[name]; found {
			want[name] = v
		}
	}
	maps.Copy(want, c.Input)
	return equal(want, input)
}

func equal(a, b any) bool {
	x, errA := schema.Plain(a)
	y, errB := schema.Plain(b)
	return errA == nil && errB == nil && reflect.DeepEqual(x, y)
}

// Answer stores the answer to a question, which [journal.Run.Question] finds, and resumes
// the run. It returns a [*NotResumedError] if only the second step fails.
func (s Service) Answer(ctx context.Context, run *journal.Run, question event.Path, a engine.Answer) error {
	p, err := run.Question(question)
	switch {
	case errors.Is(err, runner.ErrSeveral):
		return NewProblem(http.StatusConflict, "several_questions", runner.ErrSeveral.Error()+": "+journal.Keys(run.Pending))
	case err != nil:
		return errNotWaiting
	}
	if wrong := p.Question.Problem(a.Value); wrong != "" && !p.Expired {
		return NewProblem(http.StatusUnprocessableEntity, "bad_answer", wrong)
	}
	if err := s.Store.Answer(ctx, run.RunID, p.Path, a); err != nil {
		if errors.Is(err, runner.ErrAnswered) { // somebody else was faster
			return errNotWaiting
		}
		return err
	}
	if err := s.Resume(ctx, run.RunID); err != nil {
		return &NotResumedError{err}
	}
	return nil
}
