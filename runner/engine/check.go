package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/checkorder"
	"github.com/seed61713e19/capstan/internal/expressions"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// A place is the position of checks in the run.
type place struct {
	at            event.Path
	phase         string
	attempt, turn int
	tool          string // the tool whose call or result is judged
	unfit         bool   // the text violates its output_schema: pure checks that cannot read it are skipped
	findings      []any  // of the computed checks, for the judges that run after them
}

// under returns the path of the i-th check of a moment at the place.
func (p place) under(w *wards.Ward, i int) event.Path {
	switch w.Moment {
	case wards.LoopUntil:
		return p.at.Join(string(w.Moment))
	case wards.Turn, wards.Tool:
		return p.at.At("ward", i) // the path already names a turn or a call
	case wards.Result:
		return p.at.At("result_ward", i)
	default:
		return p.at.At(string(w.Moment), i)
	}
}

// checks runs the checks of one moment on one text. Pure checks run first, in
// file order. The other checks run in parallel. Judges with after_free run
// last, and only if no free check refused the text.
//
// Outcomes are reported in file order. The first outcome that stops the run
// cancels the running checks. Cancelled checks have no outcome.
func (f *flow) checks(at place, list []*cascades.Check, s validators.Subject) ([]wards.Outcome, error) {
	found := make([]wards.Outcome, len(list)) // a zero outcome has no ward
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
	for _, group := range checkorder.Groups(at.tool, list) {
		if err == nil {
			err = f.atOnce(at, list, checkorder.Remaining(group, list, found), s, found)
		}
	}
	if err != nil && !settled(err) {
		return nil, err // the run is interrupted here and reports the outcomes, in this order, after it is resumed
	}
	for _, one := range shadows {
		one.by = checkorder.FirstFailed(list, found)
		f.shadows = append(f.shadows, one)
	}
	outcomes := found[:0] // filters in place: writes never pass the read index
	for i, o := range found {
		if o.Ward != nil {
			f.report(paths[i], at, o)
			outcomes = append(outcomes, o)
		}
	}
	return outcomes, err
}

// findingsOf returns the issues and warnings of computed checks as values for
// the judges. A failure without issues is listed with its reason.
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

// settled reports whether err ends the run for the run's own reason. An error
// of the host, even one wrapped by a judging cascade, is not settled.
func settled(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code != Cancelled && e.Code != Waiting
}

// errStopped cancels the checks that run in parallel with one that stops the
// run.
var errStopped = errors.New("a check stopped the run")

// atOnce runs the listed checks in parallel.
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

// report records an outcome in the result and emits its event.
func (f *flow) report(path event.Path, at place, o wards.Outcome) {
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

// validate runs one check. An error ends the run. If the validator returns no
// verdict, the outcome contains the reason. A pure check that cannot read a
// text with an invalid schema counts as skipped.
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
		return checkorder.Skipped(c.Ward, string(wards.OutputSchema)), nil
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

// stops returns err if it ends the run in every mode: an error of the host, an
// exhausted budget, or a missing scripted answer.
func stops(err error) error {
	var failure *model.Failure
	if errors.As(err, &failure) && failure.Class != model.Unscripted {
		return nil
	}
	return err
}

// cascaded runs a cascade and reads the verdict from its output.
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
	if e, ok := nestedError(err); ok {
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
		unsaid = unusableReply{fmt.Errorf("cascade %s: %w", v.Cascade.ID, validators.Unreadable(unsaid, messages.Text(end.Output))), path}
	}
	return verdict, unsaid, nil
}
