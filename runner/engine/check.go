package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/lots"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/expressions"
	"github.com/seed61713e19/capstan/wards"
)

// A place is where checks stand.
type place struct {
	at            event.Path
	phase         string
	attempt, turn int
	tool          string // whose call or result is judged
	unfit         bool   // the text broke its output_schema: a pure check that cannot read it was not asked
	findings      []any  // of the computed checks, for the judges behind them
}

// under is the address of the i-th check of a moment at the place.
func (p place) under(w *wards.Ward, i int) event.Path {
	switch w.Moment {
	case wards.LoopUntil:
		return p.at.Join(string(w.Moment))
	case wards.Turn, wards.Tool:
		return p.at.At("ward", i) // the place is a turn or a call already
	case wards.Result:
		return p.at.At("result_ward", i)
	default:
		return p.at.At(string(w.Moment), i)
	}
}

// checks runs the checks of one moment on one text: the pure ones in file
// order, then the others at the same time, but the judges that wait for free
// ones behind these, and only where none has refused the text. Outcomes come,
// and are told, in file order. The first that stops the run cancels what is
// still running; what was cancelled has no outcome.
func (f *flow) checks(at place, list []*cascades.Check, s validators.Subject) ([]wards.Outcome, error) {
	found := make([]wards.Outcome, len(list)) // without a ward where nothing was found
	paths := make([]event.Path, len(list))
	stopped := false
	var shadows []shadow
	for i, c := range list {
		if !c.Guards(at.tool) {
			continue
		}
		paths[i] = at.under(c.Ward, i)
		if c.Ward.Mode == wards.Shadow {
			shadows = append(shadows, shadow{path: paths[i], at: at, check: c, subject: s})
			continue
		}
		if !c.Validator.Pure || stopped {
			continue
		}
		o, err := f.validate(paths[i], at, c, s)
		if err != nil {
			return nil, err
		}
		found[i], stopped = o, o.Stops()
	}
	at.findings = findingsOf(found)
	var err error
	for _, lot := range lots.Of(at.tool, list) {
		if err == nil {
			err = f.atOnce(at, list, lots.Unskipped(lot, list, found), s, found)
		}
	}
	if err != nil && !settled(err) {
		return nil, err // the run is cut here: it tells them, in this order, when it goes on
	}
	for _, one := range shadows {
		one.by = lots.Refused(list, found)
		f.shadows = append(f.shadows, one)
	}
	outcomes := found[:0] // in place: none overtakes the one that is read
	for i, o := range found {
		if o.Ward != nil {
			f.tell(paths[i], at, o)
			outcomes = append(outcomes, o)
		}
	}
	return outcomes, err
}

// findingsOf lists the issues and warnings of computed checks, as judges behind them read
// them. A rejection without an issue is its reason.
func findingsOf(found []wards.Outcome) []any {
	var list []any
	for _, o := range found {
		issues := slices.Concat(o.Verdict.Issues, o.Verdict.Warnings)
		if o.Ward != nil && o.Failed() && len(issues) == 0 {
			issues = []validators.Issue{{Message: o.Verdict.Reason}}
		}
		for _, i := range issues {
			list = append(list, map[string]any{"validator": o.Ward.Name, "check": i.Check, "message": i.Message, "location": i.Location})
		}
	}
	return list
}

// settled tells whether err is the run's own end and not the host's, which a cascade
// that judges has put into words of its own.
func settled(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code != Cancelled && e.Code != Waiting
}

// errStopped ends the checks that run beside one that stops the run.
var errStopped = errors.New("a check stopped the run")

// atOnce runs some of the checks side by side.
func (f *flow) atOnce(at place, list []*cascades.Check, slow []int, s validators.Subject, found []wards.Outcome) error {
	if len(slow) == 0 {
		return nil
	}
	err := f.fan(len(slow), 0, func(b *flow, n int) error {
		i := slow[n]
		o, err := b.validate(at.under(list[i].Ward, i), at, list[i], s)
		if err != nil {
			return err
		}
		found[i] = o
		if o.Stops() {
			return errStopped
		}
		return nil
	})
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// tell notes an outcome for the result and the events.
func (f *flow) tell(path event.Path, at place, o wards.Outcome) {
	v := event.Verdict{
		Path: path, Phase: at.phase, Attempt: at.attempt, Turn: at.turn,
		Moment: string(o.Ward.Moment), Validator: o.Ward.Name, Mode: string(o.Ward.Mode), Reason: o.Verdict.Reason,
		Score: o.Verdict.Score, Issues: o.Verdict.Issues, Warnings: o.Verdict.Warnings, Fix: o.Verdict.Fix,
		Evidence: o.Verdict.Evidence, Status: o.Verdict.Status, Details: o.Verdict.Details,
	}
	switch {
	case o.Err != nil:
		message := o.Err.Error()
		v.Error = &message
	case o.Skipped:
		v.Status = event.Skipped
	default:
		valid := o.Verdict.Valid
		v.Valid = &valid
	}
	f.s.Verdicts = append(f.s.Verdicts, v)
	f.emit(event.Event{Kind: event.VerdictGiven, Path: path, Verdict: &f.s.Verdicts[len(f.s.Verdicts)-1]})
}

// validate gets one outcome. An error ends the run; that a validator could not
// say is in the outcome. A pure one that cannot read a text which broke its
// schema has not been asked.
func (f *flow) validate(path event.Path, at place, c *cascades.Check, s validators.Subject) (wards.Outcome, error) {
	o := wards.Outcome{Ward: c.Ward}
	if !c.Validator.Pure {
		s.Key = f.key(path)
	}
	var err error
	switch v := c.Validator; {
	case v.Criteria != nil:
		o.Verdict, o.Err, err = f.judged(path, at, v, s)
	case v.Cascade != nil:
		o.Verdict, o.Err, err = f.cascaded(path, v, s)
	default:
		o.Verdict, o.Err, err = f.leaf(path, c, s)
	}
	if o.Err != nil && at.unfit && c.Validator.Pure {
		return lots.NotAsked(c.Ward, string(wards.OutputSchema)), nil
	}
	return o, err
}

func (f *flow) leaf(path event.Path, c *cascades.Check, s validators.Subject) (verdict validators.Verdict, unsaid, err error) {
	v := c.Validator
	var with map[string]any
	if v.Check == nil {
		if with, err = v.With.Render(f.checkVars(s, v.With)); err != nil {
			return verdict, err, nil
		}
	}
	check, err := v.Bound(with)
	if err != nil {
		return verdict, err, nil
	}
	found, err := f.h.Validate(path, Validation{Place: c.Place, Validator: v.Name, Pure: v.Pure, With: with, Subject: s, Check: check})
	if found.Failure != "" {
		unsaid = expressions.Failure(found.Failure)
	}
	return found.Verdict, unsaid, err
}

// stops gives err back where it ends the run whatever the ward's mode: the
// host's own, a spent budget, a script without an answer.
func stops(err error) error {
	var failure *model.Failure
	if errors.As(err, &failure) && failure.Class != model.Unscripted {
		return nil
	}
	return err
}

// cascaded runs a cascade whose output is the verdict.
func (f *flow) cascaded(path event.Path, v *cascades.Validator, s validators.Subject) (verdict validators.Verdict, unsaid, err error) {
	input := map[string]any{
		"content": s.Content, "output": s.Output, "input": s.Input, "state": s.State, "outputs": s.Outputs,
		"turn": s.Turn, "attempt": s.Attempt, "tool": s.Tool,
	}
	if v.InputMap != nil {
		if input, err = v.InputMap.Render(f.checkVars(s, v.InputMap)); err != nil {
			return verdict, err, nil
		}
	}
	end, err := f.nested(path, v.Cascade, &State{Input: input, seen: true}, "")
	if e, ok := contained(err); ok {
		return verdict, e, nil
	}
	if err != nil {
		return verdict, nil, err
	}
	if text, ok := end.Output.(string); ok {
		verdict, unsaid = validators.VerdictIn(text)
	} else {
		verdict, unsaid = validators.VerdictFrom(end.Output)
	}
	if unsaid != nil {
		unsaid = nonsense{fmt.Errorf("cascade %s: %w", v.Cascade.ID, validators.Unreadable(unsaid, words.Text(end.Output))), path}
	}
	return verdict, unsaid, nil
}
