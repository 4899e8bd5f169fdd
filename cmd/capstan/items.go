package main

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// manyItems is the maximum number of items that are printed one by one. Above
// it, progress prints counts and rejections, and show prints this many items.
const manyItems = 100

// itemOf returns the item of a path and its phase. Outside items, it returns "".
func itemOf(at event.Path) (phase event.Path, item string) {
	i := strings.LastIndex(string(at), "/item[")
	if i < 0 {
		return "", ""
	}
	item, _, _ = strings.Cut(string(at[i+1:]), "/")
	return at[:i], item
}

// A fan counts the finished items of a phase.
type fan struct{ items, over, failed int }

func (f *fan) String() string {
	text := fmt.Sprintf("%d of %s", f.over, reports.Count(f.items, "item"))
	if f.failed > 0 {
		text += fmt.Sprintf(", %d failed", f.failed)
	}
	return text
}

// fanned counts an event of an item. It reports whether the item is not printed
// by itself.
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
		if e.Status != engine.Succeeded && e.Status != "skipped" && e.Status != "degraded" && e.Status != engine.Cancelled {
			f.failed++
		}
	}
	if quiet = f.items > manyItems; quiet {
		p.doing = f.String()
	}
	return quiet
}

// shownItems returns the visits that show prints. If a phase has many items,
// these are the failed ones and the first of the others.
func shownItems(run *trace.Run) (list []*trace.Phase, more int) {
	shown, left := map[event.Path]int{}, map[event.Path]bool{}
	for p := range run.All() {
		phase, item := itemOf(p.Path)
		within := item != "" && left[phase.Join(item)]
		if p.Item >= 0 {
			if shown[phase]++; shown[phase] > manyItems && p.Status == engine.Succeeded {
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
