package batch

import (
	"sync"

	"github.com/seed61713e19/capstan/runner/event"
)

// The limits of outcomes that wait for earlier ones.
const (
	maxWaiting      = 4096     // outcomes between the first missing and the last started one
	maxWaitingBytes = 64 << 20 // of outputs, approximately
)

// A window sorts outcomes into the order of the dataset. Jobs far ahead of the first missing
// outcome wait.
type window struct {
	deliver func(Outcome) error

	mu      sync.Mutex
	moved   *sync.Cond
	next    int // the place of the next outcome to deliver
	pending map[int]Outcome
	bytes   int
	closed  bool
	err     error
}

func newWindow(deliver func(Outcome) error) *window {
	w := &window{deliver: deliver, pending: map[int]Outcome{}}
	w.moved = sync.NewCond(&w.mu)
	return w
}

// enter waits until a job may start, and returns false if the window was closed. The next place
// never waits.
func (w *window) enter(place int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.closed && place > w.next && (place-w.next >= maxWaiting || w.bytes >= maxWaitingBytes) {
		w.moved.Wait()
	}
	return !w.closed
}

// put adds an outcome and delivers the ones that are next in order.
func (w *window) put(place int, o Outcome) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	o.Verdicts, o.Phases = nil, nil // already counted
	w.pending[place] = o
	w.bytes += o.size()
	for w.err == nil {
		due, there := w.pending[w.next]
		if !there {
			break
		}
		delete(w.pending, w.next)
		w.bytes -= due.size()
		w.next++
		if w.deliver != nil {
			w.err = w.deliver(due)
		}
	}
	w.moved.Broadcast()
	return w.err
}

// close ends all waiting.
func (w *window) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.moved.Broadcast()
}

// size returns the approximate memory of an outcome, in bytes.
func (o *Outcome) size() int {
	n := 512 + event.Weight(o.Output)
	if o.Error != nil {
		n += len(o.Error.Message)
	}
	return n
}
