// Package live sends new events of runs to those who follow them. For all followers
// together, one goroutine asks the store whether there is more (pulse.go), and one reads
// and encodes the events of each run (feed.go). Everything that is sent is in the store: a
// follower that comes late or is slow reads there what the feed no longer has.
//
// A follower joins the [Feed] of a run at a [Source], takes each [Share] and waits for
// another. A follower that needs more than events waits for [Source.Beats] and reads for
// itself.
package live

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A Store is what runs are read from; what each method promises is said at
// [journal.Journal]. It is safe for concurrent use.
type Store interface {
	Run(ctx context.Context, id string) (*journal.Run, error)
	Events(ctx context.Context, id string, after int64, d journal.Detail) iter.Seq2[event.Event, error]
	// Version changes whenever something was written, by any process.
	Version(ctx context.Context) (int64, error)
}

// A watcher is a [Store] that tells of what this process does to a run, so that
// nobody waits for the next look. A [*journal.Journal] is one.
type watcher interface {
	// Watch has told called, which does not wait, whenever there is more of a run,
	// until stop is called.
	Watch(id string, told func()) (stop func())
}

// Heartbeat is how often a stream says that it is still there, so that nobody
// between takes it for dead.
const Heartbeat = 15 * time.Second

// Over tells whether a run will do no more unless somebody resumes it.
func Over(status string) bool { return status != journal.Running && status != runner.Waiting }

// A Source has the feeds of a store that somebody follows. Make one with [New].
type Source struct {
	store Store
	pulse *pulse
	mu    sync.Mutex
	open  map[Key]*Feed
}

// New is a source over a store, which is asked for news of other processes so often
// while somebody watches.
func New(store Store, every time.Duration) *Source {
	return &Source{store: store, pulse: newPulse(store.Version, every), open: map[Key]*Feed{}}
}

// Beats gives a channel that has something whenever there may be more of a run, or
// of any where id is "", and a function that ends the watching. What was written
// before the call is told of by no beat: read after calling it.
func (s *Source) Beats(id string) (<-chan struct{}, func()) {
	beats, leave := s.pulse.beats()
	w, ok := s.store.(watcher)
	if !ok || id == "" {
		return beats, leave
	}
	stop := w.Watch(id, func() { Wake(beats) })
	return beats, func() { stop(); leave() }
}

// Join gives the feed of a run that has so many events, and a function that
// leaves it. The first one who comes has it begin, and the last one end.
func (s *Source) Join(key Key, events int64) (*Feed, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.open[key]
	if f == nil || f.done() {
		ctx, stop := context.WithCancel(context.Background())
		from := max(events-maxBehind, 0)
		f = &Feed{s: s, key: key, stop: stop, from: from, seq: from, more: make(chan struct{}), looked: time.Now(), pace: time.Second}
		s.open[key] = f
		go f.read(ctx)
	}
	f.heard++
	return f, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if f.heard--; f.heard > 0 {
			return
		}
		f.stop()
		if s.open[key] == f {
			delete(s.open, key)
		}
	}
}

// Followed tells whether somebody follows a run that goes on.
func (s *Source) Followed(key Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.open[key]
	return f != nil && !f.done()
}

// Count tells how many feeds there are, and how many watch the store.
func (s *Source) Count() (open, watching int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pulse.mu.Lock()
	defer s.pulse.mu.Unlock()
	return len(s.open), len(s.pulse.watch)
}
