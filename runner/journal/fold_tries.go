package journal

import (
	"strings"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// try folds an event into the try at the whole cascade that it is of, for what the
// run has when that is the one that is picked.
func (f *folding) try(e *event.Event) {
	of, within := tryOf(e.Path)
	if of == "" {
		return // a phase that is called so has a model, and turns before its tools
	}
	if f.tries[of] == nil {
		if f.tries == nil {
			f.tries = map[event.Path]*folding{}
		}
		f.tries[of] = newFolding()
	}
	own := *e
	own.Path = within
	if e.Verdict != nil {
		v := *e.Verdict
		v.Path = event.Path(strings.TrimPrefix(string(v.Path), string(e.Path[:len(e.Path)-len(within)])))
		own.Verdict = &v
	}
	f.tries[of].event(&own)
}

// won makes what the try that was picked has left the run's, as it is when the run
// has come to its end.
func (f *folding) won(e *event.Event) {
	won := f.tries[e.Released]
	if won == nil {
		return
	}
	won.bring()
	won.gather()
	f.r.Phases, f.r.Outputs, f.r.Degraded = won.r.Phases, won.r.Outputs, won.r.Degraded
	f.visits, f.groups, f.marked = map[event.Path]int{}, map[event.Path]*gang{}, nil
	f.tries, f.over = nil, true
}

// anew forgets what a try has left: the tries are made once more, since nobody
// kept that they were over.
func (f *folding) anew() {
	if f.over {
		f.r.Phases, f.r.Outputs, f.r.Degraded, f.over = []engine.PhaseRecord{}, map[string]any{}, []engine.Degraded{}, false
	}
}
