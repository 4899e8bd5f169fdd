package journal

import (
	"strings"

	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// try adds an event to the try of the whole cascade that contains it. The run
// takes over the result of the picked try.
func (f *resultBuilder) try(e *event.Event) {
	of, within := tryOf(e.Path)
	if of == "" {
		return // a phase with that name has a model, and turns before its tools
	}
	if f.tries[of] == nil {
		if f.tries == nil {
			f.tries = map[event.Path]*resultBuilder{}
		}
		f.tries[of] = newResultBuilder()
	}
	own := *e
	own.Path = within
	if e.Verdict != nil {
		v := *e.Verdict
		v.Path = event.Path(strings.TrimPrefix(string(v.Path), string(e.Path[:len(e.Path)-len(within)])))
		own.Verdict = &v
	}
	f.tries[of].add(&own)
}

// adoptTry copies the result of the picked try to the run, as at the end of the
// run.
func (f *resultBuilder) adoptTry(e *event.Event) {
	won := f.tries[e.Released]
	if won == nil {
		return
	}
	r := won.result()
	f.r.Phases, f.r.Outputs, f.r.Degraded = r.Phases, r.Outputs, r.Degraded
	f.visits, f.groups, f.degradedVisits = map[event.Path]int{}, map[event.Path]*group{}, nil
	f.tries, f.adopted = nil, true
}

// resetTry drops the result of a try. The tries are repeated if their end was not
// stored.
func (f *resultBuilder) resetTry() {
	if f.adopted {
		f.r.Phases, f.r.Outputs, f.r.Degraded, f.adopted = []engine.PhaseRecord{}, map[string]any{}, []engine.Degraded{}, false
	}
}

// tryOf returns the try of the whole cascade that contains a path, or "", and
// the path within it.
func tryOf(path event.Path) (try, within event.Path) {
	text := string(path)
	if !strings.HasPrefix(text, keywords.Tries+"/sounding[") {
		return "", path
	}
	i := strings.IndexByte(text, ']') + 1
	below, found := strings.CutPrefix(text[i:], "/attempt[1]/tool/")
	if _, below, ok := strings.Cut(below, "/"); found && ok { // after the name of the cascade
		return path[:i] + "/attempt[1]", event.Path(below)
	}
	return "", path
}
