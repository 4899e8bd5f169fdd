package backtest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// A snapshot is the state of a run at one point, computed from events.
type snapshot struct{ state engine.State }

// newSnapshot returns the state before the first phase of a cascade.
func newSnapshot(c *cascades.Cascade, run, model string, input, state map[string]any) *snapshot {
	k := &snapshot{engine.State{RunID: run, Model: model, Input: map[string]any{}, State: map[string]any{}, Outputs: map[string]any{}}}
	for _, in := range c.Inputs {
		if in.HasDefault {
			k.state.Input[in.Name] = in.Default
		}
	}
	maps.Copy(k.state.Input, input)
	maps.Copy(k.state.State, state)
	return k
}

// nested returns the first state of a nested cascade.
func (k *snapshot) nested(outer, c *cascades.Cascade, input, state map[string]any) *snapshot {
	in := newSnapshot(c, k.state.RunID, k.state.Model, input, state)
	in.state.DefaultModel = outer.Default(k.state.DefaultModel)
	return in
}

// vars returns the variables of templates before any attempt.
func (k *snapshot) vars() map[string]any {
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

// validatorInput returns the input of a cascade that is a validator.
func (k *snapshot) validatorInput(v *cascades.Validator, s validators.Subject) (map[string]any, error) {
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

// plain converts a value of an event: whole numbers become integers.
func plain(v any) any {
	list, err := schema.Plain([]any{v})
	if err != nil {
		return v
	}
	return list.([]any)[0]
}

// applySub adds the outputs of a sub-cascade that is not compared.
func (k *snapshot) applySub(run []*trace.Phase) {
	if !trace.Completed(run) {
		return
	}
	for _, p := range run {
		k.applyVisit(p)
		if p.Output != nil {
			k.state.Outputs[p.Cascade] = plain(p.Output)
		}
	}
}

// applyVisit adds the state that was set in a visit that is not compared.
func (k *snapshot) applyVisit(p *trace.Phase) {
	for _, inner := range p.Phases {
		if strings.HasPrefix(string(inner.Path), string(p.Path)+"/sub[") { // other nested cascades have their own state
			k.applyVisit(inner)
		}
	}
	if !p.HasOutput() {
		return
	}
	a := releasedAttempt(p)
	for _, t := range a.Turns {
		list := exchanges(t)
		if n := len(list); n > 0 { // earlier exchanges were rejected
			k.tools(p.Name, usesAt(t, list[n-1].at), t)
		}
	}
	k.tools(p.Name, a.Tools, nil)
}

// tools adds the state that tools of the engine have set. In a turn, results that a ward withheld
// do not count.
func (k *snapshot) tools(phase string, list []*trace.Use, t *trace.Turn) {
	for _, u := range list {
		if u.Call == nil || u.Result == nil || u.Result.Failed || t != nil && withheld(verdictsAt(t, u.Path)) {
			continue
		}
		key, _ := u.Call.Arguments["key"].(string)
		switch u.Call.Name {
		case keywords.SetState:
			k.state.Set(key, plain(u.Call.Arguments["value"]))
		case keywords.AskHuman:
			k.state.Set(phase, plain(u.Result.Value))
		}
	}
}

// withheld reports whether a ward kept the result of a call from the model.
func withheld(around []*trace.Verdict) bool {
	return slices.ContainsFunc(around, func(w *trace.Verdict) bool {
		return w.Moment == string(wards.Result) && w.Valid != nil && !*w.Valid && w.Mode == string(wards.Retry)
	})
}

// apply adds the result of a visit. phase is nil if the cascade no longer has the phase.
func (k *snapshot) apply(visit *trace.Phase, phase *cascades.Phase) {
	if phase == nil {
		k.applyVisit(visit)
	}
	s := &k.state
	s.ValidationError = visit.Left
	if visit.Left != "" {
		s.Previous = ""
	}
	if visit.HasOutput() {
		k.applyBranches(visit)
		output := plain(visit.Output)
		s.Outputs[visit.Name], s.Output, s.Previous = output, output, visit.Name
		s.Lineage = append(s.Lineage, engine.Passage{Phase: visit.Name, Output: output})
		if phase != nil {
			k.applyReleased(visit, phase)
		}
	}
}

// applyReleased adds the state that the phase takes from a released text.
func (k *snapshot) applyReleased(visit *trace.Phase, phase *cascades.Phase) {
	if phase.Each != nil && phase.Each.Keep {
		k.state.Set(phase.Name+"_failures", event.FailureValues(visit.Failures))
	}
	if phase.OutputSchema != nil && phase.Each == nil && visit.Status == "succeeded" {
		k.state.Set(keywords.ValidatedOutput, plain(visit.Output))
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
			k.state.Set(h.StoreAs, true) // otherwise the text was not released
		}
	}
	e := phase.Extraction
	if e == nil {
		return
	}
	text := releasedAttempt(visit).Text
	if n := len(visit.Edits); n > 0 {
		text = visit.Edits[n-1].Text // the edit of a person
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

// releasedAttempt returns the attempt whose text the visit released.
func releasedAttempt(visit *trace.Phase) *trace.Attempt {
	var best *trace.Attempt
	for _, a := range visit.Attempts {
		if a.Status == "succeeded" && (best == nil || a.Sounding == sounding(visit)) {
			best = a
		}
	}
	return cmp.Or(best, visit.Last(), &trace.Attempt{}) // the last one was released by on_exhausted
}

// sounding returns the number of the winner. Without a winner, it is the first candidate. It
// returns -1 without soundings.
func sounding(visit *trace.Phase) int {
	if won := visit.Won(); won >= 0 {
		return won
	}
	for _, a := range visit.Attempts {
		if a.Left() && visit.HasOutput() {
			return a.Sounding
		}
	}
	return -1
}
