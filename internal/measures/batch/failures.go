package batch

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/event"
)

const (
	maxFailures = 50 // groups of failures; further reasons share one group
	firstLines  = 5  // lines that a group lists
)

// failure counts a run without an output by the rejecting check, or by the error message.
// Unreadable rows are one group.
func (t *tally) failure(o *Outcome) {
	key := failureKey{status: o.Status, phase: o.Error.Phase}
	reason := o.Error.Message
	if v := rejection(o); v != nil {
		key.check, reason = strings.TrimSpace(v.CheckMoment()+" "+v.Validator), v.Reason
		if v.CheckMoment() == v.Validator {
			key.check = v.Validator
		}
	} else if o.Error.Code != Unreadable {
		key.reason = reason
	}
	f := t.failed[key]
	if f == nil && len(t.failed) >= maxFailures {
		key, reason = failureKey{}, ""
		f = t.failed[key]
	}
	if f == nil {
		f = &Failure{Status: key.status, Phase: key.phase, Check: key.check}
		t.failed[key] = f
	}
	f.Runs++
	i, found := slices.BinarySearch(f.Lines, o.Line)
	if i == 0 {
		f.Reason = reason // of the first line, in any order of the runs
	}
	if !found {
		f.Lines = slices.Insert(f.Lines, i, o.Line)
		f.Lines = f.Lines[:min(len(f.Lines), firstLines)]
	}
}

// rejection returns the verdict that ended a run, or nil.
func rejection(o *Outcome) *event.Verdict {
	for i := len(o.Verdicts) - 1; i >= 0; i-- {
		v := &o.Verdicts[i]
		if v.Phase == o.Error.Phase && v.Valid != nil && !*v.Valid && v.Reason != "" && strings.Contains(o.Error.Message, v.Reason) {
			return v
		}
	}
	return nil
}

// failures returns the groups of failures, the most frequent first.
func (t *tally) failures() []Failure {
	list := []Failure{}
	for _, f := range t.failed {
		list = append(list, *f)
	}
	slices.SortFunc(list, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), slices.Compare(a.Lines, b.Lines), cmp.Compare(a.Check, b.Check), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}
