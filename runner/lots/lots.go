// Package lots says which checks of one moment are asked side by side, which wait
// for others, and which are then not asked at all. It is pure.
package lots

import (
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// Of are the checks that are not pure, by their places in the list of a moment, and
// that look at the tool, those of a lot to run side by side:
// where a free one is among them, the judges that wait for it come behind.
func Of(tool string, list []*cascades.Check) [][]int {
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

// Unskipped are those of a lot that are to be asked: none once a check has
// stopped the run, and no judge that waits for free ones where one of these has
// refused the text, whose outcome is noted here.
func Unskipped(lot []int, list []*cascades.Check, found []wards.Outcome) []int {
	if len(lot) == 0 {
		return nil
	}
	var ask []int
	by, stopped := Refused(list, found), slices.ContainsFunc(found, func(o wards.Outcome) bool { return o.Ward != nil && o.Stops() })
	for _, i := range lot {
		switch c := list[i]; {
		case c.AfterFree && by != "":
			found[i] = NotAsked(c.Ward, by)
		case !stopped:
			ask = append(ask, i)
		}
	}
	return ask
}

// Refused names the first check of a moment that asks no model and has refused
// the text, "" for none; found has the outcome of each check of the list, without
// a ward where there is none yet. A no that is only noted refuses nothing: the
// text may be released, and is not released unjudged.
func Refused(list []*cascades.Check, found []wards.Outcome) (by string) {
	for i, o := range found {
		if o.Ward != nil && o.Refuses() && list[i].Validator.Free() {
			return o.Ward.Name
		}
	}
	return ""
}

// NotAsked is the outcome of a check that was not asked, since by has refused the
// text.
func NotAsked(w *wards.Ward, by string) wards.Outcome {
	return wards.Outcome{Ward: w, Skipped: true, Verdict: validators.Verdict{Reason: "skipped: " + by + " failed"}}
}
