package backtest

import (
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/trace"
	"github.com/seed61713e19/capstan/wards"
)

// turns compares every turn of an attempt, and gives the first decision that
// would not have let one pass.
func (v *visitTest) turns(a *trace.Attempt) (stopped *wards.Decision, err error) {
	made, over := v.made, false // over: loop_until would have ended the turns
	for i, t := range a.Turns {
		d, err := v.turn(a, t)
		if err != nil {
			return nil, err
		}
		later := a.Turns[i+1:]
		if d.Action != wards.Release && stopped == nil && !over {
			stopped = &d
			switch {
			case v.ends(d):
				v.spare(a.Usage().Calls - callsIn(v.visit, a.Turns[:i+1]))
				made = v.made
			case d.Action == wards.Exhausted:
				v.spare(callsIn(v.visit, later)) // the text is judged all the same
			}
		}
		if len(later) == 0 {
			break
		}
		enough, err := v.early(a, t)
		if err != nil {
			return nil, err
		}
		if enough && !over && stopped == nil {
			over = true
			v.spare(callsIn(v.visit, later))
		}
	}
	v.made = made
	return stopped, nil
}

// callsIn counts the calls of turns, with those of cascades within them.
func callsIn(visit *trace.Phase, turns []*trace.Turn) int {
	n := 0
	for _, t := range turns {
		n += callsBelow(visit, t.Path)
	}
	return n
}

// An exchange is what the model said in a turn, or in one taken again.
type exchange struct {
	at    event.Path
	text  string
	whole bool // it ended with a text: what wanted tools, or broke, was seen by no check
}

func exchanges(t *trace.Turn) []exchange {
	var list []exchange
	for _, c := range t.Calls {
		if c.Validator != "" || c.Role != "" || c.Response == nil {
			continue
		}
		if n := len(list); n == 0 || list[n-1].at != c.From() {
			list = append(list, exchange{at: c.From()})
		}
		e := &list[len(list)-1]
		e.text, e.whole = c.Response.Text, len(c.Response.ToolCalls) == 0 && c.Response.Failure == nil
	}
	return list
}

// ended tells whether a turn came to a text.
func ended(t *trace.Turn) bool {
	said := exchanges(t)
	return len(said) > 0 && said[len(said)-1].whole
}

// usesAt gives the tools that one exchange used.
func usesAt(t *trace.Turn, at event.Path) []*trace.Use {
	var list []*trace.Use
	for _, u := range t.Tools {
		if u.Path.Up() == at {
			list = append(list, u)
		}
	}
	return list
}

// turnChecks compares the turn wards on a text. They do not see a text that contains
// a written tool call.
func (v *visitTest) turnChecks(s *slot) ([]wards.Outcome, error) {
	if o, refused := v.past.Written(s.said); refused {
		v.note(s, string(wards.Turn), o.Ward, s.take(string(wards.Turn), o.Ward.Name), &o)
		return []wards.Outcome{o}, nil
	}
	return v.checks(s, v.phase.Wards.Turn, nil)
}

// turn compares the turn wards on each text of a turn.
func (v *visitTest) turn(a *trace.Attempt, t *trace.Turn) (d wards.Decision, err error) {
	made := v.made
	defer func() { v.made = made }()
	budget, calls, state := new(wards.Budget), new(wards.Budget), v.known.state.State
	for i, e := range exchanges(t) {
		over := i > 0 && d.Action != wards.Again
		if over && v.made {
			v.saved += callsBelow(v.visit, e.at)
			v.made = false
		}
		v.known.state.State = state // what a refused turn had set went with it
		if _, err := v.tools(usesAt(t, e.at), t); err != nil {
			return d, err
		}
		called, err := v.wardedCalls(a, t, e.at, calls)
		if err != nil {
			return d, err
		}
		if !e.whole {
			if !over {
				d = called
			}
			continue
		}
		s := &slot{said: engine.Said{At: e.at, Attempt: a.Number, Turn: t.Number, Text: e.text}}
		s.recorded = picked(t.Verdicts, func(w *trace.Verdict) bool { return w.Moment == string(wards.Turn) && w.Path.Up() == e.at })
		if len(v.phase.Wards.Turn) > 0 {
			s.subject, s.said.Unfit = v.past.Subject(s.said), v.past.Unfit(s.said)
		}
		outcomes, err := v.turnChecks(s)
		if err != nil {
			return d, err
		}
		if s.said.Unfit { // output_schema refuses it with the attempt
			outcomes = slices.DeleteFunc(outcomes, func(o wards.Outcome) bool { return o.Skipped })
		}
		v.left(s)
		if over {
			continue
		}
		if d = called; d.Action == wards.Release {
			d = budget.Decide(i+1, outcomes)
		}
	}
	return d, nil
}

// early compares loop_until where it might have ended the turns, and tells
// whether it would have.
func (v *visitTest) early(a *trace.Attempt, t *trace.Turn) (enough bool, err error) {
	if !ended(t) {
		return false, nil
	}
	s := &slot{said: engine.Said{At: t.Path, Attempt: a.Number, Turn: t.Number, Text: t.Text()}, recorded: loops(t)}
	if loop := v.phase.Rules.Loop; loop != nil && t.Number+1 < v.phase.Rules.MaxTurns {
		s.subject, s.said.Unfit = v.past.Subject(s.said), v.past.Unfit(s.said)
		outcomes, err := v.checks(s, []*cascades.Check{loop}, nil)
		if err != nil {
			return false, err
		}
		enough = len(outcomes) > 0 && outcomes[0].Err == nil && outcomes[0].Verdict.Valid
	}
	v.left(s)
	return enough, nil
}

func loops(t *trace.Turn) []*trace.Verdict {
	return picked(t.Verdicts, func(w *trace.Verdict) bool { return w.Moment == string(wards.LoopUntil) })
}
