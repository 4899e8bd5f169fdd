package journal

import (
	"sync"
	"sync/atomic"
	"time"
)

// Watch calls changed after this process has stored new rows of a run or its
// end, until stop is called. changed must not block. The id must be the run's
// full name. While a run is watched, its events are written within a
// millisecond, and [Journal.Events] reads each new event once for all callers
// and holds up to 1 MiB of them in memory for each [Detail]. For changes by other
// processes, poll [Journal.Version].
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
	byRun map[string]*watchedRun
}

// A watchedRun is the subscribers of one run, and the feeds that they share.
type watchedRun struct {
	changed map[*func()]bool
	feeds   map[Detail]*feed
}

func (w *watchers) add(id string, changed func()) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byRun == nil {
		w.byRun = map[string]*watchedRun{}
	}
	run := w.byRun[id]
	if run == nil {
		run = &watchedRun{map[*func()]bool{}, map[Detail]*feed{}}
		w.byRun[id] = run
	}
	run.changed[&changed] = true
	w.count.Add(1)
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.count.Add(-1)
		if delete(run.changed, &changed); len(run.changed) == 0 {
			delete(w.byRun, id)
		}
	})
}

// notify calls the watchers of a run, or all watchers if id is empty.
func (w *watchers) notify(id string) {
	w.each(id, func(run *watchedRun) {
		run.outdate()
		for changed := range run.changed {
			(*changed)()
		}
	})
}

// each calls body for a run if it is watched, or for all watched runs if id is empty.
func (w *watchers) each(id string, body func(*watchedRun)) {
	if w.count.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, run := range w.byRun {
		if name == id || id == "" {
			body(run)
		}
	}
}

// outdate makes the feeds of the run read the store again.
func (r *watchedRun) outdate() {
	for _, f := range r.feeds {
		f.stale.Store(true)
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
	if w.byRun[id] == nil {
		return delay
	}
	return delayWatched
}
