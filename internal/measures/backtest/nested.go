package backtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/validators"
)

// runsWithin returns the runs of nested cascades by the path of their sub-cascade, tool or check.
func runsWithin(visit *trace.Phase) map[event.Path][]*trace.Phase {
	runs := map[event.Path][]*trace.Phase{}
	for _, p := range phasesIn(visit) {
		at := p.Path.Parent().Parent() // without the names of the cascade and the phase
		runs[at] = append(runs[at], p)
	}
	return runs
}

// phasesIn returns the phases of all nested cascades.
func phasesIn(visit *trace.Phase) []*trace.Phase {
	list := slices.Clone(visit.Phases)
	for _, a := range visit.Texts() {
		list = append(list, a.Phases...)
	}
	return list
}

// visitsOf counts visits, with those of nested cascades.
func visitsOf(list ...*trace.Phase) int {
	n := 0
	for p := range (&trace.Run{Phases: list}).All() {
		if p.Status != "skipped" {
			n++
		}
	}
	return n
}

// compareNested compares the run of a nested cascade with that cascade now. It returns the change
// that would have ended the run. Runs of other cascades are not compared.
func (v *visitTest) compareNested(c *cascades.Cascade, at event.Path, input, state map[string]any) (stop *AttemptChange, k *snapshot, err error) {
	run := v.inner[at]
	if len(run) == 0 || run[0].Cascade != c.ID {
		return nil, nil, nil
	}
	delete(v.inner, at)
	l := v.level
	l.Cascade, l.name = c, c.ID
	l.snapshot = v.snapshot.nested(v.Cascade, c, input, state)
	stop, err = l.visits(run, v.reached)
	return stop, l.snapshot, err
}

// compareSubs compares the sub-cascades and adds their outputs. A sub-cascade that would have ended
// ends the visit.
func (v *visitTest) compareSubs() error {
	spent, met := 0, map[string]int{}
	for i := 0; ; i++ {
		at := v.visit.Path.At("sub", i)
		run := v.inner[at]
		if len(run) == 0 {
			return nil
		}
		spent += callsOf(run)
		id := run[0].Cascade
		sub := subOf(v.phase, id, met[id])
		met[id]++
		input, ok := v.subInput(sub)
		if !ok {
			v.snapshot.applySub(run)
			continue
		}
		var state map[string]any
		if sub.ContextIn {
			state = v.snapshot.state.State
		}
		stop, k, err := v.compareNested(sub.Cascade, at, input, state)
		if err != nil {
			return err
		}
		if stop != nil {
			stop.Saved += v.visit.Usage().Calls - spent
			v.reached = false
			if stop.After != Failed || v.phase.Rules.OnError == "" {
				v.ended = stop
			}
		}
		if sub.ContextOut && trace.Completed(run) {
			for key, value := range k.state.State {
				v.snapshot.state.Set(key, value)
			}
			v.snapshot.state.Outputs[id] = k.state.Output
		}
	}
}

// subInput returns the input of a sub-cascade, and reports whether it can be rendered.
func (v *visitTest) subInput(sub *cascades.Sub) (input map[string]any, ok bool) {
	if sub == nil {
		return nil, false
	}
	vars := v.snapshot.vars()
	vars["max_turns"] = v.phase.Rules.MaxTurns
	input, err := sub.InputMap.Render(vars)
	return input, err == nil
}

// subOf returns the n-th sub-cascade with an id.
func subOf(p *cascades.Phase, id string, n int) *cascades.Sub {
	for _, sub := range p.Subs {
		if sub.Cascade.ID == id {
			if n == 0 {
				return sub
			}
			n--
		}
	}
	return nil
}

// tools adds the state that tools have set, and compares tools that are cascades. t is nil outside
// a turn. It returns the change that would have ended the last of them.
func (v *visitTest) tools(list []*trace.Use, t *trace.Turn) (stop *AttemptChange, err error) {
	v.snapshot.tools(v.visit.Name, list, t)
	for _, u := range list {
		c := v.toolOf(u)
		if c == nil {
			continue
		}
		arguments, _ := plain(u.Call.Arguments).(map[string]any)
		m, _, err := v.compareNested(c, u.Path, arguments, nil)
		if err != nil {
			return nil, err
		}
		if m != nil {
			stop = m
		}
	}
	return stop, nil
}

// toolOf returns the cascade of a tool, or nil.
func (v *visitTest) toolOf(u *trace.Use) *cascades.Cascade {
	if u.Call == nil {
		return nil
	}
	if v.phase.Tool != nil {
		return v.phase.Tool.Cascade
	}
	for _, t := range v.phase.Tackle {
		if t.Name == u.Call.Name {
			return t.Cascade
		}
	}
	return nil
}

// compareJudge compares the run of a cascade that is a validator.
func (v *visitTest) compareJudge(c *cascades.Validator, was *trace.Verdict, s validators.Subject) (stop *AttemptChange, err error) {
	if c.Cascade == nil || was == nil || len(v.inner[was.Path]) == 0 {
		return nil, nil
	}
	input, err := v.snapshot.validatorInput(c, s)
	if err != nil {
		return nil, nil // the new input is unknown
	}
	stop, _, err = v.compareNested(c.Cascade, was.Path, input, nil)
	return stop, err
}

// gateSubject returns the subject of a phase that is a validator.
func (v *visitTest) gateSubject(text engine.RecordedText) validators.Subject {
	opening, err := v.past.Opening()
	inputs, _ := opening.Output.(map[string]any)
	content, ok := inputs["content"]
	if !ok || err != nil {
		content = v.snapshot.state.Outputs[v.snapshot.state.Previous]
	}
	if text.Text = ""; content != nil {
		text.Text = messages.Text(content)
	}
	return v.past.Subject(text)
}

// asError returns the error of a cascade that the change would have ended.
func (m *AttemptChange) asError() error {
	return fmt.Errorf("cascade %s: phase %s: %s by %s: %s", m.Cascade, m.Phase, m.After, m.By, m.Reason)
}

// callsBelow counts the model calls below a path of the visit.
func callsBelow(visit *trace.Phase, at event.Path) int {
	n, below := 0, string(at)+"/"
	visit.Visit(trace.Visitor{Call: func(c *trace.Call) {
		if strings.HasPrefix(string(c.Path), below) && c.Response != nil {
			n += c.Response.Usage.Calls
		}
	}})
	for _, p := range phasesIn(visit) {
		if strings.HasPrefix(string(p.Path), below) {
			n += p.Usage().Calls
		}
	}
	return n
}
