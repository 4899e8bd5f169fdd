package journal

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/seed61713e19/capstan/runner/event"
)

// maxFeedBytes is the maximum size of the events in a feed, as JSON. The last chunk
// may be larger.
const maxFeedBytes = 1 << 20

// A feed has the latest events of a watched run in memory, in one detail. After a
// change, the first follower that calls [Journal.Events] reads the new rows for all. A
// follower that needs earlier events reads the store.
type feed struct {
	stale atomic.Bool   // the run may have changed since the last reading
	last  atomic.Int64  // number of the last event
	turn  chan struct{} // has an element while a follower uses the fields below

	cursor *eventCursor // nil if there are no events yet, or they could not be read
	base   int64        // number of the event before chunks
	full   bool         // earlier chunks were dropped
	chunks []feedChunk
	bytes  int
}

type feedChunk struct {
	events []event.Event
	last   int64 // number of the last event
	bytes  int
}

// events returns the events of a run after a number, or false if the caller has to
// read the store.
func (f *feed) events(ctx context.Context, fresh *eventCursor) (events iter.Seq2[event.Event, error], ok bool) {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return nil, false
	}
	after := fresh.after
	switch {
	case ctx.Err() != nil:
		return nil, false
	case f.cursor == nil && !f.stale.Load(): // the store is tried again after the next change
		return nil, false
	case f.cursor == nil, after < f.base && !f.full:
		f.cursor, f.base, f.full, f.chunks, f.bytes = fresh, after, false, nil, 0
		f.stale.Store(true)
	}
	if f.stale.Swap(false) && !f.read(ctx) {
		f.cursor = nil
	}
	if f.cursor == nil || after < f.base {
		return nil, false
	}
	first := len(f.chunks)
	for first > 0 && f.chunks[first-1].last > after {
		first--
	}
	chunks := slices.Clone(f.chunks[first:])
	return func(yield func(event.Event, error) bool) {
		for _, c := range chunks {
			for _, e := range c.events {
				if e.Seq > after && !yield(e, nil) {
					return
				}
			}
		}
	}, true
}

// read reads the new events. It reports whether that was possible.
func (f *feed) read(ctx context.Context) bool {
	run := f.cursor.n
	f.cursor.n = 0 // another run may have the name now
	for more := true; more; {
		events, some, err := f.cursor.next(ctx)
		if err != nil || run != 0 && f.cursor.n != run {
			return false
		}
		clear(f.cursor.requests) // conversations must not stay in memory
		if run, more = f.cursor.n, some; len(events) == 0 {
			break
		}
		f.chunks = append(f.chunks, feedChunk{events, f.cursor.after, f.cursor.bytes})
		f.bytes += f.cursor.bytes
		for len(f.chunks) > 1 && f.bytes > maxFeedBytes {
			f.base, f.full, f.bytes = f.chunks[0].last, true, f.bytes-f.chunks[0].bytes
			f.chunks = slices.Delete(f.chunks, 0, 1)
		}
	}
	f.last.Store(f.cursor.after)
	return true
}

// feed returns the feed of a run in a detail, or nil if nobody watches the run.
func (w *watchers) feed(id string, d Detail) *feed {
	w.mu.Lock()
	defer w.mu.Unlock()
	run := w.byRun[id]
	if run == nil {
		return nil
	}
	if run.feeds[d] == nil {
		run.feeds[d] = &feed{turn: make(chan struct{}, 1)}
		run.feeds[d].stale.Store(true)
	}
	return run.feeds[d]
}

// counted makes the feeds of a run read the store again if it has more events. A change
// is visible in the store before it is notified, and a follower may see it there first.
func (w *watchers) counted(id string, events int64) {
	w.each(id, func(run *watchedRun) {
		for _, f := range run.feeds {
			if f.last.Load() < events {
				f.stale.Store(true)
			}
		}
	})
}
