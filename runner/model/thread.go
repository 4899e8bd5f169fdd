package model

import (
	"slices"
	"sync"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

// A Thread is a conversation that only grows. It stores the encoded messages, so that a
// request encodes only the new ones. Only one branch of a run may append to a thread.
// It is safe for concurrent use and must not be copied.
type Thread struct {
	mu       sync.Mutex
	messages []Message
	wires    []wire // one for each provider that was called
	links    []linked
}

// A wire has the encoded first messages of a conversation for a provider.
type wire struct {
	provider string
	encoded  []byte // the first len(ends) messages, each followed by a comma
	ends     []int
}

// NewThread returns a thread with the messages.
func NewThread(first ...Message) *Thread { return &Thread{messages: first} }

// Append adds messages to the end.
func (t *Thread) Append(m ...Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.messages = append(t.messages, m...)
}

// Messages returns all messages. The caller must not change the slice.
func (t *Thread) Messages() []Message {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.messages[:len(t.messages):len(t.messages)]
}

// wire returns the first n messages in the form of [Request.Wire].
func (t *Thread) wire(n int, to Provider) ([]byte, error) {
	if 0 < n && n < len(t.messages) && t.messages[n].follows(t.messages[n-1]) {
		return NewThread(t.messages[:n]...).wire(n, to) // in the thread, the last message is joined with its successor
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

// follows reports whether both messages are texts of the user. They are sent as one
// message, because the templates of local models reject two.
func (m Message) follows(before Message) bool {
	return m.Role == User && before.Role == User && m.plain() && before.plain()
}

// join adds a text to the last encoded message. It does not change the bytes before the
// end of that message, because other requests may share them.
func (w *wire) join(text string) {
	open := len(w.encoded) - len(`"},`)
	more := jsonvalue.AppendText(nil, "\n\n"+text)
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

// starts reports whether the thread begins with the messages m. It is fast if m is a
// part of the result of Messages.
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
