package backtest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/trace"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
	"github.com/seed61713e19/capstan/wards"
)

// known is what a run knew, phase after phase.
type known struct{ state engine.State }

// begin is what a run of a cascade knows before its first phase.
func begin(c *cascades.Cascade, run, model string, input, state map[string]any) *known {
	k := &known{engine.State{RunID: run, Model: model, Input: map[string]any{}, State: map[string]any{}, Outputs: map[string]any{}}}
	for _, in := range c.Inputs {
		if in.HasDefault {
			k.state.Input[in.Name] = in.Default
		}
	}
	maps.Copy(k.state.Input, input)
	maps.Copy(k.state.State, state)
	return k
}

// within is what a cascade knows that begins within this one, which is outer's.
func (k *known) within(outer, c *cascades.Cascade, input, state map[string]any) *known {
	in := begin(c, k.state.RunID, k.state.Model, input, state)
	in.state.Given = outer.Default(k.state.Given)
	return in
}

// vars are the variables of templates, before any attempt.
func (k *known) vars() map[string]any {
	lineage := make([]any, len(k.state.Lineage))
	for i, p := range k.state.Lineage {
		lineage[i] = map[string]any{"phase": p.Phase, "output": p.Output}
	}
	return map[string]any{
		"input": k.state.Input, "state": k.state.State, "outputs": k.state.Outputs, "lineage": lineage, "history": []any{},
		"turn": 0, "turn_number": 1, "max_turns": 0, "attempt": 1,
		"validation_error": k.state.ValidationError, "schema_error": "",
	}
}

// asked is the input of a cascade that is a validator.
func (k *known) asked(v *cascades.Validator, s validators.Subject) (map[string]any, error) {
	subject := map[string]any{
		"content": s.Content, "output": s.Output, "input": s.Input, "state": s.State, "outputs": s.Outputs,
		"turn": s.Turn, "attempt": s.Attempt,
	}
	if v.InputMap == nil {
		return subject, nil
	}
	vars := k.vars()
	maps.Copy(vars, subject)
	vars["turn_number"], vars["validation_error"] = s.Turn+1, ""
	return v.InputMap.Render(vars)
}

// plain is a value of an event as the run had it: whole numbers are whole.
func plain(v any) any {
	list, err := schema.Plain([]any{v})
	if err != nil {
		return v
	}
	return list.([]any)[0]
}

// brought learns what a sub-cascade brought that is not looked at.
func (k *known) brought(run []*trace.Phase) {
	if !whole(run) {
		return
	}
	for _, p := range run {
		k.learnWithin(p)
		if p.Output != nil {
			k.state.Outputs[p.Cascade] = plain(p.Output)
		}
	}
}

// learnWithin learns what was set in a visit that is not looked at.
func (k *known) learnWithin(p *trace.Phase) {
	for _, inner := range p.Phases {
		if strings.HasPrefix(string(inner.Path), string(p.Path)+"/sub[") { // else it has a state of its own
			k.learnWithin(inner)
		}
	}
	if !letOut(p) {
		return
	}
	a := winner(p)
	for _, t := range a.Turns {
		said := exchanges(t)
		if n := len(said); n > 0 { // those before were refused
			k.tools(p.Name, usesAt(t, said[n-1].at), t)
		}
	}
	k.tools(p.Name, a.Tools, nil)
}

// tools learns what the tools of the engine put into the state, in a turn if that
// is not nil: what a ward around the result has refused went with it.
func (k *known) tools(phase string, list []*trace.Use, t *trace.Turn) {
	for _, u := range list {
		if u.Call == nil || u.Result == nil || u.Result.Failed || t != nil && withheld(verdictsAt(t, u.Path)) {
			continue
		}
		key, _ := u.Call.Arguments["key"].(string)
		switch u.Call.Name {
		case cascades.SetState:
			k.state.Set(key, plain(u.Call.Arguments["value"]))
		case cascades.AskHuman:
			k.state.Set(phase, plain(u.Result.Value))
		}
	}
}

// withheld tells whether the verdicts around a call keep its result from the model.
func withheld(around []*trace.Verdict) bool {
	return slices.ContainsFunc(around, func(w *trace.Verdict) bool {
		return w.Moment == string(wards.Result) && w.Valid != nil && !*w.Valid && w.Mode == string(wards.Retry)
	})
}

// after learns what the visit came to. Where the cascade does not have the phase,
// what was set within it is learnt all the same.
func (k *known) after(visit *trace.Phase, phase *cascades.Phase) {
	if phase == nil {
		k.learnWithin(visit)
	}
	s := &k.state
	s.ValidationError = visit.Left
	if visit.Left != "" {
		s.Previous = ""
	}
	if letOut(visit) {
		k.learnBranches(visit)
		output := plain(visit.Output)
		s.Outputs[visit.Name], s.Output, s.Previous = output, output, visit.Name
		s.Lineage = append(s.Lineage, engine.Passage{Phase: visit.Name, Output: output})
		if phase != nil {
			k.released(visit, phase)
		}
	}
}

// letOut tells whether a visit released a text.
func letOut(visit *trace.Phase) bool {
	return visit.Status == "succeeded" || visit.Status == "degraded"
}

// released learns what is taken out of the text that a visit let out.
func (k *known) released(visit *trace.Phase, phase *cascades.Phase) {
	if phase.Each != nil && phase.Each.Keep {
		k.state.Set(phase.Name+"_failures", event.PlainFailures(visit.Failures))
	}
	if phase.OutputSchema != nil && phase.Each == nil && visit.Status == "succeeded" {
		k.state.Set(cascades.ValidatedOutput, plain(visit.Output))
	}
	if h := phase.Human; h != nil {
		at := visit.Path.Join("human_input")
		i := slices.IndexFunc(visit.Answers, func(a event.Answer) bool { return a.Path == at })
		switch {
		case i >= 0 && visit.Answers[i].Value != nil:
			k.state.Set(h.StoreAs, plain(visit.Answers[i].Value))
		case len(visit.Edits) > 0:
			k.state.Set(h.StoreAs, visit.Edits[len(visit.Edits)-1].Text)
		case h.Type == cascades.Confirmation && visit.Question != "":
			k.state.Set(h.StoreAs, true) // else it had not been let out
		}
	}
	e := phase.Extraction
	if e == nil {
		return
	}
	text := winner(visit).Text
	if n := len(visit.Edits); n > 0 {
		text = visit.Edits[n-1].Text // a person had the last word
	}
	taken, ok, err := e.In(nil, text)
	if !ok || err != nil {
		return
	}
	found := any(taken)
	if e.JSON {
		value, err := schema.Parse([]byte(taken))
		if err != nil {
			return
		}
		found = value
	}
	k.state.Set(e.StoreAs, found)
}

// winner is the attempt whose text a visit let out.
func winner(visit *trace.Phase) *trace.Attempt {
	var best *trace.Attempt
	for _, a := range visit.Attempts {
		if a.Status == "succeeded" && (best == nil || a.Sounding == sounding(visit)) {
			best = a
		}
	}
	return cmp.Or(best, visit.Last(), &trace.Attempt{}) // the last is one that on_exhausted let out
}

// sounding is the one that won or, where nothing tells, the first that was not
// lost; -1 where there are none.
func sounding(visit *trace.Phase) int {
	if won := visit.Won(); won >= 0 {
		return won
	}
	for _, a := range visit.Attempts {
		if a.Left() && letOut(visit) {
			return a.Sounding
		}
	}
	return -1
}
