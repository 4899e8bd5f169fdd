package feeds

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A store that is away for a while keeps whoever asks it waiting.
type away struct {
	until  time.Time
	events int64
	status string
}

func (a *away) Version(context.Context) (int64, error) {
	time.Sleep(time.Until(a.until))
	return a.events, nil
}

func (a *away) Run(context.Context, string) (*journal.Run, error) {
	time.Sleep(time.Until(a.until))
	return &journal.Run{Summary: journal.Summary{Status: a.status, Events: a.events}}, nil
}

func (a *away) Events(_ context.Context, _ string, after int64, _ journal.Detail) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		time.Sleep(time.Until(a.until))
		for seq := after + 1; seq <= a.events && yield(event.Event{Seq: seq, Kind: event.PhaseStarted}, nil); seq++ {
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
			store.events = 2
			time.Sleep(maxRest + time.Second)
			if got := len(f.Since(0).Lines); got != 2 {
				t.Errorf("%v: %d events are told", out, got)
			}
			store.until, store.events = time.Now().Add(out), 3
			time.Sleep(out + maxRest + time.Second)
			store.status = "cancelled"
			time.Sleep(maxPace + Heartbeat + time.Second)
			if got := f.Since(0); len(got.Lines) != 3 || got.Over != "cancelled" {
				t.Errorf("%v: %d events are told, and %q", out, len(got.Lines), got.Over)
			}
		})
	}
}
