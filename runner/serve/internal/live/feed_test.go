package live

import (
	"context"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A store that is away for a while keeps whoever asks it waiting.
type away struct {
	mu     sync.Mutex
	until  time.Time
	events int64
	status string
	slow   time.Duration // what the next look at how the run stands takes
}

func (a *away) now(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

// answers waits for the store, and gives what it has then.
func (a *away) answers() (events int64, status string) {
	var until time.Time
	a.now(func() { until = a.until })
	time.Sleep(time.Until(until))
	a.now(func() { events, status = a.events, a.status })
	return events, status
}

func (a *away) Version(context.Context) (int64, error) {
	events, _ := a.answers()
	return events, nil
}

func (a *away) Run(context.Context, string) (*journal.Run, error) {
	var slow time.Duration
	a.now(func() { slow, a.slow = a.slow, 0 })
	time.Sleep(slow)
	events, status := a.answers()
	return &journal.Run{Summary: journal.Summary{Status: status, Events: events}}, nil
}

func (a *away) Events(_ context.Context, _ string, after int64, _ journal.Detail) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		events, _ := a.answers()
		for seq := after + 1; seq <= events && yield(event.Event{Seq: seq, Kind: event.PhaseStarted}, nil); seq++ {
		}
	}
}

// However long a store was waited for, who follows hears soon what it tells when it is
// back, and within a minute that a run has ended without a word.
func TestBackFromAway(t *testing.T) {
	for _, out := range []time.Duration{time.Second, 20 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			store := &away{until: time.Now().Add(out), events: 1, status: journal.Running}
			f, leave := New(store, time.Second).Join(Key{RunID: "run"}, 0)
			defer leave()
			time.Sleep(out + time.Second)
			store.now(func() { store.events = 2 })
			time.Sleep(maxRest + time.Second)
			if got := len(f.Since(0).Lines); got != 2 {
				t.Errorf("%v: %d events are told", out, got)
			}
			store.now(func() { store.until, store.events, store.slow = time.Now().Add(out), 3, out })
			time.Sleep(2*out + maxRest + time.Second)
			store.now(func() { store.status = "cancelled" })
			time.Sleep(maxPace + Heartbeat + time.Second)
			if got := f.Since(0); len(got.Lines) != 3 || got.Over != "cancelled" {
				t.Errorf("%v: %d events are told, and %q", out, len(got.Lines), got.Over)
			}
		})
	}
}
