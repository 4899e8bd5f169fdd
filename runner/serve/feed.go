package serve

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

// A feed is what the followers of one run share: one reads the store when there
// is more, and encodes it once. Only what is in the store is told, so that a run
// that is taken over, or gone on with after a crash, is told as it became. A
// follower that comes late or is slow reads the store by itself until it is
// where the feed's window begins: it holds up nobody.
type feed struct {
	s    *Server
	key  feedKey
	stop context.CancelFunc

	mu    sync.Mutex
	lines []encoded // the window: the last ones
	bytes int
	from  int64         // the event before the first of lines
	seq   int64         // the last that was read
	over  string        // how the run ended
	err   error         // the store cannot be read
	more  chan struct{} // closed when any of these is another
	heard int           // followers; guarded by feeds

	// Of the one who reads alone.
	finished bool      // the last event says that the run is
	looked   time.Time // for the run's status
	pace     time.Duration
}

// A feedKey is what feeds are told from each other by.
type feedKey struct {
	id     string
	detail journal.Detail
}

// How much a feed's window holds, but one event at least; and how much a follower
// takes at a time.
const (
	maxWindow = 4 << 20
	maxPiece  = 256 << 10
)

// An encoded event, for all who hear it: as server-sent, which its JSON is a part of.
type encoded struct {
	seq  int64
	sse  string
	data int // where the JSON begins
}

func encode(e event.Event, d journal.Detail) (encoded, error) {
	if d == journal.Whole {
		e.Before = 0
	}
	head := fmt.Appendf(nil, "id: %d\ndata: ", e.Seq)
	text, err := e.AppendJSON(head) // has no line ends in it
	if err != nil {
		return encoded{}, err
	}
	return encoded{e.Seq, string(append(text, "\n\n"...)), len(head)}, nil
}

// json is the event as a line of JSON.
func (l encoded) json() string { return l.sse[l.data : len(l.sse)-1] }

// feeds are those that somebody follows.
type feeds struct {
	mu   sync.Mutex
	open map[feedKey]*feed
}

// join gives the feed of a run that has so many events, and a function that
// leaves it. The first one who comes has it begin, and the last one end.
func (fs *feeds) join(s *Server, key feedKey, events int64) (*feed, func()) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := fs.open[key]
	if f == nil || f.done() {
		ctx, stop := context.WithCancel(context.Background())
		from := max(events-maxBehind, 0)
		f = &feed{s: s, key: key, stop: stop, from: from, seq: from, more: make(chan struct{}), looked: time.Now(), pace: time.Second}
		if fs.open == nil {
			fs.open = map[feedKey]*feed{}
		}
		fs.open[key] = f
		go f.read(ctx)
	}
	f.heard++
	return f, func() {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		if f.heard--; f.heard > 0 {
			return
		}
		f.stop()
		if fs.open[key] == f {
			delete(fs.open, key)
		}
	}
}

// maxBehind is how many events of those that were told already a new feed reads.
const maxBehind = 1000

// A share is what a feed has for a follower.
type share struct {
	lines []encoded
	gap   bool // what comes next is not in the window any more
	over  string
	err   error
	more  <-chan struct{} // closed when there is another share
}

// since is what there is after an event.
func (f *feed) since(seq int64) share {
	f.mu.Lock()
	defer f.mu.Unlock()
	if seq < f.from && f.seq > seq {
		return share{gap: true}
	}
	i := sort.Search(len(f.lines), func(i int) bool { return f.lines[i].seq > seq })
	end, size := i, 0
	for ; end < len(f.lines) && (end == i || size < maxPiece); end++ {
		size += len(f.lines[end].sse)
	}
	return share{lines: f.lines[i:end:end], over: f.over, err: f.err, more: f.more}
}

// followed tells whether somebody follows a run that goes on.
func (fs *feeds) followed(key feedKey) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := fs.open[key]
	return f != nil && !f.done()
}

func (f *feed) done() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over != "" || f.err != nil
}

// tell changes the feed and wakes those who wait.
func (f *feed) tell(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.more)
	f.more = make(chan struct{})
}

// add puts lines into the window.
func (f *feed) add(list []encoded) {
	f.lines = append(f.lines, list...)
	for _, l := range list {
		f.bytes += len(l.sse)
	}
	n := 0
	for ; f.bytes > maxWindow && n < len(f.lines)-1; n++ {
		f.bytes -= len(f.lines[n].sse)
		f.from = f.lines[n].seq
	}
	if n > 0 {
		f.lines = slices.Clone(f.lines[n:]) // what is gone is let go of
	}
	f.seq = f.lines[len(f.lines)-1].seq
}

// read reads what is new, until the run is over or nobody follows any more.
func (f *feed) read(ctx context.Context) {
	beats, leave := f.s.beats(f.key.id)
	defer leave()
	t := time.NewTicker(heartbeat)
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
		case <-time.After(max(minRest, 4*time.Since(began))):
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
// together, the more so the more there is to do.
const minRest = time.Millisecond

// news takes in what is new.
func (f *feed) news(ctx context.Context) error {
	var list []encoded
	size := 0
	told := func() {
		if len(list) > 0 {
			f.tell(func() { f.add(list) })
		}
		list, size = nil, 0
	}
	defer told()
	for e, err := range f.s.o.Store.Events(ctx, f.key.id, f.seq, f.key.detail) {
		if err != nil {
			return err
		}
		l, err := encode(e, f.key.detail)
		if err != nil {
			return err
		}
		f.finished = e.Kind == event.RunFinished
		list = append(list, l)
		if size += len(l.sse); size >= maxPiece {
			told()
		}
	}
	return nil
}

// ended tells how the run ended, "" while it has not. It asks when the run seems
// to have ended, and now and then: a process may be gone without a word. To ask
// may take longer the longer the run is, so it is asked the less often.
func (f *feed) ended(ctx context.Context) (string, error) {
	began := time.Now()
	if !f.finished && began.Sub(f.looked) < f.pace {
		return "", nil
	}
	run, err := f.s.o.Store.Run(ctx, f.key.id)
	f.looked = time.Now()
	f.pace = max(time.Second, 20*f.looked.Sub(began))
	if err != nil || !over(run.Status) {
		return "", err
	}
	for f.seq < run.Events { // somebody has gone on with it since, and it is over again
		before := f.seq
		if err := f.news(ctx); err != nil {
			return "", err
		}
		if f.seq == before {
			return "", fmt.Errorf("run %s: event %d cannot be read", f.key.id, before+1)
		}
	}
	return run.Status, nil
}
