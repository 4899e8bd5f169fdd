package engine

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine/internal/parallel"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// A flow is one running cascade, or one branch of it: a host and the state.
type flow struct {
	h     Host
	c     *cascades.Cascade
	s     *State
	at    event.Path // the path of the cascade; "" for the run's own
	meter *parallel.Meter
	back  string // the cascade's id if its output is shared as outputs.<id>
	turns int    // turns of this flow
	calls int    // model calls of this flow
	main  bool   // the run's own cascade, not a branch

	history *history // nil if no phase asks a person

	locals  map[string]any // names and values of an item of each
	shadows []shadow       // deferred until the visit ends
}

// Run runs a cascade from a state. A new state needs only RunID and Input. The
// error is an *[Error], or nil if the run succeeded. The result is complete in
// both cases. If the run must continue on another host, Run returns a [*Yield]
// and no result.
func Run(h Host, c *cascades.Cascade, s State) (Result, error) {
	return runReported(h, c, s, (*flow).run)
}

// Refuse is [Run] for a run that must not begin. It performs no effects and
// reports the run's start and its end with the given error.
func Refuse(h Host, c *cascades.Cascade, s State, failure *Error) (Result, error) {
	return runReported(h, c, s, func(*flow) error { return failure })
}

// runReported runs a cascade and reports its start and its end.
func runReported(h Host, c *cascades.Cascade, s State, run func(*flow) error) (Result, error) {
	f := &flow{h: h, c: c, s: &s, main: true, meter: parallel.NewMeter(nil, c.Budget, s.Usage), history: newHistory(c)}
	f.meter.AddEarlier("", s.EarlierCalls)
	started := h.Now()
	f.prepare()
	if s.Visited == 0 { // otherwise another host has reported it
		f.emit(event.Event{Kind: event.RunStarted, RunID: s.RunID, CascadeID: c.ID, Input: s.Input})
	}
	err := run(f)
	s.Usage = f.meter.Total()
	s.Elapsed += h.Now().Sub(started)
	if errors.Is(err, ErrYield) {
		return Result{}, &Yield{s}
	}
	r := f.result(err)
	f.emit(event.Event{Kind: event.RunFinished, RunID: s.RunID, CascadeID: c.ID, Status: r.Status, Output: r.Output, Usage: &r.Usage, Error: r.Error})
	if err != nil {
		return r, fault(err)
	}
	return r, nil
}

// prepare creates the maps of a new state.
func (f *flow) prepare() {
	for _, m := range []*map[string]any{&f.s.Input, &f.s.State, &f.s.Outputs} {
		if *m == nil {
			*m = map[string]any{}
		}
	}
	if f.s.Visits == nil {
		f.s.Visits = map[string]int{}
	}
}

func (f *flow) result(err error) Result {
	r := Result{
		RunID: f.s.RunID, CascadeID: f.c.ID, Status: Succeeded, Output: f.s.Output, Outputs: f.s.Outputs,
		Phases: f.s.Phases, Verdicts: f.s.Verdicts, Answers: f.s.Answers, Usage: f.s.Usage, Degraded: f.s.Degraded,
	}
	if err != nil {
		e := fault(err)
		e.locate(f.c)
		r.Status, r.Output = e.Status(), nil
		r.Error = e.Event()
	}
	// The JSON format has empty lists, never null.
	if r.Phases == nil {
		r.Phases = []PhaseRecord{}
	}
	if r.Verdicts == nil {
		r.Verdicts = []event.Verdict{}
	}
	if r.Degraded == nil {
		r.Degraded = []Degraded{}
	}
	return r
}

// run checks the input and runs the phases within the time budget.
func (f *flow) run() error {
	if err := f.input(); err != nil {
		return err
	}
	if f.c.Budget.MaxTime == 0 {
		return f.phases()
	}
	left := max(f.c.Budget.MaxTime-f.s.Elapsed, time.Nanosecond)
	bound := f.at.Join("max_seconds")
	err := f.within(bound, left, f.phases)
	if IsOver(err, bound) {
		return &Error{Code: OverBudget, Path: f.at, keyPath: []string{"budget", "max_seconds"}, Message: reached(fmt.Sprintf("the limit of %v is reached", f.c.Budget.MaxTime), "max_seconds")}
	}
	return err
}

// within runs body with a host that is cancelled after d.
func (f *flow) within(at event.Path, d time.Duration, body func() error) error {
	outer := f.h
	defer func() { f.h = outer }()
	return outer.Within(at, d, func(h Host) error {
		f.h = h
		return body()
	})
}

// input sets defaults and checks the enforced inputs. It rejects inputs of a
// model's call that the cascade neither declares nor reads.
func (f *flow) input() error {
	if wrong := f.c.Unread(f.s.Input); len(wrong) > 0 && !f.main && !f.s.seen {
		return &Error{Code: Invalid, Path: f.at, keyPath: []string{"inputs_schema"}, Message: wrong.Error()}
	}
	f.s.Input = maps.Clone(f.s.Input)
	for _, in := range f.c.Inputs {
		value, given := f.s.Input[in.Name]
		if !given && in.HasDefault {
			value, given = in.Default, true
			f.s.Input[in.Name] = value
		}
		switch {
		case in.Schema == nil:
		case !given:
			return &Error{Code: Invalid, Path: f.at, keyPath: []string{"inputs_schema", in.Name}, Message: strings.TrimSuffix("input "+in.Name+" is missing: "+in.Description, ": ")}
		default:
			broken, err := in.Schema.Check(f.h.Stopped, value)
			if err != nil {
				return f.stoppedOr(unreadable(f.at, "input "+in.Name, err, "inputs_schema", in.Name))
			}
			if len(broken) > 0 {
				return unreadable(f.at, "input "+in.Name, broken[0], "inputs_schema", in.Name)
			}
		}
	}
	return nil
}

// stoppedOr returns the host's error if the host has stopped, or else e.
func (f *flow) stoppedOr(e error) error {
	if err := f.h.Stopped(); err != nil {
		return err
	}
	return e
}

// phases runs the phases one after another until the last.
func (f *flow) phases() error {
	if f.c.Tries != nil && !f.s.Done {
		return f.tries()
	}
	if f.s.Next == "" && !f.s.Done {
		f.s.Next = f.c.Phases[0].Name
	}
	for !f.s.Done {
		p, _ := f.c.Phase(f.s.Next)
		if p == nil {
			return &Error{Code: Invalid, Message: fmt.Sprintf("no phase is called %q", f.s.Next)}
		}
		if !f.s.InPhase { // otherwise another host has counted the visit
			if f.s.Visited >= f.c.Budget.MaxPhases {
				return &Error{Code: OverBudget, Phase: p.Name, Path: f.at, keyPath: []string{"budget", "max_phases"}, Message: reached(fmt.Sprintf("%d of %d phases visited", f.s.Visited, f.c.Budget.MaxPhases), "max_phases")}
			}
			f.s.Visited++
			f.s.Visits[p.Name]++
		}
		if err := f.phase(p); err != nil {
			return err
		}
		f.s.InPhase, f.s.Items, f.s.Done = false, nil, f.s.Next == ""
		f.s.Usage = f.meter.Total()
		if err := f.checkpoint(); err != nil {
			return err
		}
	}
	if last := f.s.Last; last != "" && f.s.Visits[last] == 0 {
		return &Error{Code: Invalid, Message: fmt.Sprintf("the run ends before phase %s", last)}
	}
	return nil
}

// checkpoint reports the run's progress to the host. Nested flows only ask the
// host whether to continue.
func (f *flow) checkpoint() error {
	if !f.main {
		return f.h.Stopped()
	}
	return f.h.Checkpoint(*f.s)
}

// path returns the path of this visit to a phase: draft, then draft[2].
func (f *flow) path(p *cascades.Phase) event.Path {
	if n := f.s.Visits[p.Name]; n > 1 {
		return f.at.At(p.Name, n)
	}
	return f.at.Join(p.Name)
}

func (f *flow) emit(e event.Event) {
	f.history.add(e)
	f.h.Emit(e)
}

// nested runs another cascade from a state with its input and returns its final
// state. The argument back is the cascade's id if its output is shared with
// this cascade.
func (f *flow) nested(at event.Path, c *cascades.Cascade, s *State, back string) (*State, error) {
	s.RunID, s.SeedRun, s.Model, s.EarlierCalls = f.s.RunID, f.s.SeedRun, f.s.Model, f.s.EarlierCalls
	if len(s.DefaultModel) == 0 {
		s.DefaultModel = f.c.Default(f.s.DefaultModel)
	}
	child := &flow{h: f.h, c: c, s: s, at: at.Join(c.ID), meter: parallel.NewMeter(f.meter, c.Budget, model.Usage{}), back: back, history: f.history}
	if child.history == nil {
		child.history = newHistory(c)
	}
	if b := c.Budget; b.MaxCalls > 0 || b.MaxTokens > 0 || b.MaxCostUSD > 0 {
		child.meter.AddEarlier(string(child.at)+"/", s.EarlierCalls)
	}
	child.prepare()
	err := child.run()
	f.s.Verdicts, f.s.Answers = append(f.s.Verdicts, s.Verdicts...), append(f.s.Answers, s.Answers...)
	for _, d := range s.Degraded {
		f.s.Degraded = append(f.s.Degraded, Degraded{Phase: c.ID + "/" + d.Phase, Checks: d.Checks})
	}
	f.calls += child.calls
	if err != nil {
		// The error's phase must be a phase of the calling cascade.
		e := *fault(err)
		e.locate(c)
		where := "cascade " + c.ID + ": "
		if e.Phase != "" {
			where += "phase " + e.Phase + ": "
		}
		e.publicMessage, e.Message, e.Phase = where+e.public(), where+e.Message, ""
		return nil, &e
	}
	return s, nil
}

// model returns the model for a phase or validator. The argument is its own
// model, if the file names one.
func (f *flow) model(own cascades.Model) cascades.Model {
	return cascades.Chosen(f.s.Model).Of(own, f.c.Default(f.s.DefaultModel))
}

// after returns the phase that follows p in the file, or "".
func (f *flow) after(p *cascades.Phase) string {
	if _, i := f.c.Phase(p.Name); i+1 < len(f.c.Phases) {
		return f.c.Phases[i+1].Name
	}
	return ""
}
