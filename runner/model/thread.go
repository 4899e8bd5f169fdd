package model

import (
	"slices"
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
	if 0 < n && n < len(t.messages) && t.messages[n].follows(t.messages[n-1]) {
		return NewThread(t.messages[:n]...).wire(n, to) // the thread has the last one joined
	}
	w := t.wireTo(to.Name)
	for i := len(w.ends); i < n; i++ {
		if i > 0 && t.messages[i].follows(t.messages[i-1]) {
			w.join(t.messages[i].Content)
			continue
		}
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

// follows reports whether the user speaks twice in a row. Templates of local models refuse
// two such messages, so they are sent as one.
func (m Message) follows(before Message) bool {
	return m.Role == User && before.Role == User && m.plain() && before.plain()
}

// join adds a text to the message that was encoded last. The bytes before its end, which
// may be shared, stay as they are.
func (w *wire) join(text string) {
	open := len(w.encoded) - len(`"},`)
	more := AppendText(nil, "\n\n"+text)
	w.encoded = slices.Concat(w.encoded[:open], more[1:], []byte("},"))
	w.ends = append(w.ends, len(w.encoded))
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
