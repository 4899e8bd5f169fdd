package journal

import (
	"context"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
)

// compareFeed compares the events of a watched run with those of a journal that does not
// watch it.
func compareFeed(t *testing.T, watching, other *Journal, after int64, d Detail) {
	t.Helper()
	got, want := eventsAfter(t, watching, "run", after, d), eventsAfter(t, other, "run", after, d)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("detail %d: %d events after %d, want %d", d, len(got), after, len(want))
	}
}

// TestFeed checks that a feed has exactly the stored events, whichever follower comes
// first, and that a change by another process outdates it, if the version of the store or
// the number of events shows it.
func TestFeed(t *testing.T) {
	for _, same := range []bool{true, false} {
		file := filepath.Join(t.TempDir(), "j.db")
		writing, other := journalAt(t, file, Options{}), journalAt(t, file, Options{})
		watching, stored := writing, other
		if !same {
			watching, stored = other, writing
		}
		defer watching.Watch("run", func() {})()
		r := begin(t, writing, runner.Start{RunID: "run"})
		talk := newTalker(r.Host(quick{"Turn {turn}"}), "run", "hi")
		for i, after := range []int64{100, 9, 0, 4, 3, 1 << 40, 2} {
			talk.take(t)
			if err := r.(*recording).commit(); err != nil {
				t.Fatal(err)
			}
			var err error
			if i%2 == 0 {
				_, err = watching.Version(t.Context())
			} else {
				_, err = watching.Run(t.Context(), "run")
			}
			if err != nil {
				t.Fatal(err)
			}
			// A server announces changes after a short delay.
			for end := time.Now().Add(time.Minute); onServer != nil && !same && time.Now().Before(end); {
				behind := func(d Detail) bool {
					return len(eventsAfter(t, watching, "run", after, d)) < len(eventsAfter(t, stored, "run", after, d))
				}
				if !slices.ContainsFunc([]Detail{Whole, News, Brief, Marked}, behind) {
					break
				}
				if _, err := watching.Version(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for d := Whole; d <= Marked; d++ {
				compareFeed(t, watching, stored, after, d)
			}
		}
	}
}

// TestFeedLimit checks that a feed drops its first events, and that followers then read
// them from the store.
func TestFeedLimit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.db")
	j, other := journalAt(t, file, Options{}), journalAt(t, file, Options{})
	defer j.Watch("run", func() {})()
	r := begin(t, j, runner.Start{RunID: "run"})
	talk := newTalker(r.Host(quick{strings.Repeat("long ", 40_000)}), "run", "hi")
	for range 8 {
		talk.take(t)
		eventsOf(t, j, "run", News)
	}
	if f := j.watchers.feed("run", News); !f.full || f.base == 0 || f.bytes > maxFeedBytes || f.bytes < maxFeedBytes/2 {
		t.Errorf("%d bytes after event %d", f.bytes, f.base)
	}
	for after := range int64(30) {
		compareFeed(t, j, other, after, News)
	}
}

// A leaving follower is gone after its context was asked for an error a number of times.
type leaving struct {
	context.Context
	stays int
}

func (l *leaving) Err() error {
	if l.stays--; l.stays < 0 {
		return context.Canceled
	}
	return nil
}

// TestFeedFault checks that followers read the store if the feed cannot, and share a feed
// again after the next change.
func TestFeedFault(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.db")
	j, other := journalAt(t, file, Options{}), journalAt(t, file, Options{})
	defer j.Watch("run", func() {})()
	r := begin(t, j, runner.Start{RunID: "run"})
	talk := newTalker(r.Host(quick{"hi"}), "run", "hi")
	for stays := range 8 {
		talk.take(t)
		gone := &leaving{t.Context(), stays % 4}
		for range j.Events(gone, "run", 0, News) {
		}
		var followers sync.WaitGroup
		for i := range 5 {
			followers.Go(func() {
				compareFeed(t, j, other, int64(i), News)
			})
		}
		followers.Wait()
	}
}
