package engine

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/shared"
)

// A flow is one cascade being run, or one branch of it: a host and the state
// it works on.
type flow struct {
	h     Host
	c     *cascades.Cascade
	s     *State
	at    event.Path // of the cascade; "" for the run's own
	meter *shared.Meter
	back  string // the cascade's id, where its output comes back as outputs.<id>
	turns int    // made by this flow
	calls int    // of models, made by this flow
	main  bool   // the run's own, and no branch of it

	locals  map[string]any // of an item of each: the item and its index, by their names
	shadows []shadow       // that wait for the end of their visit
}

// Run runs a cascade from a state: a new one needs only RunID and Input. The
// error is an *[Error], and nil where the run succeeded; the result is whole
// either way. Where the host wants the run gone on with elsewhere the error is a
// [*Yield], and there is no result.
func Run(h Host, c *cascades.Cascade, s State) (Result, error) {
	return told(h, c, s, (*flow).run)
}

// Refuse is [Run] for a run that why keeps from beginning: nothing is done, and
// all is told.
func Refuse(h Host, c *cascades.Cascade, s State, why *Error) (Result, error) {
	return told(h, c, s, func(*flow) error { return why })
}

// told runs a cascade and tells of its beginning and its end.
func told(h Host, c *cascades.Cascade, s State, run func(*flow) error) (Result, error) {
	f := &flow{h: h, c: c, s: &s, main: true, meter: shared.NewMeter(nil, c.Budget, s.Usage)}
	f.meter.Made("", s.Made)
	started := h.Now()
	f.prepare()
	if s.Visited == 0 { // else another host has told it
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

// prepare makes the maps of a new state.
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
		r.Error = e.Told()
	}
	// The JSON shape promises lists, never null.
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

// run checks the input and runs the phases, within the budget's time.
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
		return &Error{Code: OverBudget, Path: f.at, way: []string{"budget", "max_seconds"}, Message: reached(fmt.Sprintf("the limit of %v is reached", f.c.Budget.MaxTime), "max_seconds")}
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

// input fills in defaults and checks the enforced inputs, and that the call of a
// model gives none that the cascade neither declares nor reads.
func (f *flow) input() error {
	if wrong := f.c.Unread(f.s.Input); len(wrong) > 0 && !f.main && !f.s.seen {
		return &Error{Code: Invalid, Path: f.at, way: []string{"inputs_schema"}, Message: wrong.Error()}
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
			return &Error{Code: Invalid, Path: f.at, way: []string{"inputs_schema", in.Name}, Message: strings.TrimSuffix("input "+in.Name+" is missing: "+in.Description, ": ")}
		default:
			broken, err := in.Schema.Check(f.h.Stopped, value)
			if err != nil {
				return f.untold(unread(f.at, "input "+in.Name, err, "inputs_schema", in.Name))
			}
			if len(broken) > 0 {
				return unread(f.at, "input "+in.Name, broken[0], "inputs_schema", in.Name)
			}
		}
	}
	return nil
}

// untold is the error of a computation that did not come to its end: why the
// host stopped it, or else e.
func (f *flow) untold(e error) error {
	if err := f.h.Stopped(); err != nil {
		return err
	}
	return e
}

// phases runs phase after phase until there is none left.
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
		if !f.s.Within { // else the visit was counted where it began, on another host
			if f.s.Visited >= f.c.Budget.MaxPhases {
				return &Error{Code: OverBudget, Phase: p.Name, Path: f.at, way: []string{"budget", "max_phases"}, Message: reached(fmt.Sprintf("%d of %d phases visited", f.s.Visited, f.c.Budget.MaxPhases), "max_phases")}
			}
			f.s.Visited++
			f.s.Visits[p.Name]++
		}
		if err := f.phase(p); err != nil {
			return err
		}
		f.s.Within, f.s.Items, f.s.Done = false, nil, f.s.Next == ""
		f.s.Usage = f.meter.Total()
		if err := f.checkpoint(); err != nil {
			return err
		}
	}
	return nil
}

// checkpoint tells the host how far the run is. What runs within a phase is not
// all of it: there the host only says whether it goes on.
func (f *flow) checkpoint() error {
	if !f.main {
		return f.h.Stopped()
	}
	return f.h.Checkpoint(*f.s)
}

// path is the address of this visit to a phase: draft, then draft[2].
func (f *flow) path(p *cascades.Phase) event.Path {
	if n := f.s.Visits[p.Name]; n > 1 {
		return f.at.At(p.Name, n)
	}
	return f.at.Join(p.Name)
}

func (f *flow) emit(e event.Event) { f.h.Emit(e) }

// nested runs another cascade within this one, from a state that has its input, and
// gives what it left; back is its id where this one's outputs get it.
func (f *flow) nested(at event.Path, c *cascades.Cascade, s *State, back string) (*State, error) {
	s.RunID, s.Alike, s.Model, s.Made = f.s.RunID, f.s.Alike, f.s.Model, f.s.Made
	if len(s.Given) == 0 {
		s.Given = f.c.Default(f.s.Given)
	}
	child := &flow{h: f.h, c: c, s: s, at: at.Join(c.ID), meter: shared.NewMeter(f.meter, c.Budget, model.Usage{}), back: back}
	if b := c.Budget; b.MaxCalls > 0 || b.MaxTokens > 0 || b.MaxCostUSD > 0 {
		child.meter.Made(string(child.at)+"/", s.Made)
	}
	child.prepare()
	err := child.run()
	f.s.Verdicts, f.s.Answers = append(f.s.Verdicts, s.Verdicts...), append(f.s.Answers, s.Answers...)
	for _, d := range s.Degraded {
		f.s.Degraded = append(f.s.Degraded, Degraded{Phase: c.ID + "/" + d.Phase, Checks: d.Checks})
	}
	f.calls += child.calls
	if err != nil {
		// The phase of this cascade that the error is told of is the caller's.
		e := *fault(err)
		e.locate(c)
		where := "cascade " + c.ID + ": "
		if e.Phase != "" {
			where += "phase " + e.Phase + ": "
		}
		e.told, e.Message, e.Phase = where+e.abroad(), where+e.Message, ""
		return nil, &e
	}
	return s, nil
}

// model gives the model for a phase or validator that asks for one of its own,
// or for none.
func (f *flow) model(own cascades.Model) cascades.Model {
	return cascades.Chosen(f.s.Model).Of(own, f.c.Default(f.s.Given))
}

// after is the phase that follows p in the file, or "".
func (f *flow) after(p *cascades.Phase) string {
	if _, i := f.c.Phase(p.Name); i+1 < len(f.c.Phases) {
		return f.c.Phases[i+1].Name
	}
	return ""
}
