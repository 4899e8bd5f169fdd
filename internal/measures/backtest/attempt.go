package backtest

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/wards"
)

// try compares the attempts of one conversation. They share one budget. won is the sounding that
// post-wards judge, or -1 without soundings.
func (v *visitTest) try(attempts []*trace.Attempt, won int) error {
	limit := 0
	byPerson := len(attempts) > 0 && attempts[0].Edited
	if v.phase.Rules.Capped && !(byPerson && v.phase.Compose != nil) { // which limits computed texts
		limit = v.phase.Rules.MaxAttempts
	}
	budget := wards.NewBudget(limit)
	reached := v.reached
	defer func() { v.reached = reached && v.ended == nil }()
	for i, a := range attempts {
		v.unanswered, v.unknown, v.skippedCalls = false, false, 0
		d, turn, err := v.attempt(a, won, budget)
		if err != nil {
			return err
		}
		if was, found := attemptOutcome(a); found {
			v.countOutcome(attempts[i:], was, d, turn)
		}
	}
	return nil
}

// countOutcome counts the new outcome of the first attempt, and decides whether the run would have
// made the others.
func (v *visitTest) countOutcome(remaining []*trace.Attempt, was Outcome, d wards.Decision, turn bool) {
	a, would := remaining[0], outcomeOf[d.Action]
	if was == Failed && (v.unanswered && would == Released || v.unknown && would != Blocked) {
		would = was // the check that did not run may have decided this
	}
	if !v.reached {
		would = NotMade
	}
	v.part.attempts++
	v.outcomeCounts[[2]Outcome{was, would}]++
	at := place{v.name, v.visit.Name}
	spent := v.calls[at]
	v.calls[at] = calls{spent.attempts + 1, spent.calls + a.Usage().Calls}
	if !v.reached {
		return
	}
	v.reached = would == Retried // otherwise the run would not have made the following attempts
	if was == would {
		v.saved += v.skippedCalls
		return
	}
	m := v.addDecision(d, &AttemptChange{Path: string(a.Path), Attempt: a.Number, Before: was, After: would, Text: reports.Fit(a.Text, 80)})
	m.Saved += v.skippedCalls
	switch {
	case would != Retried:
		for _, later := range remaining[1:] {
			m.Saved += later.Usage().Calls
		}
		// A rejected sounding does not end the visit. Post-wards judge the winner.
		alone := a.Sounding < 0 || d.By.Ward != nil && d.By.Ward.Moment == wards.Post
		if alone && (ends(v.phase, would) || would == Exhausted && d.By.Ward.Moment == byTool) {
			v.ended = m
		}
	case len(remaining) == 1:
		m.again = !turn
		if turn {
			m.Added++
		}
	}
}

// ends reports whether an outcome ends the run.
func ends(p *cascades.Phase, f Outcome) bool {
	switch f {
	case Failed:
		return p.Rules.OnError == ""
	case Exhausted:
		return p.Rules.OnExhausted == keywords.OnExhaustedFail
	default:
		return f == Blocked
	}
}

// attemptOutcome returns the recorded outcome of an attempt, and reports whether checks decided it.
func attemptOutcome(a *trace.Attempt) (Outcome, bool) {
	switch a.Status {
	case "succeeded":
		return Released, true
	case "retry":
		return Retried, true
	case "blocked":
		return Blocked, !endedByTool(a)
	case "exhausted":
		return Exhausted, !endedByTool(a)
	case "failed":
		return Failed, a.Text != "" && hasText(a)
	}
	return "", false
}

// wasInterrupted reports whether an attempt or a visit ended without the decision of a check.
func wasInterrupted(status string) bool {
	return slices.Contains([]string{"cancelled", "over_budget", "waiting"}, status)
}

// failedByCheck reports whether a check that the phase still has ended the attempt with an error,
// so that other checks did not run. The verdict of a cascade may be missing.
func (v *visitTest) failedByCheck(a *trace.Attempt) bool {
	found := picked(a.Verdicts, isError)
	for _, t := range a.Turns {
		found = append(found, picked(t.Verdicts, isError)...)
	}
	return slices.ContainsFunc(v.phase.Checks(), func(c *cascades.Check) bool {
		return c.Validator.Cascade != nil || slices.ContainsFunc(found, func(w *trace.Verdict) bool { return w.Validator == c.Ward.Name })
	})
}

func isError(w *trace.Verdict) bool { return w.Error != nil }

// hasText reports whether the last answer of the model, if any, is a text, and loop_until gave a
// verdict.
func hasText(a *trace.Attempt) bool {
	if len(a.Turns) == 0 {
		return true
	}
	last := a.Turns[len(a.Turns)-1]
	return ended(last) && !slices.ContainsFunc(loops(last), isError)
}

// endedByTool reports whether a cascade as the tool of the phase ended the attempt.
func endedByTool(a *trace.Attempt) bool {
	return len(a.Tools) > 0 && len(a.Turns)+len(a.Verdicts) == 0
}

// byTool is the moment of the tool of a phase.
const byTool wards.Moment = "tool"

var actions = map[Outcome]wards.Action{Blocked: wards.Block, Exhausted: wards.Exhausted, Failed: wards.Abort}

// attempt compares every check of an attempt and decides its new outcome. turn reports that a turn
// would have been repeated.
func (v *visitTest) attempt(a *trace.Attempt, won int, budget *wards.Budget) (d wards.Decision, turn bool, err error) {
	reached := v.reached
	v.interrupted = wasInterrupted(a.Status) || wasInterrupted(v.visit.Status) || a.Status == "failed" && v.failedByCheck(a)
	v.snapshot.state.State = v.base
	defer func() { v.reached, v.state[a] = reached, v.snapshot.state.State }()
	stopped, err := v.turns(a)
	if err != nil {
		return d, false, err
	}
	stop, err := v.tools(a.Tools, nil)
	if err != nil {
		return d, false, err
	}
	if stop != nil && v.phase.Tool != nil {
		o := wards.Outcome{Ward: &wards.Ward{Name: v.phase.Tool.Name, Moment: byTool}, Err: stop.asError()}
		stopped = &wards.Decision{Action: actions[stop.After], By: o}
		v.skipCalls(a.Usage().Calls - callsBelow(v.visit, a.Path.Join("tool")))
	}
	if _, found := attemptOutcome(a); !found {
		return wards.Decision{}, false, nil
	}
	if stopped != nil && len(a.Verdicts) == 0 {
		return *stopped, stopped.Action == wards.SendBack, nil // no text was final
	}
	outcomes, err := v.final(a, won)
	if err != nil {
		return d, false, err
	}
	d = budget.Decide(a.Number, outcomes)
	switch {
	case stopped == nil:
		return d, false, nil
	case v.ends(*stopped) || d.Action != wards.Block && d.Action != wards.Abort:
		return *stopped, stopped.Action == wards.SendBack, nil
	}
	return d, false, nil
}

// skipCalls counts calls of the rest of the attempt that the run would not have made.
func (v *visitTest) skipCalls(calls int) {
	if v.reached {
		v.skippedCalls, v.reached = calls, false
	}
}

// ends reports whether the decision of a turn ends the attempt without a verdict on the text.
func (v *visitTest) ends(d wards.Decision) bool {
	switch on := v.phase.Rules.OnExhausted; d.Action {
	case wards.Block, wards.Abort:
		return true
	case wards.Exhausted:
		return on != keywords.OnExhaustedLast && on != keywords.OnExhaustedBest
	default:
		return false
	}
}

// final compares the checks of an attempt's final text, the cheapest first.
func (v *visitTest) final(a *trace.Attempt, won int) ([]wards.Outcome, error) {
	outcomes, err := v.gate(a)
	if err != nil || v.phase.Tool != nil && a.Text == "" { // after a rejection there is no text
		return outcomes, err
	}
	s := finalSlot(a)
	subject, found := v.past.Final(s.text)
	for _, o := range found {
		v.countVerdict(s, string(o.Ward.Moment), o.Ward, s.take(string(o.Ward.Moment), o.Ward.Name), &o)
		s.text.Unfit = o.Failed()
	}
	outcomes = append(outcomes, found...)
	if loop := v.phase.Rules.Loop; loop != nil {
		s.subject = v.past.Subject(s.text)
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
		if a.Sounding < 0 || a.Number != v.candidate(a.Sounding) { // otherwise the sounding is no candidate, but the attempt is released
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
	v.countRemaining(s)
	return outcomes, nil
}

// finalSlot returns the recorded verdicts on an attempt's final text.
func finalSlot(a *trace.Attempt) *slot {
	s := &slot{text: engine.RecordedText{At: a.Path, Attempt: a.Number, Text: a.Text}}
	s.recorded = picked(a.Verdicts, func(*trace.Verdict) bool { return true })
	if n := len(a.Turns); n > 0 {
		s.text.Turn = a.Turns[n-1].Number
		s.recorded = append(s.recorded, loops(a.Turns[n-1])...) // loop_until may have ended the turns with this text
	}
	return s
}

// gate compares the verdict of a phase that is a validator.
func (v *visitTest) gate(a *trace.Attempt) ([]wards.Outcome, error) {
	s := &slot{text: engine.RecordedText{At: a.Path.Join("tool"), Attempt: a.Number}}
	s.recorded = picked(v.visit.Verdicts, func(w *trace.Verdict) bool { return strings.HasPrefix(string(w.Path), string(s.text.At)+"/") })
	defer v.countRemaining(s)
	if v.phase.Tool == nil || v.phase.Tool.Validator == nil {
		return nil, nil
	}
	was := s.take(string(wards.Post), v.phase.Tool.Validator.Name)
	if v.phase.Tool.Validator.Cascade != nil {
		s.subject = v.gateSubject(s.text)
	}
	stop, err := v.compareJudge(v.phase.Tool.Validator, was, s.subject)
	if err != nil {
		return nil, err
	}
	if !v.allowed(v.phase.Tool.Validator) {
		o := v.withoutAsking(s, string(wards.Post), v.past.Ward(), was, stop)
		if o.Ward == nil {
			return nil, nil
		}
		return []wards.Outcome{o}, nil
	}
	o, err := v.past.Gate(s.text)
	if err != nil {
		return nil, err
	}
	v.countVerdict(s, string(wards.Post), o.Ward, was, &o)
	return []wards.Outcome{o}, nil
}

// candidate returns the number of the attempt that made a sounding a candidate, or 0. It is the
// first attempt that was released or that the validator of soundings or a post-ward judged.
func (v *visitTest) candidate(sounding int) int {
	for _, a := range v.visit.Attempts {
		if a.Sounding == sounding && (a.Status == "succeeded" || slices.ContainsFunc(a.Verdicts, func(w trace.Verdict) bool {
			return w.Moment == string(wards.Post) // also the moment of the validator of soundings
		})) {
			return a.Number
		}
	}
	return 0
}

// judged reports which checks judge the final text of an attempt. The validator of soundings judges
// the attempt that made its sounding a candidate, and all later attempts of the winner. Post-wards
// judge the attempts of the winner, or all attempts without soundings.
func (v *visitTest) judged(a *trace.Attempt, won int) (filter, post bool) {
	n := v.candidate(a.Sounding)
	post = a.Sounding < 0 || a.Sounding == won && n > 0 && a.Number >= n
	filter = v.phase.Soundings != nil && v.phase.Soundings.Filter != nil && (post || a.Number == n)
	return filter, post
}
