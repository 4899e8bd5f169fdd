package backtest

import (
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/wards"
)

// turns compares every turn of an attempt. It returns the first decision other than a release.
func (v *visitTest) turns(a *trace.Attempt) (stopped *wards.Decision, err error) {
	reached, over := v.reached, false // over: loop_until would have ended the turns
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
				v.skipCalls(a.Usage().Calls - callsIn(v.visit, a.Turns[:i+1]))
				reached = v.reached
			case d.Action == wards.Exhausted:
				v.skipCalls(callsIn(v.visit, later)) // the final text is still judged
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
			v.skipCalls(callsIn(v.visit, later))
		}
	}
	v.reached = reached
	return stopped, nil
}

// callsIn counts the model calls of turns, with those of nested cascades.
func callsIn(visit *trace.Phase, turns []*trace.Turn) int {
	n := 0
	for _, t := range turns {
		n += callsBelow(visit, t.Path)
	}
	return n
}

// An exchange is the answer of the model in a turn or in a repeated turn.
type exchange struct {
	at        event.Path
	text      string
	completed bool // the answer is a text; checks judge nothing else
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
		e.text, e.completed = c.Response.Text, len(c.Response.ToolCalls) == 0 && c.Response.Failure == nil
	}
	return list
}

// ended reports whether a turn ended with a text.
func ended(t *trace.Turn) bool {
	list := exchanges(t)
	return len(list) > 0 && list[len(list)-1].completed
}

// usesAt returns the tools that one exchange used.
func usesAt(t *trace.Turn, at event.Path) []*trace.Use {
	var list []*trace.Use
	for _, u := range t.Tools {
		if u.Path.Parent() == at {
			list = append(list, u)
		}
	}
	return list
}

// turnChecks compares the turn wards on a text. They do not see a text that contains
// a written tool call.
func (v *visitTest) turnChecks(s *slot) ([]wards.Outcome, error) {
	if o, refused := v.past.Written(s.text); refused {
		v.countVerdict(s, string(wards.Turn), o.Ward, s.take(string(wards.Turn), o.Ward.Name), &o)
		return []wards.Outcome{o}, nil
	}
	return v.checks(s, v.phase.Wards.Turn, nil)
}

// turn compares the turn wards on each text of a turn.
func (v *visitTest) turn(a *trace.Attempt, t *trace.Turn) (d wards.Decision, err error) {
	reached := v.reached
	defer func() { v.reached = reached }()
	budget, calls, state := new(wards.Budget), new(wards.Budget), v.snapshot.state.State
	for i, e := range exchanges(t) {
		over := i > 0 && d.Action != wards.SendBack
		if over && v.reached {
			v.saved += callsBelow(v.visit, e.at)
			v.reached = false
		}
		v.snapshot.state.State = state // a rejected turn does not keep its state
		if _, err := v.tools(usesAt(t, e.at), t); err != nil {
			return d, err
		}
		called, err := v.wardedCalls(a, t, e.at, calls)
		if err != nil {
			return d, err
		}
		if !e.completed {
			if !over {
				d = called
			}
			continue
		}
		s := &slot{text: engine.RecordedText{At: e.at, Attempt: a.Number, Turn: t.Number, Text: e.text}}
		s.recorded = picked(t.Verdicts, func(w *trace.Verdict) bool { return w.Moment == string(wards.Turn) && w.Path.Parent() == e.at })
		if len(v.phase.Wards.Turn) > 0 {
			s.subject, s.text.Unfit = v.past.Subject(s.text), v.past.Unfit(s.text)
		}
		outcomes, err := v.turnChecks(s)
		if err != nil {
			return d, err
		}
		if s.text.Unfit { // output_schema rejects it with the attempt
			outcomes = slices.DeleteFunc(outcomes, func(o wards.Outcome) bool { return o.Skipped })
		}
		v.countRemaining(s)
		if over {
			continue
		}
		if d = called; d.Action == wards.Release {
			d = budget.Decide(i+1, outcomes)
		}
	}
	return d, nil
}

// early compares loop_until after a turn with a successor. It returns true if the turns would have
// ended.
func (v *visitTest) early(a *trace.Attempt, t *trace.Turn) (enough bool, err error) {
	if !ended(t) {
		return false, nil
	}
	s := &slot{text: engine.RecordedText{At: t.Path, Attempt: a.Number, Turn: t.Number, Text: t.Text()}, recorded: loops(t)}
	if loop := v.phase.Rules.Loop; loop != nil && t.Number+1 < v.phase.Rules.MaxTurns {
		s.subject, s.text.Unfit = v.past.Subject(s.text), v.past.Unfit(s.text)
		outcomes, err := v.checks(s, []*cascades.Check{loop}, nil)
		if err != nil {
			return false, err
		}
		enough = len(outcomes) > 0 && outcomes[0].Err == nil && outcomes[0].Verdict.Valid
	}
	v.countRemaining(s)
	return enough, nil
}

func loops(t *trace.Turn) []*trace.Verdict {
	return picked(t.Verdicts, func(w *trace.Verdict) bool { return w.Moment == string(wards.LoopUntil) })
}
