package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/internal/fences"
	"github.com/seed61713e19/capstan/runner/internal/pins"
)

// A Journal keeps runs, so that they can be gone on with and looked at.
// Package journal has one over SQLite. It is safe for concurrent use.
type Journal interface {
	// Begin notes a new run. A run of that name is [ErrRunExists].
	Begin(Start) (Recording, error)
	// Reopen goes on with a run. [ErrNoRun] says that there is none, [ErrRunBusy]
	// that somebody is running it.
	Reopen(id string) (Recording, error)
}

// What a journal may say of a run's name.
var (
	ErrRunExists = errors.New("there is a run of that name")
	ErrNoRun     = errors.New("there is no such run")
	ErrRunBusy   = errors.New("the run is running")
	ErrExpired   = errors.New("the question has expired")
	ErrAnswered  = errors.New("it waits for no answer to that question any more")
	ErrSeveral   = errors.New("several questions are open: the answer must name one")
	ErrRunTaken  = errors.New("another process has taken it over and continues it")
)

// ErrAway says that what keeps the runs is locked, full, or a server that cannot be
// reached: it may be of use again later.
var ErrAway = errors.New("what keeps the runs cannot be used at the moment")

// ErrNotKept is in the error of a run that a journal could not begin, so that it cannot
// be gone on with. Another may have its name: [ErrRunExists].
var ErrNotKept = errors.New("the run is not kept")

// A Start is what a run begins with, enough to run it again.
type Start struct {
	RunID     string
	CascadeID string
	Files     []cascades.File   // the cascade's own first
	Input     map[string]any    // plain values
	Model     string            // replaces the cascade's own default
	Settings  map[string]string // the caller's, kept with the run
	Parent    string            // a run whose effects stand in for equal ones of this run; "" for none
	From      string            // the phase from which on nothing of Parent's is used; "" for none
	Alike     string            // a run whose lots are drawn again: the journal's to say, of one that shares with another or answers from it
	Elapsed   time.Duration     // spent by earlier starts of the run

	gates func([]cascades.Gate) // see [WithGates]; nil for nobody

	Made map[string]engine.Made // what each call has spent that earlier starts of the run have made
}

// A Recording is one run that is being kept. It belongs to one process at a
// time, until End: where another takes the run, nothing more is written, and
// the next effect, and End, give [ErrRunTaken].
type Recording interface {
	Start() Start
	// Ended gives the result of a run that has ended for good: succeeded, or
	// with a no, an input or a budget that going on cannot change.
	Ended() (Result, bool)
	// Host keeps the effects and events of inner. An effect that was kept
	// already is not made again.
	Host(inner engine.Host) engine.Host
	// Owned returns [ErrRunTaken] if another process has taken the run. What makes an
	// effect asks immediately before, since a process may be paused for any time.
	Owned() error
	// End notes how the run ended and lets go of it. Only the first call counts.
	End(Result, *Error) error
}

// WithJournal has every run kept in j.
func WithJournal(j Journal) Option { return func(r *Runner) { r.journal = j } }

// WithSettings keeps the caller's own settings with the run.
func WithSettings(settings map[string]string) RunOption {
	return startOption(func(s *Start) { s.Settings = settings })
}

// WithParent makes the run share what it has in common with an earlier one of
// the same journal: a call that the parent made with the same request is not
// made again, and costs nothing. From the phase of that name on, where it is
// not "", everything is done anew.
func WithParent(run, from string) RunOption {
	return startOption(func(s *Start) { s.Parent, s.From = run, from })
}

// Resume continues a run of the runner's journal after a crash, an interrupt or a
// person's answer. The cascade is what the journal has, whatever became of its files.
// Programs are not in the journal: if one has changed since the run began, the run
// stops as [Failed]. Nothing that finished is done again. A run that has ended for
// good returns its result and needs no cascade. The options are of this part of the run: its
// model's name stays what it was. The error is an *[Error], or, where the journal
// does not give the run, its own: [ErrNoRun], [ErrRunBusy], [ErrAway] or what is
// wrong with it.
func (r *Runner) Resume(ctx context.Context, id string, options ...Option) (Result, error) {
	r = r.ofOne()
	for _, o := range options {
		o(r)
	}
	if r.journal == nil {
		return Result{}, errors.New("resume: the runner has no journal")
	}
	recording, err := r.journal.Reopen(id)
	if err != nil {
		return Result{}, err
	}
	if result, ended := recording.Ended(); ended {
		return result, errorOf(result)
	}
	start := recording.Start()
	r.modelName = start.Model // the evidence of its gates is of who answers
	c, err := r.Unpack(start.Files)
	var set *pins.Set
	if err == nil {
		set, err = r.repin(c, start)
	}
	if err != nil {
		broken := &Error{Code: Failed, Message: err.Error(), Err: err}
		result := ended(start, broken)
		return result, errors.Join(broken, recording.End(result, broken))
	}
	return r.Provide(c).record(pins.With(ctx, set), recording, func(h engine.Host, s engine.State) (Result, error) { return engine.Run(h, c, s) })
}

// record makes a run over a recording.
func (r *Runner) record(ctx context.Context, recording Recording, run func(engine.Host, engine.State) (Result, error)) (Result, error) {
	start := recording.Start()
	s := engine.State{RunID: start.RunID, Alike: start.Alike, Model: start.Model, Input: start.Input, Elapsed: start.Elapsed, Made: start.Made}
	broken := &Error{Code: Failed, Message: "a panic broke it off"}
	defer func() {
		if broken != nil { // else nobody would let go of the run while the process lives
			_ = recording.End(ended(start, broken), broken)
		}
	}()
	fenced := fences.With(ctx, recording.Owned, ErrRunTaken)
	result, err := run(recording.Host(r.host(fenced, s.RunID)), s)
	broken = nil
	var why *Error
	errors.As(err, &why)
	// Who is told that a run waits answers the one in the file.
	if e := recording.End(result, why); e != nil && (err == nil || why != nil && why.Code == Waiting) {
		why = &Error{Code: Failed, Message: fmt.Sprintf("journal: %v", e), Err: e}
		if errors.Is(e, ErrRunTaken) {
			why.Code = TakenOver
		}
		result.Status, result.Output = Failed, nil
		result.Error = why.Told()
		return result, why
	}
	return result, err
}

// errorOf is the error of a run that has ended.
func errorOf(r Result) error {
	if r.Error == nil {
		return nil
	}
	return &Error{Code: r.Error.Code, Phase: r.Error.Phase, Message: r.Error.Message, Position: cascades.Position(r.Error.Position)}
}

// ended is the result of a run that could not begin.
func ended(s Start, e *Error) Result {
	return Result{
		RunID: s.RunID, CascadeID: s.CascadeID, Status: e.Status(), Outputs: map[string]any{},
		Phases: []engine.PhaseRecord{}, Verdicts: []event.Verdict{}, Degraded: []engine.Degraded{},
		Error: e.Told(),
	}
}
