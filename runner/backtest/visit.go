package backtest

import (
	"errors"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/lots"
	"github.com/seed61713e19/capstan/runner/trace"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// A visitTest holds one visit to a phase against the cascade's checks.
type visitTest struct {
	level
	visit   *trace.Phase
	phase   *cascades.Phase
	past    *engine.Past
	inner   map[event.Path][]*trace.Phase // the runs of cascades that were not looked at yet
	made    bool                          // the run would have come here
	unsaid  bool                          // a check of the attempt was neither asked nor recorded
	unknown bool                          // and it could have refused the text
	cut     bool                          // something else ended the attempt, before all its checks had been asked
	spared  int                           // calls of the attempt that would not have been made
	ended   *Move                         // that ends the cascade here
	locals  map[string]any                // of an item
	lost    map[event.Path]bool           // tries that would not have begun: see reworded

	base  map[string]any                    // the state before the first attempt
	state map[*trace.Attempt]map[string]any // as each attempt left it
}

// A slot is the recorded verdicts on one text, of which each is compared once.
type slot struct {
	said     engine.Said
	subject  validators.Subject
	recorded []*trace.Verdict
}

// picked are those of some verdicts that are of one text.
func picked(from []trace.Verdict, of func(*trace.Verdict) bool) (list []*trace.Verdict) {
	for i := range from {
		if of(&from[i]) {
			list = append(list, &from[i])
		}
	}
	return list
}

// take gives the recorded verdict of a check: the n-th of its name belongs to
// the n-th check of that name.
func (s *slot) take(moment, validator string) *trace.Verdict {
	first := -1
	for i, v := range s.recorded {
		if v != nil && v.Asked() == moment && v.Validator == validator && (first < 0 || before(v.Path, s.recorded[first].Path)) {
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

// before tells whether a check stands before another of its moment: those in
// shadow were heard last, wherever they stand.
func before(a, b event.Path) bool {
	return a.Up() == b.Up() && (len(a) < len(b) || len(a) == len(b) && a < b)
}

func (v *visitTest) test() error {
	v.past = engine.NewPast(v.host, v.Cascade, v.phase, &v.known.state, v.locals)
	defer func() {
		v.part.usage = v.part.usage.Add(v.past.Usage())
		for _, run := range v.inner {
			v.strange += visitsOf(run...)
		}
	}()
	if len(v.visit.Branches) > 0 {
		return v.branches()
	}
	if err := v.subs(); err != nil {
		return err
	}
	v.base, v.state = v.known.state.State, map[*trace.Attempt]map[string]any{}
	defer v.keep()
	if err := v.pre(); err != nil {
		return err
	}
	err := v.reworded()
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

// keep has what the attempt that was let out put into the state, and nothing of
// any other.
func (v *visitTest) keep() {
	v.known.state.State = v.base
	if own, ok := v.state[winner(v.visit)]; ok && letOut(v.visit) {
		v.known.state.State = own
	}
	v.collected()
}

// soundings tests every try.
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
		made := v.made
		v.made = made && !v.lost[tries[s][0].Path.Up()]
		err := v.try(tries[s], won)
		v.made = v.made || made && v.ended == nil
		if err != nil {
			return err
		}
	}
	return nil
}

// pre holds what the phase was begun with against its pre-wards.
func (v *visitTest) pre() error {
	s := &slot{said: engine.Said{At: v.visit.Path}}
	s.recorded = picked(v.visit.Verdicts, func(w *trace.Verdict) bool { // not of what a model made of the instructions
		return strings.HasPrefix(string(w.Path), string(v.visit.Path)+"/pre[") && w.Moment == string(wards.Pre)
	})
	stopped := len(v.visit.Attempts) == 0 && len(s.recorded) > 0 && (v.visit.Status == "blocked" || v.visit.Status == "failed")
	came := len(v.visit.Attempts) > 0 || len(s.recorded) > 0 // so far; a sub-cascade may have ended the visit
	if !came || len(v.phase.Wards.Pre) == 0 && len(s.recorded) == 0 {
		return nil
	}
	subject, unsaid := v.past.Opening()
	s.subject, s.said.Text = subject, subject.Content
	outcomes, err := v.checks(s, v.phase.Wards.Pre, unsaid)
	if err != nil {
		return err
	}
	v.left(s)
	d := new(wards.Budget).Decide(1, outcomes)
	would := fates[d.Action]
	switch {
	case !v.made || stopped == (would != Released):
	case stopped:
		v.move(&Move{Path: string(v.visit.Path), Was: Fate(v.visit.Status), Would: Released, again: v.phase.Tool == nil, Text: excerpt(s.said.Text)})
	default:
		m := v.decided(d, &Move{Path: string(v.visit.Path), Was: Released, Would: would, Text: excerpt(s.said.Text)})
		for _, a := range v.visit.Attempts {
			m.Saved += a.Usage().Calls
		}
		v.made, v.ended = false, m
	}
	return nil
}

// decided notes a move with the check that decides it.
func (v *visitTest) decided(d wards.Decision, m *Move) *Move {
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
	return v.move(m)
}

func (v *visitTest) move(m *Move) *Move {
	m.Run, m.Cascade, m.Phase = v.run, v.name, v.visit.Name
	v.moves = append(v.moves, m)
	return m
}

var fates = map[wards.Action]Fate{
	wards.Release: Released, wards.Again: Retried, wards.Block: Blocked, wards.Break: Failed, wards.Exhausted: Exhausted,
}

// checks compares the checks of one moment on one text with what was recorded,
// and gives the outcomes that decide, in file order. They are asked as a run
// asks them: the pure ones first, judges that wait for free ones last, and after
// one that stops the run no other but those that have something to compare. Of a check that may not be asked, what
// was recorded decides. Unsaid is why there is no text to judge.
func (v *visitTest) checks(s *slot, list []*cascades.Check, unsaid error) ([]wards.Outcome, error) {
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
			if by := lots.Refused(list, found); c.AfterFree && by != "" {
				found[i] = v.skip(s, c, recorded[i], by)
				continue
			}
			var err error
			if found[i], err = v.check(s, c, recorded[i], unsaid); err != nil {
				return nil, err
			}
			stopped = stopped || found[i].Ward != nil && found[i].Stops()
		}
	}
	return slices.DeleteFunc(found, func(o wards.Outcome) bool { return o.Ward == nil }), nil
}

// ranks is how many ranks there are of checks that run one behind the other.
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

// skip compares a judge that would not be asked, and spares what asking it cost.
func (v *visitTest) skip(s *slot, c *cascades.Check, was *trace.Verdict, by string) wards.Outcome {
	o := lots.NotAsked(c.Ward, by)
	v.note(s, string(v.phase.Moment(c)), c.Ward, was, &o)
	if was != nil && v.made {
		v.saved += callsBelow(v.visit, was.Path)
	}
	return o
}

// check compares one check; its outcome has no ward where there is none.
func (v *visitTest) check(s *slot, c *cascades.Check, was *trace.Verdict, unsaid error) (wards.Outcome, error) {
	var stop *Move
	if unsaid == nil {
		var err error
		if stop, err = v.judging(c.Validator, was, s.subject); err != nil {
			return wards.Outcome{}, err
		}
	}
	if !v.allowed(c.Validator) {
		return v.unasked(s, string(v.phase.Moment(c)), c.Ward, was, stop), nil
	}
	o := wards.Outcome{Ward: c.Ward, Err: unsaid}
	if unsaid == nil {
		var err error
		if o, err = v.past.Check(s.said, c, s.subject); err != nil {
			return o, err
		}
	}
	if was == nil && asks(c.Validator) && v.made {
		v.added++
	}
	v.note(s, string(v.phase.Moment(c)), c.Ward, was, &o)
	return o, nil
}

// unasked is the outcome of a check that may not be asked: what was recorded of
// it, or that the cascade that it is would have ended before it said anything.
func (v *visitTest) unasked(s *slot, moment string, w *wards.Ward, was *trace.Verdict, stop *Move) wards.Outcome {
	if stop != nil {
		o := wards.Outcome{Ward: w, Err: stop.within()}
		v.note(s, moment, w, was, &o)
		return o
	}
	v.note(s, moment, w, was, nil)
	o, said := recordedOutcome(w, was)
	v.unsaid = v.unsaid || !said
	v.unknown = v.unknown || !said && w.Mode.Stands()
	return o
}

// recordedOutcome is what was recorded of a check, where it said anything.
func recordedOutcome(w *wards.Ward, was *trace.Verdict) (wards.Outcome, bool) {
	switch {
	case was == nil || was.Valid == nil && was.Error == nil:
		return wards.Outcome{}, false
	case was.Valid == nil:
		return wards.Outcome{Ward: w, Err: errors.New(*was.Error)}, true
	}
	return wards.Outcome{Ward: w, Verdict: validators.Verdict{Valid: *was.Valid, Reason: was.Reason}}, true
}

// left notes the recorded verdicts of checks that are gone, and the calls of
// their judges.
func (v *visitTest) left(s *slot) {
	for _, was := range s.recorded {
		if was == nil {
			continue
		}
		v.note(s, was.Asked(), &wards.Ward{Name: was.Validator, Mode: wards.Mode(was.Mode)}, was, nil)
		if v.made {
			v.saved += callsBelow(v.visit, was.Path)
		}
	}
}

// note counts how a verdict compares, and keeps it where that is worth telling.
func (v *visitTest) note(s *slot, moment string, w *wards.Ward, was *trace.Verdict, now *wards.Outcome) {
	if v.cut && was == nil {
		return // nobody knows whether it would have been asked
	}
	c := Change{
		Run: v.run, Path: string(s.said.At), Cascade: v.name, Phase: v.visit.Name, Attempt: s.said.Attempt, Turn: s.said.Turn,
		Moment: moment, Validator: w.Name, Mode: string(w.Mode),
	}
	if was != nil {
		c.Was, c.WasReason = answerOf(was)
	}
	switch {
	case now == nil && w.Moment == "":
		c.Kind = Gone
	case now == nil:
		c.Kind = NotRun
	default:
		c.Now, c.NowReason = answered(*now)
		c.Kind = kind(c.Was, c.Now)
	}
	v.count(c)
	if c.Kind == ToNo || c.Kind == ToYes || c.Kind == Unsaid || c.Kind == New && c.Now == No {
		c.Text = excerpt(s.said.Text)
		v.changes = append(v.changes, c)
	}
}

func answerOf(v *trace.Verdict) (Answer, string) {
	switch {
	case v.Valid == nil && v.Error != nil:
		return Error, *v.Error
	case v.Valid == nil:
		return Skip, v.Reason
	case *v.Valid:
		return Yes, v.Reason
	default:
		return No, v.Reason
	}
}

func answered(o wards.Outcome) (Answer, string) {
	switch {
	case o.Err != nil:
		return Error, o.Err.Error()
	case o.Skipped:
		return Skip, o.Verdict.Reason
	case o.Verdict.Valid:
		return Yes, o.Verdict.Reason
	default:
		return No, o.Verdict.Reason
	}
}
