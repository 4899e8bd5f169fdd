package codec

import (
	"bytes"
	"slices"

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// A request is stored as the messages that it adds to an earlier one, so that a
// conversation of n turns stores n messages and not n²:
//
//	row 6:  "messages":[u1]                                  u1
//	row 10: "base":6,"base_count":1,"reply":7,"messages":[u2]        u1, the reply in row 7, u2
//	row 14: "base":10,"base_count":3,"reply":11,"messages":[u3]      those, the reply in row 11, u3
//
// The earlier request is found by a digest of all messages so far, independent of its
// conversation. So two attempts that begin alike share their beginning.

// messagePosition is the place of a conversation's beginning: the first count
// messages of the request in a row.
type messagePosition struct {
	row   int64
	count int
}

// Conversations are those of a recording.
type Conversations struct {
	secrets   *Secrets
	positions map[Digest]messagePosition // by the digest of all messages so far
	Threads   map[*model.Thread]threadState
	replies   []storedReply // the last few
}

// threadState is the known part of a thread.
type threadState struct {
	Count int
	chain chain
}

// A chain is the digest of a list of messages, with and without secrets. Up to
// the first secret both are equal and computed once.
type chain struct{ whole, clean Digest }

func (c chain) and(whole, clean []byte) chain {
	next := chain{whole: DigestOf(c.whole[:], whole)}
	if next.clean = next.whole; c.whole != c.clean || !untouched(whole, clean) {
		next.clean = DigestOf(c.clean[:], clean)
	}
	return next
}

// encodedList is the encoding of the tools, the schema or the parameters of a request.
type encodedList struct {
	text  string
	chain chain
}

// maxThreads is the maximum number of threads that a recording caches.
const maxThreads = 128

// NewConversations returns the conversations of a recording.
func NewConversations(s *Secrets) Conversations {
	return Conversations{
		secrets: s, positions: map[Digest]messagePosition{}, Threads: map[*model.Thread]threadState{},
	}
}

// RequestDigest is a request in the form in which it is stored.
type RequestDigest struct {
	Fingerprint   Fingerprint
	first         int      // the index of the first message in the next two
	messages      [][]byte // JSON of each message without secrets, encoded once
	chains        []chain  // after each message
	tools, schema encodedList
}

// DigestRequest digests a request. If its thread is known, only its new
// messages are digested.
func (t *Conversations) DigestRequest(req *model.Request) (d RequestDigest, err error) {
	d, err = t.chain(req)
	if err != nil {
		return d, err
	}
	if d.tools, err = t.encode(req.Tools, len(req.Tools)); err != nil {
		return d, err
	}
	if d.schema, err = t.encode(req.Schema, len(req.Schema)); err != nil {
		return d, err
	}
	last := d.last(t.knownState(req).chain)
	whole := [][]byte{[]byte(req.Model), {0}, last.whole[:], d.tools.chain.whole[:], d.schema.chain.whole[:]}
	clean := [][]byte{[]byte(req.Model), {0}, last.clean[:], d.tools.chain.clean[:], d.schema.chain.clean[:]}
	if req.Params != nil {
		params, err := t.encode(req.Params, 1)
		if err != nil {
			return d, err
		}
		whole, clean = append(whole, params.chain.whole[:]), append(clean, params.chain.clean[:])
	}
	d.Fingerprint = newFingerprint(DigestOf(whole...), DigestOf(clean...))
	return d, nil
}

// knownState returns the part of the request's messages that is already
// digested.
func (t *Conversations) knownState(req *model.Request) threadState {
	if req.Thread == nil || len(req.Messages) == 0 {
		return threadState{}
	}
	s := t.Threads[req.Thread]
	whole := req.Thread.Messages()
	if s.Count == 0 || s.Count > len(req.Messages) || len(whole) < len(req.Messages) || &whole[0] != &req.Messages[0] {
		return threadState{}
	}
	return s
}

func (t *RequestDigest) last(before chain) chain {
	if len(t.chains) == 0 {
		return before
	}
	return t.chains[len(t.chains)-1]
}

func (t *Conversations) chain(req *model.Request) (d RequestDigest, err error) {
	s := t.knownState(req)
	d.first = s.Count
	at := s.chain
	for _, m := range req.Messages[s.Count:] {
		raw, err := encodings.Of(m)
		if err != nil {
			return d, err
		}
		redacted := t.secrets.Redact(raw)
		at = at.and(raw, UnsealJSON(redacted))
		d.messages, d.chains = append(d.messages, redacted), append(d.chains, at)
	}
	return d, nil
}

// Remember stores the state of the request's thread.
func (t *Conversations) Remember(req *model.Request, d *RequestDigest) {
	if req.Thread == nil || len(d.chains) == 0 {
		return
	}
	if len(t.Threads) >= maxThreads {
		clear(t.Threads)
	}
	t.Threads[req.Thread] = threadState{len(req.Messages), d.last(chain{})}
}

// encode returns the encoding of a list of n elements.
func (t *Conversations) encode(list any, n int) (e encodedList, err error) {
	if n == 0 {
		return e, nil
	}
	raw, err := encodings.Of(list)
	if err != nil {
		return e, err
	}
	redacted := t.secrets.Redact(raw)
	return encodedList{string(redacted), chain{DigestOf(raw), DigestOf(UnsealJSON(redacted))}}, nil
}

// EncodeRequest returns the JSON of a request's row, with the messages that no earlier
// row has.
func (t *Conversations) EncodeRequest(p *Packer, e *event.Event, d *RequestDigest) ([]byte, error) {
	req := e.Request
	a := Request{
		Model: req.Model, Phase: req.Phase, Attempt: req.Attempt, Turn: req.Turn, Validator: req.Validator, Role: req.Role,
		Tools: d.tools.text, Schema: d.schema.text, Params: req.Params, Before: e.Before,
	}
	if e.Conversation != e.Path {
		a.First = e.Conversation
	}
	for i := len(d.chains) - 1; i >= 0; i-- {
		if s, ok := t.positions[d.chains[i].whole]; ok {
			a.Base, a.BaseCount = s.row, s.count
			break
		}
	}
	if known := t.knownState(req); a.Base == 0 && known.Count > 0 {
		s := t.positions[known.chain.whole]
		a.Base, a.BaseCount = s.row, s.count
	}
	news := d.messages[a.BaseCount-d.first:]
	if len(news) > 0 {
		if a.Reply = t.replyRow(p.Pack(news[0], LongText)); a.Reply != 0 {
			news = news[1:]
		}
	}
	raw, err := p.Encode(a)
	if err != nil {
		return nil, err
	}
	var messages []byte
	for _, m := range news {
		messages = append(append(messages, ','), p.Pack(m, LongText)...)
	}
	if messages == nil {
		return raw, nil
	}
	messages[0] = '['
	return encodings.With(raw, "messages", append(messages, ']')), nil
}

// storedReply is a reply of a model, as a message of the conversation that
// continues it.
type storedReply struct {
	row     int64
	message []byte // packed
}

// maxReplies is the number of replies that a recording caches.
const maxReplies = 8

// AddReply caches the reply of the effect in a row. effect is its JSON.
func (t *Conversations) AddReply(row int64, effect []byte) {
	const before = `"response":{"text":`
	i := bytes.Index(effect, []byte(before))
	if i < 0 {
		return
	}
	text := effect[i+len(before):]
	text = text[:encodings.TokenEnd(text)]
	m := slices.Concat([]byte(`{"role":"assistant","content":`), text, []byte(`}`))
	if len(t.replies) >= maxReplies {
		t.replies = append(t.replies[:0], t.replies[1:]...)
	}
	t.replies = append(t.replies, storedReply{row, m})
}

// replyRow returns the row of the effect with this message, or 0. Such a
// message is not stored again.
func (t *Conversations) replyRow(message []byte) int64 {
	for i := len(t.replies) - 1; i >= 0; i-- {
		if bytes.Equal(t.replies[i].message, message) {
			return t.replies[i].row
		}
	}
	return 0
}

// IndexMessages records that a row has the request's messages.
func (t *Conversations) IndexMessages(row int64, d *RequestDigest) {
	for i, c := range d.chains {
		if _, ok := t.positions[c.whole]; !ok {
			t.positions[c.whole] = messagePosition{row, d.first + i + 1}
		}
	}
}
