package model

import (
	"encoding/json"
	"sync"
)

// A Thread is a conversation that only grows. It keeps its messages' encoding,
// so that sending the three hundredth turn costs what sending the tenth does.
// One branch of a run appends to it; what was handed out stays true.
type Thread struct {
	messages []Message

	mu      sync.Mutex
	encoded []byte // the first len(ends) messages, each followed by a comma
	ends    []int
}

// NewThread makes a thread of first messages.
func NewThread(first ...Message) *Thread { return &Thread{messages: first} }

// Append adds messages.
func (t *Thread) Append(m ...Message) { t.messages = append(t.messages, m...) }

// Messages is what has been said so far. The slice must not be changed.
func (t *Thread) Messages() []Message { return t.messages[:len(t.messages):len(t.messages)] }

// Fork makes a thread with the same messages that grows on its own.
func (t *Thread) Fork() *Thread {
	t.mu.Lock()
	defer t.mu.Unlock()
	return &Thread{messages: t.Messages(), encoded: t.encoded[:len(t.encoded):len(t.encoded)], ends: t.ends[:len(t.ends):len(t.ends)]}
}

// Wire is the first n messages as the elements of a JSON array in the chat
// completions protocol, without the brackets. The bytes are shared and must
// not be changed.
func (t *Thread) Wire(n int) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.ends); i < n; i++ {
		text, err := json.Marshal(t.messages[i])
		if err != nil {
			return nil, err
		}
		t.encoded = append(append(t.encoded, text...), ',')
		t.ends = append(t.ends, len(t.encoded))
	}
	if n == 0 {
		return nil, nil
	}
	end := t.ends[n-1] - 1
	return t.encoded[:end:end], nil
}

// Wire is the request's messages as the elements of a JSON array in the chat
// completions protocol, without the brackets.
func (r Request) Wire() ([]byte, error) {
	if r.Thread != nil {
		return r.Thread.Wire(len(r.Messages))
	}
	return NewThread(r.Messages...).Wire(len(r.Messages))
}
