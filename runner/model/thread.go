package model

import "sync"

// A Thread is a conversation that only grows. It keeps its messages' encoding,
// so that sending the three hundredth turn costs what sending the tenth does.
// One branch of a run appends to it; what was handed out stays true. It is
// safe for concurrent use and must not be copied.
type Thread struct {
	mu       sync.Mutex
	messages []Message
	encoded  []byte // the first len(ends) messages, each followed by a comma
	ends     []int

	tools     []Tool // those whose encoding is kept
	toolsWire []byte
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

// Fork makes a thread with the same messages that grows on its own.
func (t *Thread) Fork() *Thread {
	t.mu.Lock()
	defer t.mu.Unlock()
	return &Thread{
		messages:  t.messages[:len(t.messages):len(t.messages)],
		encoded:   t.encoded[:len(t.encoded):len(t.encoded)],
		ends:      t.ends[:len(t.ends):len(t.ends)],
		tools:     t.tools,
		toolsWire: t.toolsWire,
	}
}

// Wire is the first n messages as the elements of a JSON array in the chat
// completions protocol, without the brackets. The bytes are shared and must
// not be changed.
func (t *Thread) Wire(n int) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wire(n)
}

func (t *Thread) wire(n int) ([]byte, error) {
	for i := len(t.ends); i < n; i++ {
		grown, err := appendWire(t.encoded, wireMessage(t.messages[i]))
		if err != nil {
			return nil, err
		}
		t.encoded = append(grown, ',')
		t.ends = append(t.ends, len(t.encoded))
	}
	if n == 0 {
		return nil, nil
	}
	end := t.ends[n-1] - 1
	return t.encoded[:end:end], nil
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

// wireTools is the tools' encoding, kept for as long as the same slice of
// tools comes.
func (t *Thread) wireTools(tools []Tool) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(tools) == len(t.tools) && &tools[0] == &t.tools[0] {
		return t.toolsWire, nil
	}
	wire, err := encodeTools(tools)
	if err == nil {
		t.tools, t.toolsWire = tools, wire
	}
	return wire, err
}
