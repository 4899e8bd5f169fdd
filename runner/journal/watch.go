package journal

import (
	"sync"
	"sync/atomic"
	"time"
)

// Watch calls changed after this process has stored new rows of a run or its
// end, until stop is called. changed must not block. The id must be the run's
// full name. While a run is watched, its events are written within a
// millisecond. For changes by other processes, poll [Journal.Version].
func (j *Journal) Watch(id string, changed func()) (stop func()) {
	j.db.Store.Subscribe()
	return j.watchers.add(id, changed)
}

// notify notifies the watchers of a run in this process and in others.
func (j *Journal) notify(run string) {
	j.watchers.notify(run)
	j.db.Store.Announce(run)
}

// watchers are the subscribers of runs in this process.
type watchers struct {
	count atomic.Int64
	mu    sync.Mutex
	byRun map[string]map[*func()]bool
}

func (w *watchers) add(id string, changed func()) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byRun == nil {
		w.byRun = map[string]map[*func()]bool{}
	}
	if w.byRun[id] == nil {
		w.byRun[id] = map[*func()]bool{}
	}
	w.byRun[id][&changed] = true
	w.count.Add(1)
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.count.Add(-1)
		if delete(w.byRun[id], &changed); len(w.byRun[id]) == 0 {
			delete(w.byRun, id)
		}
	})
}

// notify calls the watchers of a run, or all watchers if id is empty.
func (w *watchers) notify(id string) {
	if w.count.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for run, list := range w.byRun {
		if run != id && id != "" {
			continue
		}
		for changed := range list {
			(*changed)()
		}
	}
}

// Delays before events are written if no effect commits them sooner. Observers
// in other processes see a slow effect this much later.
const (
	delay        = 50 * time.Millisecond
	delayWatched = time.Millisecond
)

// delay returns the delay for a run. It is short if the run is watched.
func (w *watchers) delay(id string) time.Duration {
	if w.count.Load() == 0 {
		return delay
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.byRun[id]) == 0 {
		return delay
	}
	return delayWatched
}
