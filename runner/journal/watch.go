package journal

import (
	"sync"
	"sync/atomic"
	"time"
)

// Watch has told called, which must not wait, whenever this journal has come to
// hold more of a run by what this process does, or knows how it ended, until
// stop is called. The id is the run's whole name. While somebody watches, what a
// run tells is written within a millisecond. What other processes write,
// [Journal.Version] tells of.
func (j *Journal) Watch(id string, told func()) (stop func()) {
	j.store.attend()
	return j.watchers.add(id, told)
}

// tell tells who watches a run, here and elsewhere, that there is more of it.
func (j *Journal) tell(run string) {
	j.watchers.tell(run)
	j.store.told(run)
}

// watchers are those who watch runs.
type watchers struct {
	some atomic.Int64
	mu   sync.Mutex
	of   map[string]map[*func()]bool
}

func (w *watchers) add(id string, told func()) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[string]map[*func()]bool{}
	}
	if w.of[id] == nil {
		w.of[id] = map[*func()]bool{}
	}
	w.of[id][&told] = true
	w.some.Add(1)
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.some.Add(-1)
		if delete(w.of[id], &told); len(w.of[id]) == 0 {
			delete(w.of, id)
		}
	})
}

// tell tells those who watch a run.
func (w *watchers) tell(id string) {
	if w.some.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for told := range w.of[id] {
		(*told)()
	}
}

// all tells everybody who watches.
func (w *watchers) all() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, of := range w.of {
		for told := range of {
			(*told)()
		}
	}
}

// How long an effect may take before what was told ahead of it is written: the
// effects that are quicker are committed with it. Who looks from another process
// hears of a slow one so much later.
const (
	delay        = 50 * time.Millisecond
	delayWatched = time.Millisecond
)

// delay is the longer one where nobody watches a run.
func (w *watchers) delay(id string) time.Duration {
	if w.some.Load() == 0 {
		return delay
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.of[id]) == 0 {
		return delay
	}
	return delayWatched
}
