package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/fences"
	"github.com/seed61713e19/capstan/internal/pins"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// A Journal stores runs, so that they can be resumed and inspected. Package
// journal implements it with SQLite. A Journal must be safe for concurrent use.
type Journal interface {
	// Begin records a new run. It returns [ErrRunExists] if the name is in use.
	Begin(Start) (Recording, error)
	// Reopen resumes a run. It returns [ErrNoRun] for an unknown run and
	// [ErrRunBusy] for a running one.
	Reopen(id string) (Recording, error)
}

// The errors of a journal about a run's name.
var (
	ErrRunExists = errors.New("there is a run of that name")
	ErrNoRun     = errors.New("there is no such run")
	ErrRunBusy   = errors.New("the run is running")
	ErrExpired   = errors.New("the question has expired")
	ErrAnswered  = errors.New("it waits for no answer to that question any more")
	ErrSeveral   = errors.New("several questions are open: the answer must name one")
	ErrRunTaken  = errors.New("another process has taken over the run and continues it")
)

// ErrAway means that the store is locked, full or unreachable. It may be
// available later.
var ErrAway = errors.New("what keeps the runs cannot be used at the moment")

// ErrNotKept means that the journal could not record a run, so that the run
// cannot be resumed. Its name may be in use: [ErrRunExists].
var ErrNotKept = errors.New("the run is not kept")

// A Start contains everything to run a cascade again.
type Start struct {
	RunID     string
	CascadeID string
	Files     []cascades.File   // the cascade's file first
	Input     map[string]any    // plain values
	Model     string            // replaces the cascade's default
	Settings  map[string]string // settings of the caller
	Parent    string            // a run whose equal effects this run reuses; "" for none
	From      string            // the phase from which nothing of Parent is reused; "" for none
	Only      string            // the only phase that is not Parent's, after which the run ends; "" for none
	Alike     string            // the run whose random choices are repeated; set by the journal
	Elapsed   time.Duration     // time of earlier starts

	gates func([]cascades.Gate) // see [WithGates]; may be nil

	Made map[string]engine.EarlierCall // calls of earlier starts of the run
}

// A Recording is one run in a journal. It belongs to one process until End. If
// another process takes the run over, this process stops writing. The next
// effect and End then return [ErrRunTaken].
type Recording interface {
	Start() Start
	// Ended returns the result of a run that cannot be resumed: it succeeded,
	// or it failed in a way that a resume cannot change.
	Ended() (engine.Result, bool)
	// Host returns a host that records the effects and events of inner. It does
	// not repeat recorded effects.
	Host(inner engine.Host) engine.Host
	// Owned returns [ErrRunTaken] if another process has taken the run. Callers
	// must check it immediately before an effect, because a process may be
	// paused at any time.
	Owned() error
	// End records the end of the run and releases it. Only the first call has
	// an effect.
	End(engine.Result, *engine.Error) error
}

// WithJournal records every run in j.
func WithJournal(j Journal) Option { return func(r *Runner) { r.journal = j } }

// WithSettings stores the caller's settings with the run.
func WithSettings(settings map[string]string) RunOption {
	return startOption(func(s *Start) { s.Settings = settings })
}

// WithParent reuses the effects of an earlier run of the same journal. A call
// with the same request is not repeated and costs nothing. If from is not "",
// nothing is reused from that phase on.
func WithParent(run, from string) RunOption {
	return startOption(func(s *Start) { s.Parent, s.From = run, from })
}

// WithOnly runs one phase with the outputs of an earlier run of the same journal. The
// earlier phases must be those of that run. Their calls are taken from it, and any
// other call there fails the run. The run ends after the phase, so its result says
// nothing about later phases.
func WithOnly(run, phase string) RunOption {
	return startOption(func(s *Start) { s.Parent, s.From, s.Only = run, phase, phase })
}

// checkOnly returns an error if the runner cannot run a phase of the cascade alone.
func (r *Runner) checkOnly(c *cascades.Cascade, phase string) *engine.Error {
	p, _ := c.Phase(phase)
	switch {
	case phase == "":
		return nil
	case c.Tries != nil:
		return &engine.Error{Code: engine.Invalid, Message: fmt.Sprintf("%s has soundings of the whole cascade: no phase runs alone", c.File)}
	case p == nil:
		return &engine.Error{Code: engine.Invalid, Message: fmt.Sprintf("%s has no phase %s that can run alone", c.File, phase)}
	case r.journal == nil:
		return &engine.Error{Code: engine.Invalid, Message: fmt.Sprintf("phase %s cannot run alone: the runner has no journal with the other phases", phase)}
	}
	return nil
}

// Resume continues a run of the runner's journal after a crash, an interrupt or a
// person's answer. It does not repeat completed work. It uses the stored cascade, even if
// the files have changed or are missing. The journal does not contain programs: if a
// program has changed since the run began, the run ends as [engine.Failed].
//
// For a finished run, Resume returns the stored result. The options apply to this part of
// the run only, and the run keeps its model's name. The error is an *[engine.Error]. If
// the journal does not return the run, the error is the journal's own, such as
// [ErrNoRun], [ErrRunBusy] or [ErrAway].
func (r *Runner) Resume(ctx context.Context, id string, options ...Option) (_ engine.Result, err error) {
	defer func() { addContextError(ctx, err) }()
	r = r.ofOne()
	for _, o := range options {
		o(r)
	}
	if r.journal == nil {
		return engine.Result{}, errors.New("resume: the runner has no journal")
	}
	recording, err := r.journal.Reopen(id)
	if err != nil {
		return engine.Result{}, err
	}
	if result, ended := recording.Ended(); ended {
		return result, errorOf(result)
	}
	start := recording.Start()
	r.modelName = start.Model // the models are part of the gates' evidence
	c, err := r.Unpack(start.Files)
	var set *pins.Set
	if err == nil {
		set, err = r.repin(c, start)
	}
	if err != nil {
		broken := &engine.Error{Code: engine.Failed, Message: err.Error(), Err: err}
		result := ended(start, broken)
		return result, errors.Join(broken, recording.End(result, broken))
	}
	return r.Provide(c).record(pins.With(ctx, set), recording, func(h engine.Host, s engine.State) (engine.Result, error) { return engine.Run(h, c, s) })
}

// record runs a cascade over a recording.
func (r *Runner) record(ctx context.Context, recording Recording, run func(engine.Host, engine.State) (engine.Result, error)) (engine.Result, error) {
	start := recording.Start()
	s := engine.State{RunID: start.RunID, SeedRun: start.Alike, Model: start.Model, Input: start.Input, Last: start.Only, Elapsed: start.Elapsed, EarlierCalls: start.Made}
	broken := &engine.Error{Code: engine.Failed, Message: "a panic broke it off"}
	defer func() {
		if broken != nil { // otherwise the run stays locked while the process lives
			_ = recording.End(ended(start, broken), broken)
		}
	}()
	fenced := fences.With(ctx, recording.Owned, ErrRunTaken)
	result, err := run(recording.Host(r.host(fenced, s.RunID)), s)
	broken = nil
	var failure *engine.Error
	errors.As(err, &failure)
	// a waiting run must be in the journal before the caller reports it
	if e := recording.End(result, failure); e != nil && (err == nil || failure != nil && failure.Code == engine.Waiting) {
		failure = &engine.Error{Code: engine.Failed, Message: fmt.Sprintf("journal: %v", e), Err: e}
		if errors.Is(e, ErrRunTaken) {
			failure.Code = engine.TakenOver
		}
		result.Status, result.Output = engine.Failed, nil
		result.Error = failure.Event()
		return result, failure
	}
	return result, err
}

// errorOf returns the error of a finished run.
func errorOf(r engine.Result) error {
	if r.Error == nil {
		return nil
	}
	return &engine.Error{Code: r.Error.Code, Phase: r.Error.Phase, Message: r.Error.Message, Position: syntax.Position(r.Error.Position)}
}

// ended returns the result of a run that could not begin.
func ended(s Start, e *engine.Error) engine.Result {
	return engine.Result{
		RunID: s.RunID, CascadeID: s.CascadeID, Status: e.Status(), Outputs: map[string]any{},
		Phases: []engine.PhaseRecord{}, Verdicts: []event.Verdict{}, Degraded: []engine.Degraded{},
		Error: e.Event(),
	}
}
