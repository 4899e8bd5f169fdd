package event

import "sync"

// A Deduplicator passes on every event of a run once, even if the run is repeated after a crash
// or on a second host. It identifies an event by its path, its kind and its number among such
// events of one start. Events with the status cancelled describe the interruption of a start, so
// they always pass. The zero value is ready to use.
type Deduplicator struct {
	mu   sync.Mutex
	seen map[eventKey]int
}

type eventKey struct {
	path Path
	kind Kind
}

// cancelled is the status of interrupted work.
const cancelled = "cancelled"

// Sink returns the sink for one start of the run from its beginning. It passes
// new events on to the given sink.
func (o *Deduplicator) Sink(to Sink) Sink {
	count := map[eventKey]int{}
	return Func(func(e Event) {
		at := eventKey{e.Path, e.Kind}
		if e.Verdict != nil {
			at.path = e.Verdict.Path
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if e.Status != cancelled {
			if count[at]++; count[at] <= o.seen[at] {
				return
			}
			if o.seen == nil {
				o.seen = map[eventKey]int{}
			}
			o.seen[at] = count[at]
		}
		to.Emit(e)
	})
}
