package backtest

import (
	"errors"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/checkorder"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// A visitTest compares one visit to a phase.
type visitTest struct {
	level
	visit         *trace.Phase
	phase         *cascades.Phase
	past          *engine.Recheck
	inner         map[event.Path][]*trace.Phase // nested runs that were not compared yet
	reached       bool                          // the run would have reached this point
	unanswered    bool                          // a check of the attempt did not run and has no recorded verdict
	unknown       bool                          // such a check could have rejected the text
	interrupted   bool                          // the attempt ended before all its checks ran
	skippedCalls  int                           // calls of the attempt that would not have been made
	ended         *AttemptChange                // the change that ends the cascade
	locals        map[string]any                // of an item
	rejectedTries map[event.Path]bool           // soundings with rejected instructions

	base  map[string]any                    // the state before the first attempt
	state map[*trace.Attempt]map[string]any // after each attempt
}

// A slot holds the recorded verdicts on one text. Each verdict is compared once.
type slot struct {
	text     engine.RecordedText
	subject  validators.Subject
	recorded []*trace.Verdict
}

// picked returns the verdicts that satisfy a condition.
func picked(from []trace.Verdict, of func(*trace.Verdict) bool) (list []*trace.Verdict) {
	for i := range from {
		if of(&from[i]) {
			list = append(list, &from[i])
		}
	}
	return list
}

// take returns the recorded verdict of a check and removes it. The first verdict of a name belongs
// to the first check of that name.
func (s *slot) take(moment, validator string) *trace.Verdict {
	first := -1
	for i, v := range s.recorded {
		if v != nil && v.CheckMoment() == moment && v.Validator == validator && (first < 0 || before(v.Path, s.recorded[first].Path)) {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	v := s.recorded[first]
	s.recorded[first] = nil
	return v
}

// before reports the order of two checks of the same moment. Checks in shadow ran last.
func before(a, b event.Path) bool {
	return a.Parent() == b.Parent() && (len(a) < len(b) || len(a) == len(b) && a < b)
}

func (v *visitTest) test() error {
	v.past = engine.NewRecheck(v.host, v.Cascade, v.phase, &v.snapshot.state, v.locals)
	defer func() {
		v.part.usage = v.part.usage.Add(v.past.Usage())
		for _, run := range v.inner {
			v.unknownVisits += visitsOf(run...)
		}
	}()
	if len(v.visit.Branches) > 0 {
		return v.branches()
	}
	if err := v.compareSubs(); err != nil {
		return err
	}
	v.base, v.state = v.snapshot.state.State, map[*trace.Attempt]map[string]any{}
	defer v.saveState()
	if err := v.pre(); err != nil {
		return err
	}
	err := v.compareRewrites()
	if err != nil {
		return err
	}
	if all := v.visit.Attempts; len(all) > 0 && all[0].Sounding >= 0 {
		err = v.soundings(sounding(v.visit))
	} else {
		err = v.try(v.visit.Attempts, -1)
	}
	if err != nil || len(v.visit.Edits) == 0 {
		return err
	}
	return v.try(v.visit.Edits, -1)
}

// saveState keeps the state of the released attempt only.
func (v *visitTest) saveState() {
	v.snapshot.state.State = v.base
	if own, ok := v.state[releasedAttempt(v.visit)]; ok && v.visit.HasOutput() {
		v.snapshot.state.State = own
	}
	v.collectText()
}

// soundings compares the attempts of every sounding.
func (v *visitTest) soundings(won int) error {
	tries := map[int][]*trace.Attempt{}
	var order []int
	for _, a := range v.visit.Attempts {
		if tries[a.Sounding] == nil {
			order = append(order, a.Sounding)
		}
		tries[a.Sounding] = append(tries[a.Sounding], a)
	}
	for _, s := range order {
		reached := v.reached
		v.reached = reached && !v.rejectedTries[tries[s][0].Path.Parent()]
		err := v.try(tries[s], won)
		v.reached = v.reached || reached && v.ended == nil
		if err != nil {
			return err
		}
	}
	return nil
}

// pre compares the pre-wards of the visit.
func (v *visitTest) pre() error {
	s := &slot{text: engine.RecordedText{At: v.visit.Path}}
	s.recorded = picked(v.visit.Verdicts, func(w *trace.Verdict) bool { // without those on rewritten instructions
		return strings.HasPrefix(string(w.Path), string(v.visit.Path)+"/pre[") && w.Moment == string(wards.Pre)
	})
	stopped := len(v.visit.Attempts) == 0 && len(s.recorded) > 0 && (v.visit.Status == "blocked" || v.visit.Status == "failed")
	started := len(v.visit.Attempts) > 0 || len(s.recorded) > 0 // otherwise a sub-cascade may have ended the visit
	if !started || len(v.phase.Wards.Pre) == 0 && len(s.recorded) == 0 {
		return nil
	}
	subject, noText := v.past.Opening()
	s.subject, s.text.Text = subject, subject.Content
	outcomes, err := v.checks(s, v.phase.Wards.Pre, noText)
	if err != nil {
		return err
	}
	v.countRemaining(s)
	d := new(wards.Budget).Decide(1, outcomes)
	would := outcomeOf[d.Action]
	switch {
	case !v.reached || stopped == (would != Released):
	case stopped:
		v.addAttemptChange(&AttemptChange{Path: string(v.visit.Path), Before: Outcome(v.visit.Status), After: Released,
			again: v.phase.Tool == nil, Text: reports.Fit(s.text.Text, 80)})
	default:
		m := v.addDecision(d, &AttemptChange{Path: string(v.visit.Path), Before: Released, After: would, Text: reports.Fit(s.text.Text, 80)})
		for _, a := range v.visit.Attempts {
			m.Saved += a.Usage().Calls
		}
		v.reached, v.ended = false, m
	}
	return nil
}

// addDecision adds a change with the check that decides it.
func (v *visitTest) addDecision(d wards.Decision, m *AttemptChange) *AttemptChange {
	by := d.By
	if by.Ward == nil && len(d.Failed) > 0 {
		by = d.Failed[0]
	}
	if by.Ward != nil {
		m.By, m.Reason = string(by.Ward.Moment)+" "+by.Ward.Name, by.Verdict.Reason
		if by.Err != nil {
			m.Reason = by.Err.Error()
		}
	}
	return v.addAttemptChange(m)
}

func (v *visitTest) addAttemptChange(m *AttemptChange) *AttemptChange {
	m.Run, m.Cascade, m.Phase = v.run, v.name, v.visit.Name
	v.attemptChanges = append(v.attemptChanges, m)
	return m
}

var outcomeOf = map[wards.Action]Outcome{
	wards.Release: Released, wards.SendBack: Retried, wards.Block: Blocked, wards.Abort: Failed, wards.Exhausted: Exhausted,
}

// checks compares the checks of one moment on one text, and returns the outcomes that decide, in
// the order of the file. Pure checks run first, and judges with after: free run last. After a check
// that stops the run, only checks with a recorded verdict run. noText is the reason why there is no
// text.
func (v *visitTest) checks(s *slot, list []*cascades.Check, noText error) ([]wards.Outcome, error) {
	found := make([]wards.Outcome, len(list))
	recorded := make([]*trace.Verdict, len(list))
	for i, c := range list {
		recorded[i] = s.take(string(v.phase.Moment(c)), c.Ward.Name)
	}
	stopped := false
	for rank := range ranks {
		for i, c := range list {
			if rankOf(c) != rank || stopped && recorded[i] == nil {
				continue
			}
			if by := checkorder.FirstFailed(list, found); c.AfterFree && by != "" {
				found[i] = v.skip(s, c, recorded[i], by)
				continue
			}
			var err error
			if found[i], err = v.check(s, c, recorded[i], noText); err != nil {
				return nil, err
			}
			stopped = stopped || found[i].Ward != nil && found[i].Stops()
		}
	}
	return slices.DeleteFunc(found, func(o wards.Outcome) bool { return o.Ward == nil }), nil
}

// ranks is the number of groups of checks that run in sequence.
const ranks = 3

func rankOf(c *cascades.Check) int {
	switch {
	case c.Validator.Pure:
		return 0
	case c.AfterFree:
		return 2
	}
	return 1
}

// skip compares a judge that would not run, and counts its saved calls.
func (v *visitTest) skip(s *slot, c *cascades.Check, was *trace.Verdict, by string) wards.Outcome {
	o := checkorder.Skipped(c.Ward, by)
	v.countVerdict(s, string(v.phase.Moment(c)), c.Ward, was, &o)
	if was != nil && v.reached {
		v.saved += callsBelow(v.visit, was.Path)
	}
	return o
}

// check compares one check. The outcome has no ward if the check did not run and has no recorded
// verdict.
func (v *visitTest) check(s *slot, c *cascades.Check, was *trace.Verdict, noText error) (wards.Outcome, error) {
	var stop *AttemptChange
	if noText == nil {
		var err error
		if stop, err = v.compareJudge(c.Validator, was, s.subject); err != nil {
			return wards.Outcome{}, err
		}
	}
	if !v.allowed(c.Validator) {
		return v.withoutAsking(s, string(v.phase.Moment(c)), c.Ward, was, stop), nil
	}
	o := wards.Outcome{Ward: c.Ward, Err: noText}
	if noText == nil {
		var err error
		if o, err = v.past.Check(s.text, c, s.subject); err != nil {
			return o, err
		}
	}
	if was == nil && AsksModel(c.Validator) && v.reached {
		v.added++
	}
	v.countVerdict(s, string(v.phase.Moment(c)), c.Ward, was, &o)
	return o, nil
}

// withoutAsking returns the outcome of a check that may not run: the recorded one, or an error if
// its cascade would have ended.
func (v *visitTest) withoutAsking(s *slot, moment string, w *wards.Ward, was *trace.Verdict, stop *AttemptChange) wards.Outcome {
	if stop != nil {
		o := wards.Outcome{Ward: w, Err: stop.asError()}
		v.countVerdict(s, moment, w, was, &o)
		return o
	}
	v.countVerdict(s, moment, w, was, nil)
	o, found := recordedOutcome(w, was)
	v.unanswered = v.unanswered || !found
	v.unknown = v.unknown || !found && w.Mode.Enforces()
	return o
}

// recordedOutcome returns the recorded outcome of a check, and reports whether there is one.
func recordedOutcome(w *wards.Ward, was *trace.Verdict) (wards.Outcome, bool) {
	switch {
	case was == nil || was.Valid == nil && was.Error == nil:
		return wards.Outcome{}, false
	case was.Valid == nil:
		return wards.Outcome{Ward: w, Err: errors.New(*was.Error)}, true
	}
	return wards.Outcome{Ward: w, Verdict: validators.Verdict{Valid: *was.Valid, Reason: was.Reason}}, true
}

// countRemaining counts the recorded verdicts of removed checks, and the calls of their judges.
func (v *visitTest) countRemaining(s *slot) {
	for _, was := range s.recorded {
		if was == nil {
			continue
		}
		v.countVerdict(s, was.CheckMoment(), &wards.Ward{Name: was.Validator, Mode: wards.Mode(was.Mode)}, was, nil)
		if v.reached {
			v.saved += callsBelow(v.visit, was.Path)
		}
	}
}

// countVerdict counts how a verdict differs, and stores the difference if the report lists it.
func (v *visitTest) countVerdict(s *slot, moment string, w *wards.Ward, was *trace.Verdict, now *wards.Outcome) {
	if v.interrupted && was == nil {
		return // it is unknown whether the check would have run
	}
	c := Change{
		Run: v.run, Path: string(s.text.At), Cascade: v.name, Phase: v.visit.Name, Attempt: s.text.Attempt, Turn: s.text.Turn,
		Moment: moment, Validator: w.Name, Mode: string(w.Mode),
	}
	if was != nil {
		c.Before, c.BeforeReason = recordedAnswer(was)
	}
	switch {
	case now == nil && w.Moment == "":
		c.Kind = Removed
	case now == nil:
		c.Kind = NotRun
	default:
		c.After, c.AfterReason = newAnswer(*now)
		c.Kind = kind(c.Before, c.After)
	}
	v.count(c)
	if c.Kind == NowFails || c.Kind == NowPasses || c.Kind == NoVerdict || c.Kind == New && c.After == Fail {
		c.Text = reports.Fit(s.text.Text, 80)
		v.changes = append(v.changes, c)
	}
}

func recordedAnswer(v *trace.Verdict) (Answer, string) {
	o, ok := recordedOutcome(nil, v)
	if !ok {
		return Skip, v.Reason
	}
	return newAnswer(o)
}

func newAnswer(o wards.Outcome) (Answer, string) {
	switch {
	case o.Err != nil:
		return Error, o.Err.Error()
	case o.Skipped:
		return Skip, o.Verdict.Reason
	case o.Verdict.Valid:
		return Pass, o.Verdict.Reason
	default:
		return Fail, o.Verdict.Reason
	}
}
