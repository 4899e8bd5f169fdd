package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// A conversation travels by reference: it is a chain of links, each kept once in
// some store under its digest, and a request names the last one. So the hundredth
// turn sends what was said since the ninety-ninth.

// A link is the messages that follow those of an earlier link.
type link struct {
	Before string    `json:"before,omitempty"` // the earlier one's digest
	Said   []Message `json:"said"`
	Ends   []int     `json:"ends,omitempty"` // of Said, those with a CacheEnd
}

func newLink(before string, said []Message) link {
	l := link{Before: before, Said: said}
	for i, m := range said {
		if m.CacheEnd {
			l.Ends = append(l.Ends, i)
		}
	}
	return l
}

// messages returns what the link says. An error reports an end that is none of them.
func (l link) messages() ([]Message, error) {
	for _, i := range l.Ends {
		if i < 0 || i >= len(l.Said) {
			return nil, fmt.Errorf("a cached beginning ends at message %d of %d", i, len(l.Said))
		}
		l.Said[i].CacheEnd = true
	}
	return l.Said, nil
}

// A linked is how far a thread stands in a store.
type linked struct {
	digest string
	count  int // messages up to there
}

// Refer gives the request with its messages by reference: put keeps a text and
// gives its digest, the same for the same text. Of a request with its thread only
// what is new since the thread's last one is put; so put must go to one store for
// as long as the thread lives.
func (r Request) Refer(put func(text []byte) (digest string, err error)) (Request, error) {
	var last linked
	if r.Thread != nil {
		last = r.Thread.linkedWithin(r.Messages)
	}
	if last.count < len(r.Messages) || last.digest == "" {
		text, err := json.Marshal(newLink(last.digest, r.Messages[last.count:]))
		if err != nil {
			return r, err
		}
		if last.digest, err = put(text); err != nil {
			return r, err
		}
		last.count = len(r.Messages)
		if r.Thread != nil {
			r.Thread.link(last)
		}
	}
	r.Talk, r.Messages, r.Thread = last.digest, nil, nil
	return r, nil
}

// maxLinks bounds the chain of a conversation: it ends, even if a store lies.
const maxLinks = 1 << 20

// Talks follow references back to conversations, and remember those that were
// followed last: the next turn reads what is new, and encodes only that. The zero
// value remembers nothing. It is safe for concurrent use.
type Talks struct {
	mu   sync.Mutex
	last []talk // the newest last
}

// A talk is the first count messages of a thread.
type talk struct {
	digest string
	thread *Thread
	count  int
}

// manyTalks bounds the conversations that are remembered.
const manyTalks = 64

// Follow puts the messages back that a request names: get gives the text of a
// digest, read reads its JSON. A request that has its messages stays as it is.
func (k *Talks) Follow(r *Request, get func(digest string) ([]byte, error), read func(text []byte, into any) error) error {
	if r.Talk == "" {
		return nil
	}
	var parts [][]Message // the last first
	var before []Message
	at := r.Talk
	found := k.find(at)
	for ; at != "" && found.thread == nil; found = k.find(at) {
		if len(parts) == maxLinks {
			return fmt.Errorf("conversation %s: it does not end", r.Talk)
		}
		text, err := get(at)
		if err != nil {
			return fmt.Errorf("conversation %s: %w", r.Talk, err)
		}
		var l link
		err = read(text, &l)
		if err != nil {
			return fmt.Errorf("conversation %s: %w", r.Talk, err)
		}
		said, err := l.messages()
		if err != nil {
			return fmt.Errorf("conversation %s: %w", r.Talk, err)
		}
		parts, at = append(parts, said), l.Before
	}
	if found.thread != nil {
		before = found.thread.Messages()[:found.count]
	}
	slices.Reverse(parts)
	r.Thread = found.thread.goingOn(before, slices.Concat(parts...))
	r.Messages = r.Thread.Messages()
	k.remember(talk{r.Talk, r.Thread, len(r.Messages)})
	r.Talk = ""
	return nil
}

// goingOn is the thread with more said behind the messages before: the same,
// where these are all of it.
func (t *Thread) goingOn(before, said []Message) *Thread {
	if t == nil || !t.grow(len(before), said) {
		return NewThread(slices.Concat(before, said)...)
	}
	return t
}

// grow adds messages to a thread that has so many; false where it has others.
func (t *Thread) grow(count int, said []Message) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.messages) != count {
		return false
	}
	t.messages = append(t.messages, said...)
	return true
}

func (k *Talks) find(digest string) talk {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, known := range slices.Backward(k.last) {
		if known.digest == digest {
			return known
		}
	}
	return talk{}
}

func (k *Talks) remember(t talk) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = slices.DeleteFunc(k.last, func(old talk) bool { return old.thread == t.thread })
	if len(k.last) >= manyTalks {
		k.last = slices.Delete(k.last, 0, 1)
	}
	k.last = append(k.last, t)
}

// linkedWithin is the last link of the thread that ends within m.
func (t *Thread) linkedWithin(m []Message) linked {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.starts(m) {
		return linked{}
	}
	for _, l := range slices.Backward(t.links) {
		if l.count <= len(m) {
			return l
		}
	}
	return linked{}
}

func (t *Thread) link(l linked) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.links = append(t.links, l)
}
