package backtest

import (
	"maps"
	"path"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/trace"
	"github.com/seed61713e19/capstan/validators/schema"
)

// known is what a run knew, phase after phase.
type known struct{ state engine.State }

func newKnown(id, model string, r *trace.Run) *known {
	k := &known{engine.State{RunID: "backtest:" + id, Model: model, State: map[string]any{}, Outputs: map[string]any{}}}
	k.state.Input, _ = plain(r.Input).(map[string]any)
	return k
}

// plain is a value of an event as the run had it: whole numbers are whole.
func plain(v any) any {
	list, err := schema.Plain([]any{v})
	if err != nil {
		return v
	}
	return list.([]any)[0]
}

// before learns what the phase's sub-cascades brought.
func (k *known) before(visit *trace.Phase, phase *cascades.Phase) {
	if phase == nil {
		return
	}
	for i, sub := range phase.Subs {
		below := string(visit.Path.At("sub", i)) + "/"
		for _, inner := range visit.Phases {
			if !sub.ContextOut || !strings.HasPrefix(string(inner.Path), below) {
				continue
			}
			k.learnWithin(inner)
			if inner.Output != nil && inner.Cascade == sub.Cascade.ID {
				k.state.Outputs[inner.Cascade] = plain(inner.Output)
			}
		}
	}
}

// learnWithin learns what a phase of a sub-cascade set.
func (k *known) learnWithin(p *trace.Phase) {
	for _, inner := range p.Phases {
		k.learnWithin(inner)
	}
	for _, a := range p.Attempts {
		for _, t := range a.Turns {
			k.tools(t.Tools)
		}
		k.tools(a.Tools)
	}
}

// tools learns what set_state set.
func (k *known) tools(list []*trace.Use) {
	for _, u := range list {
		if u.Call == nil || u.Result == nil || u.Result.Failed || u.Call.Name != cascades.SetState {
			continue
		}
		if key, ok := u.Call.Arguments["key"].(string); ok {
			k.state.State[key] = plain(u.Call.Arguments["value"])
		}
	}
}

// exchange learns what the tools of one exchange set.
func (k *known) exchange(t *trace.Turn, at event.Path) {
	for _, u := range t.Tools {
		if event.Path(path.Dir(string(u.Path))) == at {
			k.tools([]*trace.Use{u})
		}
	}
}

// branch lets body work on a copy of the state, and gives the copy.
func (k *known) branch(body func() error) (map[string]any, error) {
	base := k.state.State
	k.state.State = maps.Clone(base)
	err := body()
	own := k.state.State
	k.state.State = base
	return own, err
}

// after learns what the visit came to. Where the cascade does not have the phase,
// what was set within it is learnt all the same.
func (k *known) after(visit *trace.Phase, phase *cascades.Phase) {
	if phase == nil {
		k.learnWithin(visit)
	}
	s := &k.state
	s.ValidationError = ""
	switch visit.Status {
	case "succeeded", "degraded":
		output := plain(visit.Output)
		s.Outputs[visit.Name], s.Output, s.Previous = output, output, visit.Name
		s.Lineage = append(s.Lineage, engine.Passage{Phase: visit.Name, Output: output})
		if phase != nil {
			k.released(visit, phase)
		}
	case "exhausted", "failed":
		s.ValidationError = objections(visit)
	}
}

// released learns what is taken out of the text that a visit let out.
func (k *known) released(visit *trace.Phase, phase *cascades.Phase) {
	if h := phase.Human; h != nil && h.Type == cascades.Confirmation && visit.Question != "" {
		k.state.State[h.StoreAs] = true // else it had not been let out
	}
	e := phase.Extraction
	if e == nil {
		return
	}
	m := e.Pattern.FindStringSubmatch(winner(visit).Text)
	if m == nil {
		return
	}
	found := any(m[min(1, len(m)-1)])
	if e.JSON {
		value, err := schema.Parse([]byte(found.(string)))
		if err != nil {
			return
		}
		found = value
	}
	k.state.State[e.StoreAs] = found
}

// winner is the attempt whose text a visit let out.
func winner(visit *trace.Phase) *trace.Attempt {
	var best *trace.Attempt
	for _, a := range visit.Attempts {
		if a.Status == "succeeded" && (best == nil || a.Sounding == sounding(visit)) {
			best = a
		}
	}
	switch {
	case best != nil:
		return best
	case len(visit.Attempts) > 0: // on_exhausted let one out
		return visit.Attempts[len(visit.Attempts)-1]
	}
	return &trace.Attempt{}
}

// sounding is the one that won: post-wards judged it, or the visit's output is
// its text, or it is the first that was not lost. -1 where there are none.
func sounding(visit *trace.Phase) int {
	first, same := -1, -1
	for _, a := range visit.Attempts {
		if a.Sounding < 0 {
			return -1
		}
		for _, v := range a.Verdicts {
			if v.Moment == "post" && !filters(&v) {
				return a.Sounding
			}
		}
		if a.Status != "succeeded" {
			continue
		}
		if first < 0 {
			first = a.Sounding
		}
		if same < 0 && visit.Output != nil && gives(a, visit.Output) {
			same = a.Sounding
		}
	}
	if same >= 0 {
		return same
	}
	return first
}

// filters tells whether a verdict is of the validator of soundings.
func filters(v *trace.Verdict) bool { return path.Base(path.Dir(string(v.Path))) == "filter" }

// objections are why a visit was left without an output: what its last attempt
// was not accepted for, or what broke.
func objections(visit *trace.Phase) string {
	if len(visit.Attempts) == 0 {
		return ""
	}
	last := visit.Attempts[len(visit.Attempts)-1]
	var lines []string
	for _, t := range last.Turns {
		for _, c := range t.Calls {
			if c.Response != nil && c.Response.Failure != nil && c.Validator == "" {
				return c.Response.Failure.Error()
			}
		}
	}
	for _, v := range last.Verdicts {
		switch {
		case v.Error != nil && v.Mode != "advisory":
			return name(v.Moment, v.Validator) + " could not say: " + *v.Error
		case v.Valid != nil && !*v.Valid && v.Mode == "retry":
			lines = append(lines, v.Validator+": "+v.Reason)
		}
	}
	return strings.Join(lines, "\n")
}
