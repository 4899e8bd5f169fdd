package model

import (
	"sync"
)

// A Thread is a conversation that only grows. It keeps its messages' encoding,
// so that sending the three hundredth turn costs what sending the tenth does.
// One branch of a run appends to it; what was handed out stays true. It is
// safe for concurrent use and must not be copied.
type Thread struct {
	mu       sync.Mutex
	messages []Message
	wires    []wire // one for each provider that was asked
	links    []linked
}

// A wire is the encoding of a conversation's beginning, which is never
// encoded again.
type wire struct {
	provider string
	encoded  []byte // the first len(ends) messages, each followed by a comma
	ends     []int
}

// NewThread makes a thread of first messages.
func NewThread(first ...Message) *Thread { return &Thread{messages: first} }

// Append adds messages.
func (t *Thread) Append(m ...Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.messages = append(t.messages, m...)
}

// Messages is what has been said so far. The slice must not be changed.
func (t *Thread) Messages() []Message {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.messages[:len(t.messages):len(t.messages)]
}

// wire is the first n messages as [Request.Wire] has them.
func (t *Thread) wire(n int, to Provider) ([]byte, error) {
	w := t.wireTo(to.Name)
	for i := len(w.ends); i < n; i++ {
		grown, err := appendMessage(w.encoded, t.messages[i], to)
		if err != nil {
			return nil, err
		}
		w.encoded = append(grown, ',')
		w.ends = append(w.ends, len(w.encoded))
	}
	if n == 0 {
		return nil, nil
	}
	end := w.ends[n-1] - 1
	return w.encoded[:end:end], nil
}

func (t *Thread) wireTo(provider string) *wire {
	for i := range t.wires {
		if t.wires[i].provider == provider {
			return &t.wires[i]
		}
	}
	t.wires = append(t.wires, wire{provider: provider})
	return &t.wires[len(t.wires)-1]
}

// starts says whether m is what the thread starts with. It is quick where m
// was got from Messages.
func (t *Thread) starts(m []Message) bool {
	if len(m) > len(t.messages) {
		return false
	}
	if len(m) == 0 || &m[0] == &t.messages[0] {
		return true
	}
	for i := range m {
		if !m[i].equal(t.messages[i]) {
			return false
		}
	}
	return true
}
