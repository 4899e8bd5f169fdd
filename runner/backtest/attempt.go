package backtest

import (
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/trace"
	"github.com/seed61713e19/capstan/wards"
)

// try holds the attempts of one conversation against the checks: each spends
// the budgets of those before it. Won is the sounding that post-wards judge,
// -1 where there are none.
func (v *visitTest) try(attempts []*trace.Attempt, won int) error {
	limit := 0
	if v.phase.Rules.Capped {
		limit = v.phase.Rules.MaxAttempts
	}
	budget := wards.NewBudget(limit)
	made := v.made
	defer func() { v.made = made && v.ended == nil }()
	for i, a := range attempts {
		v.unknown = false
		d, turn, err := v.attempt(a, won, budget)
		if err != nil {
			return err
		}
		if was, told := fateOf(a); told {
			v.fare(attempts[i:], was, d, turn)
		}
	}
	return nil
}

// fare notes what would have become of the first of the attempts that are left
// of a try, and whether the others would have been made.
func (v *visitTest) fare(left []*trace.Attempt, was Fate, d wards.Decision, turn bool) {
	a, would := left[0], fates[d.Action]
	if v.unknown && was == Failed && would == Released {
		would = was // by the check that was not asked, for all that is known
	}
	if !v.made {
		would = NotMade
	}
	v.part.attempts++
	v.fates[[2]Fate{was, would}]++
	spent := v.calls[v.visit.Name]
	v.calls[v.visit.Name] = calls{spent.attempts + 1, spent.calls + a.Usage().Calls}
	if !v.made {
		return
	}
	v.made = would == Retried // else whatever comes in this try would not have been
	if was == would {
		return
	}
	m := v.decided(d, &Move{Path: string(a.Path), Attempt: a.Number, Was: was, Would: would, Text: excerpt(a.Text)})
	switch {
	case would != Retried:
		for _, later := range left[1:] {
			m.Saved += later.Usage().Calls
		}
		// A sounding that is lost leaves the others; post-wards judge the winner.
		alone := a.Sounding < 0 || d.By.Ward != nil && d.By.Ward.Moment == wards.Post
		if alone && ends(v.phase, would) {
			v.ended = m
		}
	case len(left) == 1:
		m.again = !turn
		m.Added += calledFor(turn)
	}
}

// calledFor is what one turn more costs at least.
func calledFor(turn bool) int {
	if turn {
		return 1
	}
	return 0
}

// ends tells whether an attempt's fate ends the run.
func ends(p *cascades.Phase, f Fate) bool {
	switch f {
	case Failed:
		return p.Rules.OnError == ""
	case Exhausted:
		return p.Rules.OnExhausted == cascades.OnExhaustedFail
	default:
		return f == Blocked
	}
}

// fateOf is what became of an attempt, if that is told and is a matter of
// checks.
func fateOf(a *trace.Attempt) (Fate, bool) {
	switch a.Status {
	case "succeeded":
		return Released, true
	case "retry":
		return Retried, true
	case "blocked":
		return Blocked, true
	case "exhausted":
		return Exhausted, true
	case "failed":
		return Failed, a.Text != ""
	}
	return "", false
}

// attempt compares every check of an attempt and decides what would have become
// of it; turn says that a turn would have been taken again.
func (v *visitTest) attempt(a *trace.Attempt, won int, budget *wards.Budget) (d wards.Decision, turn bool, err error) {
	var stopped *wards.Decision
	for i, t := range a.Turns {
		d, err := v.turn(a, t)
		if err != nil {
			return d, false, err
		}
		if d.Action != wards.Release && stopped == nil {
			stopped = &d
		}
		if i+1 < len(a.Turns) {
			if err := v.early(a, t); err != nil {
				return d, false, err
			}
		}
	}
	v.known.tools(a.Tools)
	if _, told := fateOf(a); !told {
		return wards.Decision{}, false, nil
	}
	if stopped != nil && len(a.Verdicts) == 0 {
		return *stopped, stopped.Action == wards.Again, nil // no text of it was final
	}
	outcomes, err := v.final(a, won)
	if err != nil {
		return d, false, err
	}
	d = budget.Decide(a.Number, outcomes)
	if stopped != nil && d.Action != wards.Block && d.Action != wards.Break {
		return *stopped, stopped.Action == wards.Again, nil
	}
	return d, false, nil
}

// An exchange is a turn's text, or that of one taken again.
type exchange struct {
	at    event.Path
	text  string
	calls int
}

func exchanges(t *trace.Turn) []exchange {
	var list []exchange
	for _, c := range t.Calls {
		if c.Validator != "" || c.Response == nil {
			continue
		}
		if n := len(list); n == 0 || list[n-1].at != above(c.Path) {
			list = append(list, exchange{at: above(c.Path)})
		}
		e := &list[len(list)-1]
		e.text, e.calls = c.Response.Text, e.calls+c.Response.Usage.Calls
	}
	return list
}

// turn compares the turn wards on each text of a turn.
func (v *visitTest) turn(a *trace.Attempt, t *trace.Turn) (d wards.Decision, err error) {
	budget := wards.NewBudget(0)
	list := exchanges(t)
	for i, e := range list {
		v.known.exchange(t, e.at)
		s := &slot{said: engine.Said{At: e.at, Attempt: a.Number, Turn: t.Number, Text: e.text}}
		for j := range t.Verdicts {
			if w := &t.Verdicts[j]; w.Moment == string(wards.Turn) && above(w.Path) == e.at {
				s.recorded = append(s.recorded, w)
			}
		}
		if len(v.phase.Wards.Turn) > 0 {
			s.subject = v.past.Subject(s.said)
		}
		outcomes, err := v.checks(s, v.phase.Wards.Turn, nil, false)
		if err != nil {
			return d, err
		}
		v.left(s)
		if i > 0 && d.Action != wards.Again {
			if v.made {
				v.saved += e.calls // the turn was over
			}
			continue
		}
		d = budget.Decide(i+1, outcomes)
	}
	return d, nil
}

// early compares loop_until where it might have ended the turns.
func (v *visitTest) early(a *trace.Attempt, t *trace.Turn) error {
	list := exchanges(t)
	if len(list) == 0 {
		return nil
	}
	s := &slot{said: engine.Said{At: t.Path, Attempt: a.Number, Turn: t.Number, Text: t.Text()}, recorded: loops(t)}
	if loop := v.phase.Rules.Loop; loop != nil && t.Number+1 < v.phase.Rules.MaxTurns {
		s.subject = v.past.Subject(s.said)
		if _, err := v.checks(s, []*cascades.Check{loop}, nil, false); err != nil {
			return err
		}
	}
	v.left(s)
	return nil
}

func loops(t *trace.Turn) []*trace.Verdict {
	var list []*trace.Verdict
	for i := range t.Verdicts {
		if t.Verdicts[i].Moment == string(wards.LoopUntil) {
			list = append(list, &t.Verdicts[i])
		}
	}
	return list
}

// final compares the checks of an attempt's final text, cheapest first.
func (v *visitTest) final(a *trace.Attempt, won int) ([]wards.Outcome, error) {
	outcomes, err := v.gate(a)
	if err != nil || v.phase.Tool != nil && a.Text == "" { // a gate that said no left no text
		return outcomes, err
	}
	s := finalSlot(a)
	subject, found := v.past.Final(s.said)
	unfit := false
	for _, o := range found {
		v.note(s, string(o.Ward.Moment), o.Ward, s.take(string(o.Ward.Moment), o.Ward.Name), &o)
		unfit = o.Failed()
	}
	outcomes = append(outcomes, found...)
	if loop := v.phase.Rules.Loop; loop != nil {
		s.subject = v.past.Subject(s.said)
		more, err := v.checks(s, []*cascades.Check{loop}, nil, unfit)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, more...)
	}
	s.subject = subject
	if v.filtered(a, s) {
		// It costs the try its candidacy, not the attempt its release.
		if _, err := v.checks(s, []*cascades.Check{v.phase.Soundings.Filter}, nil, unfit); err != nil {
			return nil, err
		}
	}
	if a.Sounding == won {
		more, err := v.checks(s, v.phase.Wards.Post, nil, unfit)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, more...)
	}
	v.left(s)
	return outcomes, nil
}

// finalSlot has the recorded verdicts on an attempt's final text.
func finalSlot(a *trace.Attempt) *slot {
	s := &slot{said: engine.Said{At: a.Path, Attempt: a.Number, Text: a.Text}}
	for i := range a.Verdicts {
		s.recorded = append(s.recorded, &a.Verdicts[i])
	}
	if n := len(a.Turns); n > 0 {
		s.said.Turn = a.Turns[n-1].Number
		s.recorded = append(s.recorded, loops(a.Turns[n-1])...) // it may have ended the turns on this very text
	}
	return s
}

// gate compares the verdict of a phase that is a validator.
func (v *visitTest) gate(a *trace.Attempt) ([]wards.Outcome, error) {
	s := &slot{said: engine.Said{At: a.Path.Join("tool"), Attempt: a.Number}}
	for i := range v.visit.Verdicts {
		if w := &v.visit.Verdicts[i]; strings.HasPrefix(string(w.Path), string(s.said.At)+"/") {
			s.recorded = append(s.recorded, w)
		}
	}
	defer v.left(s)
	if v.phase.Tool == nil || v.phase.Tool.Validator == nil {
		return nil, nil
	}
	was := s.take(string(wards.Post), v.phase.Tool.Validator.Name)
	if !v.allowed(v.phase.Tool.Validator) {
		w := v.past.Ward()
		v.note(s, string(wards.Post), w, was, nil)
		o, said := recordedOutcome(w, was)
		if !said {
			return nil, nil
		}
		return []wards.Outcome{o}, nil
	}
	o, err := v.past.Gate(s.said)
	if err != nil {
		return nil, err
	}
	v.note(s, string(wards.Post), o.Ward, was, &o)
	return []wards.Outcome{o}, nil
}

// filtered tells whether the validator of soundings sees the attempt: the one
// that made its try a candidate.
func (v *visitTest) filtered(a *trace.Attempt, s *slot) bool {
	if v.phase.Soundings == nil || v.phase.Soundings.Filter == nil || a.Sounding < 0 {
		return false
	}
	for _, w := range s.recorded {
		if w != nil && filters(w) {
			return true
		}
	}
	candidate := false
	for _, other := range v.visit.Attempts {
		if other.Sounding != a.Sounding {
			continue
		}
		for i := range other.Verdicts {
			if filters(&other.Verdicts[i]) {
				return false // another was
			}
			candidate = candidate || other.Verdicts[i].Moment == string(wards.Post) && other == a
		}
	}
	return candidate || a.Status == "succeeded"
}
