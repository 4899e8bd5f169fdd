package backtest

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/trace"
	"github.com/seed61713e19/capstan/wards"
)

// try holds the attempts of one conversation against the checks: each spends
// the budgets of those before it. Won is the sounding that post-wards judge,
// -1 where there are none.
func (v *visitTest) try(attempts []*trace.Attempt, won int) error {
	limit := 0
	byPerson := len(attempts) > 0 && attempts[0].Edited
	if v.phase.Rules.Capped && !(byPerson && v.phase.Compose != nil) { // which caps what is computed
		limit = v.phase.Rules.MaxAttempts
	}
	budget := wards.NewBudget(limit)
	made := v.made
	defer func() { v.made = made && v.ended == nil }()
	for i, a := range attempts {
		v.unsaid, v.unknown, v.spared = false, false, 0
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
	if was == Failed && (v.unsaid && would == Released || v.unknown && would != Blocked) {
		would = was // by the check that was not asked, for all that is known
	}
	if !v.made {
		would = NotMade
	}
	v.part.attempts++
	v.fates[[2]Fate{was, would}]++
	at := place{v.name, v.visit.Name}
	spent := v.calls[at]
	v.calls[at] = calls{spent.attempts + 1, spent.calls + a.Usage().Calls}
	if !v.made {
		return
	}
	v.made = would == Retried // else whatever comes in this try would not have been
	if was == would {
		v.saved += v.spared
		return
	}
	m := v.decided(d, &Move{Path: string(a.Path), Attempt: a.Number, Was: was, Would: would, Text: excerpt(a.Text)})
	m.Saved += v.spared
	switch {
	case would != Retried:
		for _, later := range left[1:] {
			m.Saved += later.Usage().Calls
		}
		// A sounding that is lost leaves the others; post-wards judge the winner.
		alone := a.Sounding < 0 || d.By.Ward != nil && d.By.Ward.Moment == wards.Post
		if alone && (ends(v.phase, would) || would == Exhausted && d.By.Ward.Moment == byTool) {
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
		return Blocked, !fell(a)
	case "exhausted":
		return Exhausted, !fell(a)
	case "failed":
		return Failed, a.Text != "" && spoken(a)
	}
	return "", false
}

// cutShort tells whether something besides its checks ended an attempt or a visit.
func cutShort(status string) bool {
	return slices.Contains([]string{"cancelled", "over_budget", "waiting"}, status)
}

// brokeBy tells whether a check that the phase still has is what an attempt failed by,
// so that those beside it were not asked to the end. Of one that is a cascade nothing
// may be told.
func (v *visitTest) brokeBy(a *trace.Attempt) bool {
	told := picked(a.Verdicts, broken)
	for _, t := range a.Turns {
		told = append(told, picked(t.Verdicts, broken)...)
	}
	return slices.ContainsFunc(v.phase.Checks(), func(c *cascades.Check) bool {
		return c.Validator.Cascade != nil || slices.ContainsFunc(told, func(w *trace.Verdict) bool { return w.Validator == c.Ward.Name })
	})
}

func broken(w *trace.Verdict) bool { return w.Error != nil }

// spoken tells whether the last that an attempt's model was asked for, if it was, is a
// text, and loop_until could say whether there are to be more.
func spoken(a *trace.Attempt) bool {
	if len(a.Turns) == 0 {
		return true
	}
	last := a.Turns[len(a.Turns)-1]
	return ended(last) && !slices.ContainsFunc(loops(last), broken)
}

// fell tells whether a cascade that was the attempt's tool ended it.
func fell(a *trace.Attempt) bool {
	return len(a.Tools) > 0 && len(a.Turns)+len(a.Verdicts) == 0
}

// byTool stands for the moment where a phase's tool is at work.
const byTool wards.Moment = "tool"

var actions = map[Fate]wards.Action{Blocked: wards.Block, Exhausted: wards.Exhausted, Failed: wards.Break}

// attempt compares every check of an attempt and decides what would have become
// of it; turn says that a turn would have been taken again.
func (v *visitTest) attempt(a *trace.Attempt, won int, budget *wards.Budget) (d wards.Decision, turn bool, err error) {
	made := v.made
	v.cut = cutShort(a.Status) || cutShort(v.visit.Status) || a.Status == "failed" && v.brokeBy(a)
	v.known.state.State = v.base
	defer func() { v.made, v.state[a] = made, v.known.state.State }()
	stopped, err := v.turns(a)
	if err != nil {
		return d, false, err
	}
	stop, err := v.tools(a.Tools, nil)
	if err != nil {
		return d, false, err
	}
	if stop != nil && v.phase.Tool != nil {
		o := wards.Outcome{Ward: &wards.Ward{Name: v.phase.Tool.Name, Moment: byTool}, Err: stop.within()}
		stopped = &wards.Decision{Action: actions[stop.Would], By: o}
		v.spare(a.Usage().Calls - callsBelow(v.visit, a.Path.Join("tool")))
	}
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
	switch {
	case stopped == nil:
		return d, false, nil
	case v.ends(*stopped) || d.Action != wards.Block && d.Action != wards.Break:
		return *stopped, stopped.Action == wards.Again, nil
	}
	return d, false, nil
}

// spare notes that so many calls, which are the rest of the attempt or of its
// turns, would not have been made.
func (v *visitTest) spare(calls int) {
	if v.made {
		v.spared, v.made = calls, false
	}
}

// ends tells whether a turn's decision ends the attempt whatever its text is.
func (v *visitTest) ends(d wards.Decision) bool {
	switch on := v.phase.Rules.OnExhausted; d.Action {
	case wards.Block, wards.Break:
		return true
	case wards.Exhausted:
		return on != cascades.OnExhaustedLast && on != cascades.OnExhaustedBest
	default:
		return false
	}
}

// final compares the checks of an attempt's final text, cheapest first.
func (v *visitTest) final(a *trace.Attempt, won int) ([]wards.Outcome, error) {
	outcomes, err := v.gate(a)
	if err != nil || v.phase.Tool != nil && a.Text == "" { // a gate that said no left no text
		return outcomes, err
	}
	s := finalSlot(a)
	subject, found := v.past.Final(s.said)
	for _, o := range found {
		v.note(s, string(o.Ward.Moment), o.Ward, s.take(string(o.Ward.Moment), o.Ward.Name), &o)
		s.said.Unfit = o.Failed()
	}
	outcomes = append(outcomes, found...)
	if loop := v.phase.Rules.Loop; loop != nil {
		s.subject = v.past.Subject(s.said)
		more, err := v.checks(s, []*cascades.Check{loop}, nil)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, more...)
	}
	s.subject = subject
	filter, post := v.judged(a, won)
	if filter {
		more, err := v.checks(s, []*cascades.Check{v.phase.Soundings.Filter}, nil)
		if err != nil {
			return nil, err
		}
		if a.Sounding < 0 || a.Number != v.candidate(a.Sounding) { // else it costs the try its candidacy, not the attempt its release
			outcomes = append(outcomes, more...)
		}
	}
	if post {
		more, err := v.checks(s, v.phase.Wards.Post, nil)
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
	s.recorded = picked(a.Verdicts, func(*trace.Verdict) bool { return true })
	if n := len(a.Turns); n > 0 {
		s.said.Turn = a.Turns[n-1].Number
		s.recorded = append(s.recorded, loops(a.Turns[n-1])...) // it may have ended the turns on this very text
	}
	return s
}

// gate compares the verdict of a phase that is a validator.
func (v *visitTest) gate(a *trace.Attempt) ([]wards.Outcome, error) {
	s := &slot{said: engine.Said{At: a.Path.Join("tool"), Attempt: a.Number}}
	s.recorded = picked(v.visit.Verdicts, func(w *trace.Verdict) bool { return strings.HasPrefix(string(w.Path), string(s.said.At)+"/") })
	defer v.left(s)
	if v.phase.Tool == nil || v.phase.Tool.Validator == nil {
		return nil, nil
	}
	was := s.take(string(wards.Post), v.phase.Tool.Validator.Name)
	if v.phase.Tool.Validator.Cascade != nil {
		s.subject = v.gated(s.said)
	}
	stop, err := v.judging(v.phase.Tool.Validator, was, s.subject)
	if err != nil {
		return nil, err
	}
	if !v.allowed(v.phase.Tool.Validator) {
		o := v.unasked(s, string(wards.Post), v.past.Ward(), was, stop)
		if o.Ward == nil {
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

// candidate is the number of the attempt that made a try a candidate: the first
// that the validator of soundings or a post-ward saw, or that was let out. It is 0
// where none did.
func (v *visitTest) candidate(sounding int) int {
	for _, a := range v.visit.Attempts {
		if a.Sounding == sounding && (a.Status == "succeeded" || slices.ContainsFunc(a.Verdicts, func(w trace.Verdict) bool {
			return w.Moment == string(wards.Post) // the verdicts of both say so
		})) {
			return a.Number
		}
	}
	return 0
}

// judged tells what looks at the final text of an attempt: the validator of
// soundings at that which made its try a candidate, and at all that came of the
// winner; post-wards at these, and at any where there are no soundings.
func (v *visitTest) judged(a *trace.Attempt, won int) (filter, post bool) {
	n := v.candidate(a.Sounding)
	post = a.Sounding < 0 || a.Sounding == won && n > 0 && a.Number >= n
	filter = v.phase.Soundings != nil && v.phase.Soundings.Filter != nil && (post || a.Number == n)
	return filter, post
}
