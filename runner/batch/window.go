package batch

import (
	"sync"

	"github.com/seed61713e19/capstan/runner/event"
)

// How much may be done and wait for its turn.
const (
	maxWaiting      = 4096     // outcomes between the first that is not done and the last that is begun
	maxWaitingBytes = 64 << 20 // of their outputs, about
)

// A window puts outcomes that come in no order in that of the set. It bounds what
// waits: who comes too far ahead of the first that is not done has to wait too.
type window struct {
	give func(Outcome) error

	mu    sync.Mutex
	moved *sync.Cond
	next  int // the place of the one that is given next
	held  map[int]Outcome
	bytes int
	shut  bool
	err   error
}

func newWindow(give func(Outcome) error) *window {
	w := &window{give: give, held: map[int]Outcome{}}
	w.moved = sync.NewCond(&w.mu)
	return w
}

// enter waits until the outcome of the place may be made; false where the window
// was closed. Whoever is next need not wait.
func (w *window) enter(place int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.shut && place > w.next && (place-w.next >= maxWaiting || w.bytes >= maxWaitingBytes) {
		w.moved.Wait()
	}
	return !w.shut
}

// put gives what is due with the outcome of the place, which is done.
func (w *window) put(place int, o Outcome) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	o.Verdicts, o.Phases = nil, nil // counted already
	w.held[place] = o
	w.bytes += o.size()
	for w.err == nil {
		due, there := w.held[w.next]
		if !there {
			break
		}
		delete(w.held, w.next)
		w.bytes -= due.size()
		w.next++
		if w.give != nil {
			w.err = w.give(due)
		}
	}
	w.moved.Broadcast()
	return w.err
}

// close lets nobody in any more.
func (w *window) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shut = true
	w.moved.Broadcast()
}

// size is about how much memory the outcome takes, in bytes.
func (o *Outcome) size() int {
	n := 512 + event.Weight(o.Output)
	if o.Error != nil {
		n += len(o.Error.Message)
	}
	return n
}
