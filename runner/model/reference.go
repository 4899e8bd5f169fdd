package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// The messages of a conversation are stored as a chain of links. A link
// contains the messages after the previous link and is stored under its digest.
// A request has the digest of the last link.

// A link has the messages that follow the messages of an earlier link.
type link struct {
	Before   string    `json:"before,omitempty"` // the digest of the link before it
	Messages []Message `json:"messages"`
	Ends     []int     `json:"ends,omitempty"` // the indexes of the messages with a CacheEnd
}

func newLink(before string, messages []Message) link {
	l := link{Before: before, Messages: messages}
	for i, m := range messages {
		if m.CacheEnd {
			l.Ends = append(l.Ends, i)
		}
	}
	return l
}

// messages returns the messages of the link. An index in Ends that is out of
// range is an error.
func (l link) messages() ([]Message, error) {
	for _, i := range l.Ends {
		if i < 0 || i >= len(l.Messages) {
			return nil, fmt.Errorf("a cached beginning ends at message %d of %d", i, len(l.Messages))
		}
		l.Messages[i].CacheEnd = true
	}
	return l.Messages, nil
}

// A linked is a link of a thread that was stored.
type linked struct {
	digest string
	count  int // the number of messages up to the end of the link
}

// Refer replaces the messages of the request by a reference. The function put stores a
// text and returns its digest. If the request has a thread, Refer stores only the
// messages after the last stored link, so put must use the same store for all requests
// of a thread.
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
	r.Conversation, r.Messages, r.Thread = last.digest, nil, nil
	return r, nil
}

// maxLinks is the maximum length of a chain, because a store can contain a
// cycle.
const maxLinks = 1 << 20

// Conversations resolves the references of requests. It stores the latest
// conversations, so that the next request reads only new links. The zero value is
// empty. It is safe for concurrent use.
type Conversations struct {
	mu   sync.Mutex
	last []conversation // the newest is the last
}

// A conversation is the first count messages of a thread.
type conversation struct {
	digest string
	thread *Thread
	count  int
}

// maxConversations is the maximum number of stored conversations.
const maxConversations = 64

// Follow replaces the reference of a request by its messages. The function get returns
// the text with a digest, and read decodes its JSON. A request without a reference does
// not change.
func (k *Conversations) Follow(r *Request, get func(digest string) ([]byte, error), read func(text []byte, into any) error) error {
	if r.Conversation == "" {
		return nil
	}
	var parts [][]Message // from the last link to the first
	var before []Message
	at := r.Conversation
	found := k.find(at)
	for ; at != "" && found.thread == nil; found = k.find(at) {
		if len(parts) == maxLinks {
			return fmt.Errorf("conversation %s: it does not end", r.Conversation)
		}
		text, err := get(at)
		if err != nil {
			return fmt.Errorf("conversation %s: %w", r.Conversation, err)
		}
		var l link
		err = read(text, &l)
		if err != nil {
			return fmt.Errorf("conversation %s: %w", r.Conversation, err)
		}
		messages, err := l.messages()
		if err != nil {
			return fmt.Errorf("conversation %s: %w", r.Conversation, err)
		}
		parts, at = append(parts, messages), l.Before
	}
	if found.thread != nil {
		before = found.thread.Messages()[:found.count]
	}
	slices.Reverse(parts)
	r.Thread = found.thread.extended(before, slices.Concat(parts...))
	r.Messages = r.Thread.Messages()
	k.remember(conversation{r.Conversation, r.Thread, len(r.Messages)})
	r.Conversation = ""
	return nil
}

// extended returns the thread with the messages after those in before. If the thread
// has other messages after them, the result is a new thread.
func (t *Thread) extended(before, messages []Message) *Thread {
	if t == nil || !t.grow(len(before), messages) {
		return NewThread(slices.Concat(before, messages)...)
	}
	return t
}

// grow adds messages to a thread of count messages. It returns false for other
// threads.
func (t *Thread) grow(count int, messages []Message) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.messages) != count {
		return false
	}
	t.messages = append(t.messages, messages...)
	return true
}

func (k *Conversations) find(digest string) conversation {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, known := range slices.Backward(k.last) {
		if known.digest == digest {
			return known
		}
	}
	return conversation{}
}

func (k *Conversations) remember(t conversation) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = slices.DeleteFunc(k.last, func(old conversation) bool { return old.thread == t.thread })
	if len(k.last) >= maxConversations {
		k.last = slices.Delete(k.last, 0, 1)
	}
	k.last = append(k.last, t)
}

// linkedWithin returns the last link of the thread that ends within m.
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
