package backtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/trace"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/validators"
)

// runsWithin gives the runs of cascades within a visit by what they were used
// as: the path of a sub-cascade, a tool or a check.
func runsWithin(visit *trace.Phase) map[event.Path][]*trace.Phase {
	runs := map[event.Path][]*trace.Phase{}
	for _, p := range phasesIn(visit) {
		at := p.Path.Up().Up() // below it stand the cascade's name and the phase's
		runs[at] = append(runs[at], p)
	}
	return runs
}

// phasesIn are the phases of all those runs.
func phasesIn(visit *trace.Phase) []*trace.Phase {
	list := slices.Clone(visit.Phases)
	for _, a := range visit.Texts() {
		list = append(list, a.Phases...)
	}
	return list
}

// visitsOf counts visits, with those of cascades within them.
func visitsOf(list ...*trace.Phase) int {
	n := 0
	for p := range (&trace.Run{Phases: list}).All() {
		if p.Status != "skipped" {
			n++
		}
	}
	return n
}

// whole tells whether a run of a cascade came to its end, and gave what it has.
func whole(run []*trace.Phase) bool {
	last := run[len(run)-1]
	return last.Next == "" && (last.Status == "succeeded" || last.Status == "degraded" || last.Status == "skipped")
}

// hold holds the run of a cascade within the visit against that cascade as it
// is now; stop is the move that would have ended it. What is another cascade is
// left.
func (v *visitTest) hold(c *cascades.Cascade, at event.Path, input, state map[string]any) (stop *Move, k *known, err error) {
	run := v.inner[at]
	if len(run) == 0 || run[0].Cascade != c.ID {
		return nil, nil, nil
	}
	delete(v.inner, at)
	l := v.level
	l.Cascade, l.name = c, c.ID
	l.known = v.known.within(v.Cascade, c, input, state)
	stop, err = l.visits(run, v.made)
	return stop, l.known, err
}

// subs holds the runs of the sub-cascades, and learns what they brought. One
// that would have ended ends the visit before it has an attempt.
func (v *visitTest) subs() error {
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
		input, known := v.given(sub)
		if !known {
			v.known.brought(run)
			continue
		}
		var state map[string]any
		if sub.ContextIn {
			state = v.known.state.State
		}
		stop, k, err := v.hold(sub.Cascade, at, input, state)
		if err != nil {
			return err
		}
		if stop != nil {
			stop.Saved += v.visit.Usage().Calls - spent
			v.made = false
			if stop.Would != Failed || v.phase.Rules.OnError == "" {
				v.ended = stop
			}
		}
		if sub.ContextOut && whole(run) {
			for key, value := range k.state.State {
				v.known.state.Set(key, value)
			}
			v.known.state.Outputs[id] = k.state.Output
		}
	}
}

// given is the input of a sub-cascade, if there is one and it can be known.
func (v *visitTest) given(sub *cascades.Sub) (input map[string]any, known bool) {
	if sub == nil {
		return nil, false
	}
	vars := v.known.vars()
	vars["max_turns"] = v.phase.Rules.MaxTurns
	input, err := sub.InputMap.Render(vars)
	return input, err == nil
}

// subOf gives the n-th of a phase's sub-cascades that have an id.
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

// tools learns what tools set, in a turn if that is not nil, and holds the runs of those that are cascades;
// stop is the move that would have ended the last of these.
func (v *visitTest) tools(list []*trace.Use, t *trace.Turn) (stop *Move, err error) {
	v.known.tools(v.visit.Name, list, t)
	for _, u := range list {
		c := v.toolOf(u)
		if c == nil {
			continue
		}
		arguments, _ := plain(u.Call.Arguments).(map[string]any)
		m, _, err := v.hold(c, u.Path, arguments, nil)
		if err != nil {
			return nil, err
		}
		if m != nil {
			stop = m
		}
	}
	return stop, nil
}

// toolOf gives the cascade that a tool is, nil where it is none.
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

// judging holds the recorded run of a cascade that is a validator.
func (v *visitTest) judging(c *cascades.Validator, was *trace.Verdict, s validators.Subject) (stop *Move, err error) {
	if c.Cascade == nil || was == nil || len(v.inner[was.Path]) == 0 {
		return nil, nil
	}
	input, err := v.known.asked(c, s)
	if err != nil {
		return nil, nil // nobody knows what it would have been given
	}
	stop, _, err = v.hold(c.Cascade, was.Path, input, nil)
	return stop, err
}

// gated is what a phase that is a validator looks at.
func (v *visitTest) gated(said engine.Said) validators.Subject {
	opening, err := v.past.Opening()
	inputs, _ := opening.Output.(map[string]any)
	content, given := inputs["content"]
	if !given || err != nil {
		content = v.known.state.Outputs[v.known.state.Previous]
	}
	if said.Text = ""; content != nil {
		said.Text = words.Text(content)
	}
	return v.past.Subject(said)
}

// within is why the cascade that the move ended gave nothing.
func (m *Move) within() error {
	return fmt.Errorf("cascade %s: phase %s: %s by %s: %s", m.Cascade, m.Phase, m.Would, m.By, m.Reason)
}

// callsBelow counts the calls that were made below a path of the visit.
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
