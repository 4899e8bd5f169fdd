package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
)

// A tally counts the items of a fan-out.
type tally struct {
	Items     int
	Over      int
	Failed    int
	Cancelled int
}

// String returns a text such as "312 of 1 000 items, 3 failed".
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

// The ranks of items, in the order of the list.
const (
	failedItem = iota
	openItem
	cutItem
	unsureItem
	goodItem
)

func rank(p *trace.Phase) int {
	switch p.Status {
	case "", engine.Waiting:
		return openItem
	case engine.Cancelled:
		return cutItem
	case "degraded":
		return unsureItem
	case engine.Succeeded, "skipped":
		return goodItem
	}
	return failedItem
}

// branches are the items of a fan-out, or the phases of a group.
type branches struct {
	Label         string
	Rows          []phaseRow
	First, Last   int    // the numbers of the shown items, from 1; 0 if all are shown
	Of            int    // number of items that have begun
	Before, After string // the addresses of the previous and the next items; "" if there are none
}

// maxItems is the number of items on a page.
const maxItems = 50

// newBranches lists the phases of a group in the order of the file. It lists items by rank:
// failed ones first, then running ones.
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
	reasons := map[int]string{}
	for _, f := range p.Failures {
		reasons[f.Index] = f.Message
	}
	end := latest(p)
	for _, b := range list {
		row := newPhaseRow(run, b, p.Started, end)
		if row.Failing == nil && row.Broken == nil {
			row.Reason = reports.Name(reasons[b.Item])
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// page returns the items of the page that begins at from.
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

// rowName returns the name of a phase in a list.
func rowName(p *trace.Phase) string {
	if p.Item >= 0 {
		return fmt.Sprintf("item %d", p.Item)
	}
	return p.Name
}

// longName returns the name of a phase outside its list.
func longName(p *trace.Phase) string {
	if p.Item >= 0 {
		return p.Name + ", " + rowName(p)
	}
	return p.Name
}
