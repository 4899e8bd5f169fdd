// Package checkorder decides which checks of one moment run concurrently, which wait for
// others, and which are skipped. It works on values only. Begin with [Groups].
package checkorder

import (
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// Groups returns the impure checks of a moment that apply to a tool, as indexes of list.
// The checks of a group run concurrently. If a check without a model call is among them,
// the judges that wait for such checks form a second group.
func Groups(tool string, list []*cascades.Check) [][]int {
	var all, first, wait []int
	free := false
	for i, c := range list {
		switch {
		case c.Validator.Pure || !c.Guards(tool) || c.Ward.Mode == wards.Shadow:
			continue
		case c.AfterFree:
			wait = append(wait, i)
		default:
			first, free = append(first, i), free || c.Validator.Free()
		}
		all = append(all, i)
	}
	switch {
	case free:
		return [][]int{first, wait}
	case len(all) > 0:
		return [][]int{all}
	}
	return nil
}

// Remaining returns the checks of a group that must still run. It returns none if a check
// has stopped the run. If a check without a model call has failed, Remaining omits each
// judge that waits for such checks, and sets its outcome in found.
func Remaining(group []int, list []*cascades.Check, found []wards.Outcome) []int {
	if len(group) == 0 {
		return nil
	}
	var run []int
	by, stopped := FirstFailed(list, found), slices.ContainsFunc(found, func(o wards.Outcome) bool { return o.Ward != nil && o.Stops() })
	for _, i := range group {
		switch c := list[i]; {
		case c.AfterFree && by != "":
			found[i] = Skipped(c.Ward, by)
		case !stopped:
			run = append(run, i)
		}
	}
	return run
}

// FirstFailed returns the name of the first check without a model call that failed and
// enforces its verdict, or "" if there is none. The list found has one outcome for each
// check; its ward is nil if the check has no outcome yet. An advisory failure does not
// count: the text may be released, and must not be released without its judges.
func FirstFailed(list []*cascades.Check, found []wards.Outcome) (by string) {
	for i, o := range found {
		if o.Ward != nil && o.Refuses() && list[i].Validator.Free() {
			return o.Ward.Name
		}
	}
	return ""
}

// Skipped returns the outcome of a check that did not run because the check by failed.
func Skipped(w *wards.Ward, by string) wards.Outcome {
	return wards.Outcome{Ward: w, Skipped: true, Verdict: validators.Verdict{Reason: "skipped: " + by + " failed"}}
}
