package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/engine/internal/parallel"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// A visit is one run of a phase within a flow.
type visit struct {
	*flow
	p         *cascades.Phase
	at        event.Path
	record    PhaseRecord
	system    string // the system message of the phase's conversations; "" for none
	prompt    string // the message of the first turn
	validated string // why the previous phase ended without an output, for templates
	tackle    []model.Tool
	list      []any          // the items of each
	base      map[string]any // the state before the first attempt, restored if nothing is released
	before    map[string]any // the state before the visit
	degraded  int            // length of Degraded before the visit, sub-cascades included
}

// A release is the result of a phase.
type release struct {
	candidate
	by    *try   // the author of the text; nil if there is none
	route string // chosen by the model, or by on_exhausted
	left  string // why the phase ends without an output
	broke bool   // left describes an error

	failures []event.Failure // of the items, with on_failure: keep
}

// phase runs one visit to p and sets the next phase.
func (f *flow) phase(p *cascades.Phase) error {
	v := f.visit(p, f.path(p))
	r, err := v.pass()
	if errors.Is(err, ErrYield) {
		return err // f.s stays the state within the phase
	}
	f.s.ValidationError = ""
	switch {
	case err != nil:
		return err
	case p.Name == f.s.Last:
		return v.last(r)
	case v.record.Status == skipped:
		f.s.Next = f.past(p)
		return nil
	case r.left != "":
		f.s.ValidationError = r.left
		v.goTo(r.route, r.left)
		return nil
	}
	next, err := v.next(r)
	if err == nil {
		v.goTo(next, "")
	}
	return err
}

func (f *flow) visit(p *cascades.Phase, at event.Path) *visit {
	return &visit{flow: f, p: p, at: at, record: PhaseRecord{Name: p.Name}, validated: f.s.ValidationError, before: f.s.State, degraded: len(f.s.Degraded)}
}

// pass runs a visit except for the routing: condition, events, work and
// records.
func (v *visit) pass() (release, error) {
	if v.p.When != nil {
		ok, err := v.p.When.EvalUntil(v.h.Stopped, v.subject("", nil, 0, 0))
		if err != nil {
			return v.settle(release{}, v.stoppedOr(unreadable(v.at, "when", err)))
		}
		if !ok {
			v.record.Status = skipped
			v.s.Phases = append(v.s.Phases, v.record)
			v.emit(event.Event{Kind: event.PhaseFinished, Path: v.at, Phase: v.p.Name, CascadeID: v.back, Status: skipped})
			return release{}, nil
		}
	}
	unlisted := v.listed()
	if !v.goesOn() {
		v.emit(event.Event{Kind: event.PhaseStarted, Path: v.at, Phase: v.p.Name, Items: len(v.list)})
	}
	if unlisted != nil {
		return v.settle(release{}, unlisted)
	}
	turns, calls := v.turns, v.calls
	r, err := v.run()
	if errors.Is(err, ErrYield) {
		return r, err
	}
	if e := broke(err); e != nil && v.p.Rules.OnError != "" {
		r, err = release{route: v.p.Rules.OnError, left: v.publicError(e), broke: true}, nil
	}
	v.record.Turns, v.record.ModelCalls = v.turns-turns, v.calls-calls
	return v.settle(r, err)
}

// broke returns an error that ends only its phase or try. It returns nil for
// other errors.
func broke(err error) *Error {
	var e *Error
	if errors.As(err, &e) && (e.overweight || e.Code == Failed && (e.Err == nil || stops(err) == nil)) {
		return e
	}
	return nil
}

// run runs a phase except for the routing (LANGUAGE §2).
func (v *visit) run() (release, error) {
	switch {
	case v.p.Each != nil:
		return v.items()
	case v.p.Together != nil:
		return v.group()
	default:
		return v.whole()
	}
}

// whole runs the phase, for each item if the phase has each, and then its
// shadow checks.
func (v *visit) whole() (release, error) {
	r, err := v.done()
	return r, v.shadowed(err)
}

// done runs the phase.
func (v *visit) done() (release, error) {
	err := v.subs()
	v.degraded = len(v.s.Degraded) // the degraded entries of the sub-cascades stay
	if err != nil {
		return release{}, err
	}
	v.base = v.s.State
	if err := v.instruct(); err != nil {
		return release{}, err
	}
	if err := v.pre(v.at); err != nil {
		return release{}, err
	}
	r, err := v.attempts()
	if err == nil && r.left == "" && v.p.Edits() {
		by := r.by
		r, err = v.unanswered(v.newEdit(r).run(nil))
		r.by = by
	}
	if err != nil || r.left != "" {
		return r, err
	}
	v.keepValid(r)
	if err := v.extract(&r); err != nil {
		return v.instead(err)
	}
	if r, err = v.unanswered(r, v.ask(r)); err != nil || r.left != "" {
		return r, err
	}
	err = v.choice(&r)
	return r, err
}

// instruct renders the system text and the instructions.
func (v *visit) instruct() (err error) {
	if v.p.System != nil {
		if v.system, err = v.p.System.Render(v.vars(v.p.System)); err != nil {
			return unreadable(v.at, "system", err)
		}
	}
	if v.p.Instructions != nil {
		text, err := v.p.Instructions.Render(v.vars(v.p.Instructions))
		if err != nil {
			return unreadable(v.at, "instructions", err)
		}
		v.prompt = messages.PhaseTask(v.s.Task, text)
	}
	return nil
}

func (v *visit) attempts() (release, error) {
	if v.p.Soundings != nil {
		return v.soundings()
	}
	return v.newTry(v.at).run(nil)
}

// instead returns the result of an exhausted phase: the route of on_exhausted
// if it names a phase, or else the error.
func (v *visit) instead(err error) (release, error) {
	e, where := fault(err), v.p.Rules.Instead()
	if where == "" || e.Code != Exhausted {
		return release{}, err
	}
	return release{route: where, left: v.publicError(e)}, nil
}

// unreleased drops the visit's entries of Degraded if the visit ends without an
// output, because its texts were not used.
func (v *visit) unreleased() { v.s.Degraded = slices.Clip(v.s.Degraded[:v.degraded]) }

// settle records and reports the result of the visit.
func (v *visit) settle(r release, err error) (release, error) {
	v.record.Status = Succeeded
	switch {
	case err != nil:
		named := *fault(err)
		e := &named
		e.Phase = cmp.Or(e.Phase, v.p.Name)
		e.publicMessage = v.publicError(e)
		err, v.record.Status = e, e.Status()
	case r.broke:
		v.record.Status = Failed
	case r.left != "":
		v.record.Status = Exhausted
	case len(r.unmet) > 0:
		v.record.Status = degraded
		v.s.Degraded = append(v.s.Degraded, Degraded{Phase: v.p.Name, Checks: r.unmet})
	}
	v.record.Failures = r.failures
	v.s.Phases = append(v.s.Phases, v.record)
	done := event.Event{Kind: event.PhaseFinished, Path: v.at, Phase: v.p.Name, CascadeID: v.back, Status: v.record.Status, Failures: r.failures}
	if err != nil || r.left != "" {
		if v.base != nil {
			v.s.State = v.base
		}
		v.unreleased()
		v.s.Previous = "" // the next phase's predecessor has no output
		v.emit(done)
		return r, err
	}
	done.Output, done.Released = r.value, r.at
	v.emit(done)
	v.s.release(v.p.Name, r.value)
	v.s.Output, v.s.Previous = r.value, v.p.Name
	v.s.Lineage = append(v.s.Lineage, Passage{Phase: v.p.Name, Output: r.value, Set: parallel.Changed(v.before, v.s.State)})
	return r, nil
}

// subs runs the sub-cascades.
// inherit adds the declared inputs that are missing in the input of a nested cascade, from
// the input of the outer one.
func inherit(c *cascades.Cascade, input, outer map[string]any) {
	for _, in := range c.Inputs {
		value, found := outer[in.Name]
		if _, given := input[in.Name]; found && !given {
			input[in.Name] = value
		}
	}
}

func (v *visit) subs() error {
	for i, sub := range v.p.Subs {
		at := v.at.At("sub", i)
		input, err := sub.InputMap.Render(v.vars(sub.InputMap))
		if err != nil {
			return unreadable(at, "input_map", err, "sub_cascades", strconv.Itoa(i), "input_map")
		}
		begin := &State{Input: input, seen: true}
		if sub.ContextIn || sub.ContextOut {
			begin.reserved = v.reserves
		}
		if sub.ContextIn {
			begin.State = v.s.State
			inherit(sub.Cascade, input, v.s.Input)
		}
		back := ""
		if sub.ContextOut {
			back = sub.Cascade.ID
		}
		s, err := v.nested(at, sub.Cascade, begin, back)
		if err != nil {
			return err
		}
		if sub.ContextOut {
			for key, value := range s.State {
				v.s.Set(key, value)
			}
			v.s.release(sub.Cascade.ID, s.Output)
		}
	}
	return nil
}

// pre runs the pre-wards on the rendered system text and instructions, or on a
// tool's inputs.
func (v *visit) pre(at event.Path) error {
	if len(v.p.Wards.Pre) == 0 {
		return nil
	}
	content, value := messages.WithSystem(v.system, v.prompt), any(nil)
	if v.p.Tool != nil {
		inputs, err := v.p.Inputs.Render(v.vars(v.p.Inputs))
		if err != nil {
			return unreadable(v.at, "inputs", err)
		}
		content, value = messages.Text(inputs), inputs
	}
	outcomes, err := v.checks(place{at: at, phase: v.p.Name}, v.p.Wards.Pre, v.begun(content, value))
	if err != nil {
		return err
	}
	if d := new(wards.Budget).Decide(1, outcomes); d.Action != wards.Release {
		return decided(at, d)
	}
	return nil
}

// begun returns the subject of pre-wards. It includes the reason why the
// previous phase failed, because that may contain a judge's words and later
// turns may read it.
func (v *visit) begun(content string, value any) validators.Subject {
	if !strings.Contains(content, v.validated) {
		content += "\n\n" + v.validated
	}
	return v.subject(content, value, 0, 0)
}

// keepValid stores an output that follows the phase's schema in the state.
// Parallel phases have no last one, so they store nothing.
func (v *visit) keepValid(r release) {
	if _, i := v.c.Phase(v.p.Name); i >= 0 && v.p.OutputSchema != nil && !slices.Contains(r.unmet, v.p.SchemaWard.Name) {
		v.s.Set(keywords.ValidatedOutput, r.value)
	}
}

// subject returns the subject of a check.
func (f *flow) subject(content string, output any, turn, attempt int) validators.Subject {
	return validators.Subject{
		Content: content, Output: output, Input: f.s.Input, State: f.s.State, Outputs: f.s.Outputs,
		Turn: turn, Attempt: attempt, Locals: f.locals,
	}
}

// extract applies output_extraction to the phase's text.
func (v *visit) extract(r *release) error {
	e := v.p.Extraction
	if e == nil {
		return nil
	}
	text, ok, err := e.In(v.h.Stopped, r.text)
	if err != nil {
		failed := &Error{Code: Failed, Path: v.at, Check: "output_extraction", keyPath: []string{"output_extraction"}, Message: fmt.Sprintf("output_extraction gave no value: %v", err)}
		return v.stoppedOr(failed)
	}
	if !ok {
		if e.Required {
			return &Error{Code: Exhausted, Path: v.at, Check: "output_extraction", keyPath: []string{"output_extraction"}, Message: fmt.Sprintf("output_extraction: nothing in the text matches %s", e.Pattern)}
		}
		return nil
	}
	found := any(text)
	if e.JSON {
		value, err := schema.ParseText(text)
		if err != nil {
			return &Error{
				Code: Exhausted, Path: v.at, Check: "output_extraction", keyPath: []string{"output_extraction"},
				publicMessage: "output_extraction: what it finds is no JSON", Message: fmt.Sprintf("output_extraction: %v", err),
			}
		}
		found, r.value = value, value
	}
	v.s.Set(e.StoreAs, found)
	return nil
}
