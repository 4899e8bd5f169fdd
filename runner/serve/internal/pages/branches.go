package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/trace"
)

// A tally is how far the items of a phase with each have come.
type tally struct {
	Items     int // there are
	Over      int // are over, one way or the other
	Failed    int
	Cancelled int
}

// String tells it in words: 312 of 1 000 items, 3 failed.
func (t tally) String() string {
	text := plural(t.Items, "item")
	if t.Over < t.Items {
		text = formatCount(t.Over) + " of " + text
	}
	if t.Failed > 0 {
		text += ", " + formatCount(t.Failed) + " failed"
	}
	if t.Cancelled > 0 {
		text += ", " + formatCount(t.Cancelled) + " cancelled"
	}
	return text
}

func newTally(p *trace.Phase) tally {
	t := tally{Items: p.Items}
	for _, b := range p.Branches {
		if b.Item < 0 {
			continue
		}
		if b.Status != "" {
			t.Over++
		}
		switch rank(b) {
		case failedItem:
			t.Failed++
		case cutItem:
			t.Cancelled++
		}
	}
	t.Items = max(t.Items, t.Over)
	return t
}

// The ranks of items, as a reader wants to see them.
const (
	failedItem = iota
	openItem
	cutItem
	unsureItem
	goodItem
)

func rank(p *trace.Phase) int {
	switch p.Status {
	case "", runner.Waiting:
		return openItem
	case runner.Cancelled:
		return cutItem
	case "degraded":
		return unsureItem
	case runner.Succeeded, "skipped":
		return goodItem
	}
	return failedItem
}

// branches are the items of a phase, or the phases of a group.
type branches struct {
	Label         string
	Rows          []phaseRow
	First, Last   int    // of the items that are shown, from 1; 0 where all are
	Of            int    // how many have begun
	Before, After string // the addresses of those before and behind; "" where there are none
}

// maxItems is how many items one page lists.
const maxItems = 50

// newBranches lists the phases of a group as they stand in the file, and of the
// items those that failed first, then those at work, then those that are done.
func newBranches(run string, p *trace.Phase, from int) *branches {
	if len(p.Branches) == 0 {
		return nil
	}
	v, list := &branches{Label: "phases in parallel", Of: len(p.Branches)}, p.Branches
	if p.Branches[0].Item >= 0 {
		v.Label = newTally(p).String()
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b *trace.Phase) int { return cmp.Compare(rank(a), rank(b)) })
		list = v.page(run, p, list, from)
	}
	why := map[int]string{}
	for _, f := range p.Failures {
		why[f.Index] = f.Message
	}
	end := latest(p)
	for _, b := range list {
		row := newPhaseRow(run, b, p.Started, end)
		if row.Failing == nil && row.Broken == nil {
			row.Why = oneLine(why[b.Item])
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// page cuts the list to what one page shows from a place on.
func (v *branches) page(run string, p *trace.Phase, list []*trace.Phase, from int) []*trace.Phase {
	if len(list) <= maxItems {
		return list
	}
	if from < 0 || from >= len(list) {
		from = 0
	}
	at := func(n int) string {
		return phaseLink(run, p.Path, "from", strconv.Itoa(n))
	}
	if from > 0 {
		v.Before = at(max(from-maxItems, 0))
	}
	end := min(from+maxItems, len(list))
	if end < len(list) {
		v.After = at(end)
	}
	v.First, v.Last = from+1, end
	return list[from:end]
}

// rowName is what a visit is called in a list.
func rowName(p *trace.Phase) string {
	if p.Item >= 0 {
		return fmt.Sprintf("item %d", p.Item)
	}
	return p.Name
}

// longName is what a visit is called where nothing around it tells.
func longName(p *trace.Phase) string {
	if p.Item >= 0 {
		return p.Name + ", " + rowName(p)
	}
	return p.Name
}
