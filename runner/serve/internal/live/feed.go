package live

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A Feed is what the followers of one run share: one reads the store when there
// is more, and encodes it once. Only what is in the store is told, so that a run
// that is taken over, or gone on with after a crash, is told as it became. A
// follower that comes late or is slow reads the store by itself until it is
// where the feed's window begins: it holds up nobody.
type Feed struct {
	s    *Source
	key  Key
	stop context.CancelFunc

	mu    sync.Mutex
	lines []Line // the window: the last ones
	bytes int
	from  int64         // the event before the first of lines
	seq   int64         // the last that was read
	over  string        // how the run ended
	err   error         // the store cannot be read
	more  chan struct{} // closed when any of these is another
	heard int           // followers; guarded by the source

	// Of the one who reads alone.
	finished bool      // the last event says that the run is
	looked   time.Time // for the run's status
	pace     time.Duration
}

// A Key is what feeds are told from each other by.
type Key struct {
	RunID  string
	Detail journal.Detail
}

// How much a feed's window holds, but one event at least; and how much a follower
// takes at a time.
const (
	maxWindow = 4 << 20
	maxPiece  = 256 << 10
)

// maxBehind is how many events of those that were told already a new feed reads.
const maxBehind = 1000

// A Share is what a feed has for a follower.
type Share struct {
	Lines []Line
	Gap   bool            // what comes next is not in the window any more: the store has it
	Over  string          // how the run ended, once it has
	Err   error           // why the store cannot be read
	More  <-chan struct{} // closed when there is another share
}

// Since is what there is after an event, some of it where that is much.
func (f *Feed) Since(seq int64) Share {
	f.mu.Lock()
	defer f.mu.Unlock()
	if seq < f.from && f.seq > seq {
		return Share{Gap: true}
	}
	i := sort.Search(len(f.lines), func(i int) bool { return f.lines[i].Seq > seq })
	end, size := i, 0
	for ; end < len(f.lines) && (end == i || size < maxPiece); end++ {
		size += len(f.lines[end].SSE)
	}
	return Share{Lines: f.lines[i:end:end], Over: f.over, Err: f.err, More: f.more}
}

func (f *Feed) done() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over != "" || f.err != nil
}

// tell changes the feed and wakes those who wait.
func (f *Feed) tell(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.more)
	f.more = make(chan struct{})
}

// add puts lines into the window.
func (f *Feed) add(list []Line) {
	f.lines = append(f.lines, list...)
	for _, l := range list {
		f.bytes += len(l.SSE)
	}
	n := 0
	for ; f.bytes > maxWindow && n < len(f.lines)-1; n++ {
		f.bytes -= len(f.lines[n].SSE)
		f.from = f.lines[n].Seq
	}
	if n > 0 {
		f.lines = slices.Clone(f.lines[n:]) // what is gone is let go of
	}
	f.seq = f.lines[len(f.lines)-1].Seq
}

// read reads what is new, until the run is over or nobody follows any more.
func (f *Feed) read(ctx context.Context) {
	beats, leave := f.s.Beats(f.key.RunID)
	defer leave()
	t := time.NewTicker(Heartbeat)
	defer t.Stop()
	for {
		began := time.Now()
		over, err := "", f.news(ctx)
		if err == nil {
			over, err = f.ended(ctx)
		}
		if over != "" || err != nil {
			f.tell(func() { f.over, f.err = over, err })
			return
		}
		select {
		case <-time.After(min(max(minRest, 4*time.Since(began)), maxRest)):
		case <-ctx.Done():
			return
		}
		select {
		case <-beats:
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// minRest is how long a feed leaves the store alone after it has read, and four
// times as long as that took: what is written in quick succession is read
// together, the more so the more there is to do. But where the store was waited for,
// as for a server that was away, that is no measure.
const (
	minRest = time.Millisecond
	maxRest = 5 * time.Second
	maxPace = time.Minute // between two looks at how the run stands
)

// news takes in what is new.
func (f *Feed) news(ctx context.Context) error {
	var list []Line
	size := 0
	told := func() {
		if len(list) > 0 {
			f.tell(func() { f.add(list) })
		}
		list, size = nil, 0
	}
	defer told()
	for e, err := range f.s.store.Events(ctx, f.key.RunID, f.seq, f.key.Detail) {
		if err != nil {
			return err
		}
		l, err := Encode(e, f.key.Detail)
		if err != nil {
			return err
		}
		f.finished = e.Kind == event.RunFinished
		list = append(list, l)
		if size += len(l.SSE); size >= maxPiece {
			told()
		}
	}
	return nil
}

// ended tells how the run ended, "" while it has not. It asks when the run seems
// to have ended, and now and then: a process may be gone without a word. To ask
// may take longer the longer the run is, so it is asked the less often.
func (f *Feed) ended(ctx context.Context) (string, error) {
	began := time.Now()
	if !f.finished && began.Sub(f.looked) < f.pace {
		return "", nil
	}
	run, err := f.s.store.Run(ctx, f.key.RunID)
	f.looked = time.Now()
	f.pace = min(max(time.Second, 20*f.looked.Sub(began)), maxPace)
	if err != nil || !Over(run.Status) {
		return "", err
	}
	for f.seq < run.Events { // somebody has gone on with it since, and it is over again
		before := f.seq
		if err := f.news(ctx); err != nil {
			return "", err
		}
		if f.seq == before {
			return "", fmt.Errorf("run %s: event %d cannot be read", f.key.RunID, before+1)
		}
	}
	return run.Status, nil
}

// A Line is an event as it is sent, once for all who hear it.
type Line struct {
	Seq  int64
	SSE  string // as server-sent, which its JSON is a part of
	data int    // where the JSON begins
}

// Encode makes the line of an event.
func Encode(e event.Event, d journal.Detail) (Line, error) {
	if d == journal.Whole {
		e.Before = 0
	}
	head := fmt.Appendf(nil, "id: %d\ndata: ", e.Seq)
	text, err := e.AppendJSON(head) // has no line ends in it
	if err != nil {
		return Line{}, err
	}
	return Line{e.Seq, string(append(text, "\n\n"...)), len(head)}, nil
}

// JSON is the event as a line of JSON.
func (l Line) JSON() string { return l.SSE[l.data : len(l.SSE)-1] }
