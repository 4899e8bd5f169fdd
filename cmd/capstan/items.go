package main

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/reports"
	"github.com/seed61713e19/capstan/runner/trace"
)

// manyItems is of how many items one by one is told. Of more, progress tells how
// far they have come and what was refused, and show tells of that many.
const manyItems = 100

// itemOf is the item that a path is in and the phase it is of, "" for none.
func itemOf(at event.Path) (phase event.Path, item string) {
	i := strings.LastIndex(string(at), "/item[")
	if i < 0 {
		return "", ""
	}
	item, _, _ = strings.Cut(string(at[i+1:]), "/")
	return at[:i], item
}

// A fan is how far the items of a phase have come.
type fan struct{ items, over, failed int }

func (f *fan) String() string {
	text := fmt.Sprintf("%d of %s", f.over, reports.Count(f.items, "item"))
	if f.failed > 0 {
		text += fmt.Sprintf(", %d failed", f.failed)
	}
	return text
}

// fanned notes what an event says of items, and tells whether one by one is not
// told of them.
func (p *progress) fanned(e event.Event) (quiet bool) {
	if e.Kind == event.PhaseStarted && e.Items > 0 {
		p.fans[e.Path] = &fan{items: e.Items}
	}
	at := e.Path
	if e.Verdict != nil {
		at = e.Verdict.Path
	}
	phase, item := itemOf(at)
	f := p.fans[phase]
	if f == nil {
		return false
	}
	if e.Kind == event.PhaseFinished && e.Path == phase.Join(item) {
		f.over++
		if e.Status != runner.Succeeded && e.Status != "skipped" && e.Status != "degraded" && e.Status != runner.Cancelled {
			f.failed++
		}
	}
	if quiet = f.items > manyItems; quiet {
		p.doing = f.String()
	}
	return quiet
}

// toldItems are the visits that show tells of: of many items those that did not
// succeed, and of the others the first.
func toldItems(run *trace.Run) (list []*trace.Phase, more int) {
	shown, left := map[event.Path]int{}, map[event.Path]bool{}
	for p := range run.All() {
		phase, item := itemOf(p.Path)
		within := item != "" && left[phase.Join(item)]
		if p.Item >= 0 {
			if shown[phase]++; shown[phase] > manyItems && p.Status == runner.Succeeded {
				left[p.Path] = true
				more++
				continue
			}
		}
		if !within {
			list = append(list, p)
		}
	}
	return list, more
}
