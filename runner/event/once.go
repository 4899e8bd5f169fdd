package event

import "sync"

// Once tells every event of a run once, however often the run is done over: with
// what was recorded of it, on another host, after a crash. An event is known by
// its path and its kind, and by how many of both came before it in the same
// start. What a start tells of its being broken off, with a status of cancelled,
// is no event of the run's own and is passed on each time. The zero value has
// told nothing.
type Once struct {
	mu   sync.Mutex
	told map[spot]int
}

type spot struct {
	path Path
	kind Kind
}

// cancelled is the status of what was broken off.
const cancelled = "cancelled"

// Over gives the sink of one start of the run from its beginning, which passes on
// to another what was not told before.
func (o *Once) Over(to Sink) Sink {
	seen := map[spot]int{}
	return Func(func(e Event) {
		at := spot{e.Path, e.Kind}
		if e.Verdict != nil {
			at.path = e.Verdict.Path
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if e.Status != cancelled {
			if seen[at]++; seen[at] <= o.told[at] {
				return
			}
			if o.told == nil {
				o.told = map[spot]int{}
			}
			o.told[at] = seen[at]
		}
		to.Emit(e)
	})
}
