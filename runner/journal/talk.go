package journal

import (
	"bytes"
	"slices"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/runner/model"
)

// A request is kept as what it adds to one before it, so that a conversation of n
// turns takes n messages and not n²:
//
//	row 6:  "said":[u1]                                  u1
//	row 10: "on":6,"keep":1,"reply":7,"said":[u2]        u1, what row 7 gave, u2
//	row 14: "on":10,"keep":3,"reply":11,"said":[u3]      those, what row 11 gave, u3
//
// What it goes on with is found by a digest of all messages up to there, not by whose
// conversation it is: two tries that begin alike share their beginning.

// A spot is where a conversation is kept: the first count messages of the
// request in a row.
type spot struct {
	row   int64
	count int
}

// talks are the conversations of a recording.
type talks struct {
	spots   map[digest]spot // by the digest of all messages up to there
	threads map[*model.Thread]stand
	texts   map[*byte]wire // encodings of tools and schemas, by where they are
	tools   map[*model.Tool]wire
	replies []reply // the last few
}

// A stand is how far a thread is known.
type stand struct {
	count int
	chain chain
}

// A chain digests messages, one after the other: as they are, and without
// secrets. Up to the first secret both are the same, and made once.
type chain struct{ whole, clean digest }

func (c chain) and(whole, clean []byte) chain {
	next := chain{whole: digestOf(c.whole[:], whole)}
	if next.clean = next.whole; c.whole != c.clean || !untouched(whole, clean) {
		next.clean = digestOf(c.clean[:], clean)
	}
	return next
}

// A wire is the encoding of something that is sent again and again.
type wire struct {
	text  string
	chain chain
	holds any // what it is of: as long as it is held, nothing else is there
}

// manyThreads bounds the threads and encodings that a recording remembers.
const manyThreads = 128

func newTalks() talks {
	return talks{spots: map[digest]spot{}, threads: map[*model.Thread]stand{}, texts: map[*byte]wire{}, tools: map[*model.Tool]wire{}}
}

// A talk is a request as it is kept.
type talk struct {
	print         print
	first         int      // the message that the next two begin with
	said          [][]byte // each message's JSON, without secrets: encoded once
	chains        []chain  // after each message
	tools, schema wire
}

// talk digests a request. With its thread, only what is new of it. It is
// called with r.mu held.
func (r *recording) talk(req *model.Request) (t talk, err error) {
	t, err = r.chain(req)
	if err != nil {
		return t, err
	}
	if t.tools, err = wireOf(r, r.talks.tools, req.Tools); err != nil {
		return t, err
	}
	if t.schema, err = wireOf(r, r.talks.texts, req.Schema); err != nil {
		return t, err
	}
	last := t.last(r.known(req).chain)
	whole := [][]byte{[]byte(req.Model), {0}, last.whole[:], t.tools.chain.whole[:], t.schema.chain.whole[:]}
	clean := [][]byte{[]byte(req.Model), {0}, last.clean[:], t.tools.chain.clean[:], t.schema.chain.clean[:]}
	if req.Params != nil {
		raw, err := encodings.Of(req.Params)
		if err != nil {
			return t, err
		}
		params := r.wire(raw, nil).chain
		whole, clean = append(whole, params.whole[:]), append(clean, params.clean[:])
	}
	t.print = printOf(digestOf(whole...), digestOf(clean...))
	return t, nil
}

// known is how far the request's messages are digested already.
func (r *recording) known(req *model.Request) stand {
	if req.Thread == nil || len(req.Messages) == 0 {
		return stand{}
	}
	s := r.talks.threads[req.Thread]
	whole := req.Thread.Messages()
	if s.count == 0 || s.count > len(req.Messages) || len(whole) < len(req.Messages) || &whole[0] != &req.Messages[0] {
		return stand{}
	}
	return s
}

func (t *talk) last(before chain) chain {
	if len(t.chains) == 0 {
		return before
	}
	return t.chains[len(t.chains)-1]
}

func (r *recording) chain(req *model.Request) (t talk, err error) {
	s := r.known(req)
	t.first = s.count
	at := s.chain
	for _, m := range req.Messages[s.count:] {
		raw, quick := quickMessage(&m)
		if !quick {
			if raw, err = encodings.Of(m); err != nil {
				return t, err
			}
		}
		said := r.j.secrets.redact(raw)
		at = at.and(raw, bareJSON(said))
		t.said, t.chains = append(t.said, said), append(t.chains, at)
	}
	return t, nil
}

// remember notes how far the request's thread is known.
func (r *recording) remember(req *model.Request, t *talk) {
	if req.Thread == nil || len(t.chains) == 0 {
		return
	}
	if len(r.talks.threads) >= manyThreads {
		clear(r.talks.threads)
	}
	r.talks.threads[req.Thread] = stand{len(req.Messages), t.last(chain{})}
}

// wireOf is the wire of a list, which is encoded once: known are those that were, by
// where they are.
func wireOf[E any, L ~[]E](r *recording, known map[*E]wire, list L) (wire, error) {
	if len(list) == 0 {
		return wire{}, nil
	}
	if w, ok := known[&list[0]]; ok && len(w.holds.(L)) == len(list) {
		return w, nil
	}
	raw, err := encodings.Of(list)
	if err != nil {
		return wire{}, err
	}
	w := r.wire(raw, list)
	if len(known) >= manyThreads {
		clear(known)
	}
	known[&list[0]] = w
	return w, nil
}

func (r *recording) wire(raw []byte, of any) wire {
	said := r.j.secrets.redact(raw)
	clean := bareJSON(said)
	return wire{string(said), chain{digestOf(raw), digestOf(clean)}, of}
}

// asked is the request as its row has it, with the messages that no earlier row
// has. It is called with r.mu held.
func (r *recording) asked(e *event.Event, t *talk) ([]byte, error) {
	req := e.Request
	a := asked{
		Model: req.Model, Phase: req.Phase, Attempt: req.Attempt, Turn: req.Turn, Validator: req.Validator, Role: req.Role,
		Tools: t.tools.text, Schema: t.schema.text, Params: req.Params, Before: e.Before,
	}
	if e.Conversation != e.Path {
		a.First = e.Conversation
	}
	for i := len(t.chains) - 1; i >= 0; i-- {
		if s, ok := r.talks.spots[t.chains[i].whole]; ok {
			a.On, a.Keep = s.row, s.count
			break
		}
	}
	if known := r.known(req); a.On == 0 && known.count > 0 {
		s := r.talks.spots[known.chain.whole]
		a.On, a.Keep = s.row, s.count
	}
	news := t.said[a.Keep-t.first:]
	if len(news) > 0 {
		if a.Reply = r.talks.replied(r.piece.pack(news[0])); a.Reply != 0 {
			news = news[1:]
		}
	}
	raw, err := r.piece.encode(a)
	if err != nil {
		return nil, err
	}
	var said []byte
	for _, m := range news {
		said = append(append(said, ','), r.piece.pack(m)...)
	}
	if said == nil {
		return raw, nil
	}
	said[0] = '['
	return encodings.With(raw, "said", append(said, ']')), nil
}

// A reply is what a model said, as a message of the conversation that goes on
// with it.
type reply struct {
	row     int64
	message []byte // packed
}

// manyReplies bounds the replies that a recording looks for.
const manyReplies = 8

// reply notes what the effect in a row came to, of which the JSON is given.
func (t *talks) reply(row int64, effect []byte) {
	const before = `"response":{"text":`
	i := bytes.Index(effect, []byte(before))
	if i < 0 {
		return
	}
	text := effect[i+len(before):]
	text = text[:encodings.TokenEnd(text)]
	m := slices.Concat([]byte(`{"role":"assistant","content":`), text, []byte(`}`))
	if len(t.replies) >= manyReplies {
		t.replies = append(t.replies[:0], t.replies[1:]...)
	}
	t.replies = append(t.replies, reply{row, m})
}

// replied is the row of the effect that gave a message, 0 for none: it is not
// kept twice then.
func (t *talks) replied(message []byte) int64 {
	for i := len(t.replies) - 1; i >= 0; i-- {
		if bytes.Equal(t.replies[i].message, message) {
			return t.replies[i].row
		}
	}
	return 0
}

// place notes that a row has the request's messages.
func (r *recording) place(row int64, t *talk) {
	for i, d := range t.chains {
		if _, ok := r.talks.spots[d.whole]; !ok {
			r.talks.spots[d.whole] = spot{row, t.first + i + 1}
		}
	}
}
