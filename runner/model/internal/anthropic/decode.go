package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// Decode implements [protocol.Protocol].
func (messages) Decode(ctx context.Context, text []byte) (protocol.Draft, error) {
	v, err := protocol.Parse(ctx, text, true)
	if err != nil {
		return protocol.Draft{}, err
	}
	if textOf(v, "type") == "error" {
		return protocol.Draft{}, protocol.Reported(v, text)
	}
	var r reply
	r.message(v)
	return r.draft(), nil
}

// Stream implements [protocol.Protocol].
func (messages) Stream() protocol.Stream { return &stream{} }

// A reply is an answer of a model, whole or as far as its events have arrived.
type reply struct {
	id, model        string
	stop, refusal    string // the reason to stop, and the explanation of a refusal
	parts            []*part
	numbered         map[string]*part
	calls            int            // of parts that are calls
	usage            protocol.Tally // its input excludes the cache's
	started, invalid bool
	others           int // values of blocks that are no texts and no calls
}

// A part is a content block of an answer.
type part struct {
	kind      string
	id, name  string         // of a call
	raw       jsontree.Value // the block as it began, which is all of it in a whole answer
	text      protocol.Text  // of a text or of thinking
	signature protocol.Text
	arguments protocol.Text // pieces of a call's input
	pieces    bool          // whether deltas follow the beginning
}

// message takes a message object and returns the text in it.
func (r *reply) message(v jsontree.Value) string {
	var pieces []string
	for name, value := range v.Members() {
		switch string(name) {
		case "id":
			r.id = protocol.Word(value)
		case "model":
			r.model = protocol.Word(value)
		case "content":
			r.started = true
			for element := range value.Elements() {
				pieces = append(pieces, r.begin("", element))
			}
		case "usage":
			r.count(value)
		default:
			r.end(string(name), value)
		}
	}
	return strings.Join(pieces, "")
}

// end takes a member of a message about its end.
func (r *reply) end(name string, v jsontree.Value) {
	switch name {
	case "stop_reason":
		r.stop = protocol.Word(v)
	case "stop_details":
		r.refusal = textOf(v, "explanation")
	}
}

// count takes a usage object. Counts that it does not have stay.
func (r *reply) count(v jsontree.Value) {
	for name, value := range v.Members() {
		switch string(name) {
		case "input_tokens":
			r.usage.Input.Read(value)
		case "cache_read_input_tokens":
			r.usage.Cached.Read(value)
		case "cache_creation_input_tokens":
			r.usage.CacheWrite.Read(value)
		case "output_tokens":
			r.usage.Output.Read(value)
		case "output_tokens_details":
			for name, value := range value.Members() {
				if string(name) == "thinking_tokens" {
					r.usage.Reasoning.Read(value)
				}
			}
		}
	}
}

// begin adds a content block and returns the text in it.
func (r *reply) begin(index string, v jsontree.Value) string {
	p := &part{kind: textOf(v, "type"), raw: v}
	r.append(index, p)
	switch p.kind {
	case "text":
		p.text.Add(textOf(v, "text"))
		return p.text.String()
	case "thinking":
		p.text.Add(textOf(v, "thinking"))
		p.signature.Add(textOf(v, "signature"))
	case "tool_use":
		p.id, p.name = textOf(v, "id"), textOf(v, "name")
		r.calls++
	}
	if p.kind != "text" && p.kind != "tool_use" {
		r.others += v.Count()
	}
	return ""
}

func (r *reply) append(index string, p *part) {
	r.parts = append(r.parts, p)
	if r.numbered == nil {
		r.numbered = map[string]*part{}
	}
	r.numbered[index] = p
}

// add adds a piece of a content block and returns the answer's text in it.
func (r *reply) add(index string, delta jsontree.Value) (text string) {
	p := r.numbered[index]
	if p == nil { // the beginning of the block is missing
		p = &part{kind: "text"}
		r.append(index, p)
	}
	for name, value := range delta.Members() {
		switch member := string(name); {
		case member == p.kind && (member == "text" || member == "thinking"):
			added, _ := p.text.Read(value)
			if member == "text" {
				text = added
			}
		case member == "signature":
			p.signature.Read(value)
		case member == "partial_json":
			p.arguments.Read(value)
		default:
			continue
		}
		p.pieces = true
	}
	r.invalid = r.invalid || p.invalid()
	return text
}

// check returns the failure of an answer that is beyond a limit, or whose text is no
// valid UTF-8 whatever follows.
func (r *reply) check() error {
	var message string
	switch {
	case r.invalid:
		return protocol.ErrInvalid()
	case r.others > jsontree.MaxValues:
		message = fmt.Sprintf("the reply cannot be used: %s: the limit is %d", jsontree.ErrTooManyValues, jsontree.MaxValues)
	case r.calls > protocol.MaxCalls:
		message = fmt.Sprintf("the model wants more than %d tools called at once", protocol.MaxCalls)
	default:
		return nil
	}
	return &model.Failure{Class: model.Unusable, Message: message}
}

func (p *part) invalid() bool { return p.text.Invalid || p.signature.Invalid || p.arguments.Invalid }

// draft returns the decoded reply.
func (r *reply) draft() protocol.Draft {
	d := protocol.Draft{ID: r.id, Model: r.model, Finish: r.stop, Answered: r.started, Count: r.calls, Usage: r.usage}
	d.Usage.Input.N += d.Usage.Cached.N + d.Usage.CacheWrite.N
	if r.stop == "refusal" {
		d.Refusal = r.refusal
	}
	var text, thinking []string
	for _, p := range r.parts {
		d.Invalid = d.Invalid || p.invalid() // includes an incomplete last piece
		switch p.kind {
		case "text":
			text = append(text, p.text.String())
		case "thinking":
			thinking = append(thinking, p.text.String())
		case "tool_use":
			d.Calls = append(d.Calls, p.call())
		case "redacted_thinking":
		default:
			d.Shape = "the content of the answer has a block of the type " + p.kind + " and no text"
		}
	}
	d.Text, d.Thinking = strings.Join(text, ""), strings.Join(thinking, "\n")
	d.Extra = r.extra()
	return d
}

// call returns a block as a call.
func (p *part) call() model.ToolCall {
	c := model.ToolCall{ID: p.id, Name: p.name, Arguments: p.arguments.String()}
	if !p.pieces {
		for name, value := range p.raw.Members() {
			if string(name) == "input" {
				c.Arguments = protocol.Word(value)
			}
		}
	}
	return c
}

// extra returns the blocks of an answer with thinking or other blocks. Later requests
// must contain all of them in their order.
func (r *reply) extra() model.Extra {
	plain := func(p *part) bool { return p.kind == "text" || p.kind == "tool_use" && p.id != "" }
	if !slices.ContainsFunc(r.parts, func(p *part) bool { return !plain(p) }) {
		return ""
	}
	object := []byte(`{"` + blocksField + `":[`)
	for _, p := range r.parts {
		if block := p.block(); block != nil {
			object = append(append(object, block...), ',')
		}
	}
	extra, err := model.ExtraOf(append(object[:len(object)-1], "]}"...))
	if err != nil { // a text of an event has invalid UTF-8, which is a failure
		return ""
	}
	return extra
}

// block returns a block for later requests, nil for a blank text.
func (p *part) block() []byte {
	switch {
	case p.kind == "text" && strings.TrimSpace(p.text.String()) == "":
		return nil
	case !p.pieces && p.kind != "tool_use":
		return p.raw.Raw()
	}
	members := map[string]any{"type": p.kind}
	switch p.kind {
	case "text":
		members["text"] = p.text.String()
	case "thinking":
		members["thinking"], members["signature"] = p.text.String(), p.signature.String()
	default: // a call of a tool of ours or of the endpoint's
		for name, value := range p.raw.Members() {
			members[string(name)] = value.Raw()
		}
		members["input"] = json.RawMessage(p.call().Object())
	}
	text, err := protocol.Encode(members)
	if err != nil {
		return nil
	}
	return text
}

// A stream is the events of a reply.
type stream struct{ reply }

// Add implements [protocol.Stream].
func (s *stream) Add(ctx context.Context, name string, data []byte) (text string, err error) {
	v, err := protocol.Parse(ctx, data, false)
	if err != nil {
		return "", err
	}
	kind, index := name, ""
	var message, block, delta, usage jsontree.Value
	for member, value := range v.Members() {
		switch string(member) {
		case "type":
			kind = protocol.Word(value)
		case "index":
			index = protocol.Word(value)
		case "message":
			message = value
		case "content_block":
			block = value
		case "delta":
			delta = value
		case "usage":
			usage = value
		}
	}
	switch kind {
	case "error":
		return "", protocol.Reported(v, data)
	case "message_start":
		text = s.message(message)
	case "content_block_start":
		s.stop = ""
		text = s.begin(index, block)
	case "content_block_delta":
		s.stop = ""
		text = s.add(index, delta)
	case "message_delta":
		for member, value := range delta.Members() {
			s.end(string(member), value)
		}
		s.count(usage)
	case "message_stop":
		return "", io.EOF
	}
	return text, s.check()
}

// Ended implements [protocol.Stream].
func (s *stream) Ended() bool { return s.stop != "" }

// Finish implements [protocol.Stream].
func (s *stream) Finish() (text string, d protocol.Draft) {
	for _, p := range s.parts {
		if added := p.text.Finish(); p.kind == "text" {
			text += added
		}
		p.signature.Finish()
		p.arguments.Finish()
	}
	return text, s.draft()
}
