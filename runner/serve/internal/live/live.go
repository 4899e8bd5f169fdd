// Package live notifies the streams of a server when a run may have changed.
//
// A stream reads events only from the store, with [Source.Follow]. For runs of this
// process, the journal notifies the stream. For runs of other processes, one goroutine
// polls the version of the store for all streams together (poller.go).
package live

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A Store contains runs. [journal.Journal] documents the methods. A Store must be safe
// for concurrent use.
type Store interface {
	Run(ctx context.Context, id string) (*journal.Run, error)
	Events(ctx context.Context, id string, after int64, d journal.Detail) iter.Seq2[event.Event, error]
	// Version returns another number after any process has written to the store.
	Version(ctx context.Context) (int64, error)
}

// A watcher is a [Store] that notifies of changes by this process at once. A
// [*journal.Journal] is one.
type watcher interface {
	// Watch calls changed, which must not block, after each change of a run until stop
	// is called.
	Watch(id string, changed func()) (stop func())
}

// heartbeat is the interval of the signs of life that keep a stream without events open.
const heartbeat = 15 * time.Second

// Over reports whether a run has ended. Such a run continues only after a resume.
func Over(status string) bool { return status != journal.Running && status != engine.Waiting }

// ErrEnd is the error of a stream that has sent all its events.
var ErrEnd = errors.New("the stream has ended")

// A Source notifies of the changes of one store. Make one with [New].
type Source struct {
	store   Store
	poller  *poller
	closing <-chan struct{}
}

// New returns a source of a store. It polls the version of the store in this
// interval while there are subscribers. Streams end after closing is closed.
func New(store Store, every time.Duration, closing <-chan struct{}) *Source {
	return &Source{store: store, poller: newPoller(store.Version, every), closing: closing}
}

// Changes returns a channel that receives a value after the run may have changed, or
// after any run may have changed if id is "". The caller must call stop at the end.
// Changes before the call are not reported.
func (s *Source) Changes(id string) (changes <-chan struct{}, stop func()) {
	c, unsubscribe := s.poller.subscribe()
	w, ok := s.store.(watcher)
	if !ok || id == "" {
		return c, unsubscribe
	}
	unwatch := w.Watch(id, func() { Notify(c) })
	return c, func() { unwatch(); unsubscribe() }
}

// Follow calls send at once, after each change that [Source.Changes] reports, and after
// each value of the channel more, which may be nil. Between changes, it calls idle
// regularly. Follow returns the first error of these functions, the error of the
// request's context, or [ErrEnd] if the server closes. For a HEAD request it returns at
// once.
func (s *Source) Follow(r *http.Request, id string, more <-chan struct{}, send, idle func() error) error {
	if r.Method == http.MethodHead {
		return nil
	}
	changes, stop := s.Changes(id)
	defer stop()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	next := send
	for {
		if err := next(); err != nil {
			return err
		}
		next = send
		select {
		case <-changes:
		case <-more:
		case <-beat.C:
			next = idle
		case <-r.Context().Done():
			return r.Context().Err()
		case <-s.closing:
			return ErrEnd
		}
	}
}

// Subscribers returns the number of channels that wait for changes.
func (s *Source) Subscribers() int {
	s.poller.mu.Lock()
	defer s.poller.mu.Unlock()
	return len(s.poller.subscribers)
}
