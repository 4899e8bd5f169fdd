package openai

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// An assembly joins the chunks of a stream. A reply without a stream is one
// chunk.
type assembly struct {
	whole          bool
	normal         []string // finish reasons of complete answers, in addition to the known ones
	id, model      string
	text, refusal  protocol.Text
	parts          []byte        // the parts of the content if it is a list, each followed by a comma
	rich           bool          // reports whether a part is not a text
	after          protocol.Text // the text after the parts
	shape          string        // describes content that is not a text
	legacy         bool          // true if the only call is a function_call
	calls          []*callParts
	count          int // the number of calls
	numbered       map[string]*callParts
	extra          extras
	finish, native string
	beyond         bool // reports whether content followed the finish reason
	chosen         bool
	tally          protocol.Tally
}

// Add adds an event: a chunk, or the end of the stream.
func (a *assembly) Add(ctx context.Context, _ string, data []byte) (text string, err error) {
	if string(data) == doneEvent {
		return "", io.EOF
	}
	return a.take(ctx, data)
}

// Ended reports whether there is a finish reason without content after it.
func (a *assembly) Ended() bool { return a.finish != "" && !a.beyond }

// Finish returns the draft, and the text that was waiting for the end of a
// character.
func (a *assembly) Finish() (text string, d protocol.Draft) {
	text = a.finishTexts()
	return text, a.draft()
}

type callParts struct {
	id, name  string
	arguments protocol.Text
	extra     extras
}

// take adds a chunk and returns its text. The error is a [*model.Failure] if
// the chunk has an
// error member, a duplicate name or too many values. A character may begin in
// one chunk and end in
// the next.
func (a *assembly) take(ctx context.Context, raw []byte) (piece string, err error) {
	chunk, err := protocol.Parse(ctx, raw, a.whole)
	if err != nil {
		return "", err
	}
	var choices jsontree.Value
	for name, value := range chunk.Members() {
		switch string(name) {
		case "error":
			if !protocol.Empty(value) {
				return "", protocol.Reported(chunk, raw)
			}
		case "object":
			if string(value.Raw()) == `"error"` {
				return "", protocol.Reported(chunk, raw)
			}
		case "id":
			a.id = protocol.Word(value)
		case "model":
			a.model = protocol.Word(value)
		case "usage":
			a.tally.Read(value)
		case "x_groq": // the usage in Groq's streams
			for name, value := range value.Members() {
				switch {
				case string(name) == "usage":
					a.tally.Read(value)
				case string(name) == "error" && !protocol.Empty(value): // an error in the middle of a stream
					return "", protocol.Reported(value, value.Raw())
				}
			}
		case "choices":
			choices = value
		}
	}
	for value := range choices.Elements() {
		if c := choiceOf(value); c.first {
			return a.choose(ctx, c)
		}
	}
	return "", nil
}

// A choice is one of several answers. Only the first one is used.
type choice struct {
	first          bool
	message, err   jsontree.Value
	text           jsontree.Value // instead of a message, in the older completions protocol
	finish, native string
}

func choiceOf(v jsontree.Value) choice {
	c := choice{first: true}
	for name, value := range v.Members() {
		switch string(name) {
		case "index":
			c.first = protocol.Word(value) == "0" || protocol.Word(value) == ""
		case "message", "delta":
			if !protocol.Empty(value) {
				c.message = value
			}
		case "text":
			c.text = value
		case "error":
			c.err = value
		case "finish_reason":
			c.finish = protocol.Word(value)
		case "native_finish_reason":
			c.native = protocol.Word(value)
		}
	}
	return c
}

// choose adds the first answer. A finish reason of a failed answer is final.
func (a *assembly) choose(ctx context.Context, c choice) (piece string, err error) {
	a.chosen = true
	if !protocol.Empty(c.err) {
		return "", protocol.Reported(c.err, c.err.Raw())
	}
	if protocol.Empty(c.message) {
		piece = a.addContent(c.text)
	}
	for name, value := range c.message.Members() {
		switch string(name) {
		case "role", "name":
		case "function_call": // the older form of a tool call; some endpoints send both forms
			if a.legacy = !protocol.Empty(value) && (a.legacy || len(a.calls) == 0); a.legacy {
				a.addCall(ctx, functionOf(value), jsontree.Value{})
			}
		case "content":
			piece = a.addContent(value)
			a.beyond = a.beyond || a.finish != "" && piece != ""
		case "refusal":
			a.refusal.Read(value)
		case "tool_calls":
			if a.legacy && !protocol.Empty(value) {
				a.calls, a.count, a.legacy = nil, 0, false
			}
			for call := range value.Elements() {
				a.beyond = a.beyond || a.finish != ""
				a.addCall(ctx, callPartOf(call), call)
			}
		default:
			a.extra.add(string(name), value)
		}
	}
	if c.finish != "" && (a.finish == "" || byItself(a.finish, a.normal)) {
		a.finish = c.finish
	}
	if c.native != "" {
		a.native = c.native
	}
	return piece, a.check()
}

// check returns an error if the answer exceeds a limit or cannot become valid
// UTF-8.
func (a *assembly) check() error {
	size := a.extra.size
	invalid := a.text.Invalid || a.refusal.Invalid
	for _, c := range a.calls {
		size += c.extra.size
		invalid = invalid || c.arguments.Invalid
	}
	switch {
	case invalid:
		return protocol.ErrInvalid()
	case size > jsontree.MaxValues:
		return &model.Failure{Class: model.Unusable, Message: fmt.Sprintf("the reply cannot be used: %s: the limit is %d", jsontree.ErrTooManyValues, jsontree.MaxValues)}
	case a.count > protocol.MaxCalls && !a.whole:
		return protocol.ErrManyCalls()
	}
	return nil
}

// addContent adds content and returns its text. The content of some endpoints
// is a list of parts
// or texts, one part, or an object that is the answer.
func (a *assembly) addContent(content jsontree.Value) string {
	before := a.text.Len()
	if added, ok := a.text.Read(content); ok {
		if len(a.parts) > 0 {
			a.after.Add(added)
		}
		return added
	}
	switch content.Kind() {
	case '[':
		for part := range content.Elements() {
			a.addPart(part)
		}
	case '{':
		if !a.addPart(content) {
			a.text.Add(string(content.Raw()))
		}
	case '0', 't', 'f':
		a.shape = "the content of the answer is " + string(content.Raw()) + " and no text"
	}
	return a.text.String()[before:]
}

// addPart adds a part of the content. It returns false for an object without a
// type and a text.
func (a *assembly) addPart(part jsontree.Value) (ok bool) {
	var kind string
	var text jsontree.Value
	for name, value := range part.Members() {
		switch string(name) {
		case "type":
			kind = protocol.Word(value)
		case "text":
			text = value
		case "refusal":
			a.refusal.Read(value)
		}
	}
	raw := []byte(part.Raw())
	if part.Kind() == '"' {
		text, raw = part, slices.Concat([]byte(`{"type":"text","text":`), raw, []byte("}"))
	}
	_, ok = a.text.Read(text)
	switch {
	case kind != "text" && kind != "output_text" && kind != "":
		a.rich, ok = true, true
		a.shape = "the content of the answer has a part of the type " + kind + " and no text"
	case !ok && part.Kind() == '{' && kind == "":
		a.shape = "the content of the answer has the part " + clips.Sized(string(part.Raw()), maxPartShown) + " and no text"
		return false
	}
	a.parts = append(append(a.parts, raw...), ',')
	a.extra.size += part.Count()
	return ok
}

// maxPartShown is the maximum length of a part in a message, in bytes.
const maxPartShown = 200

// addCall adds a tool call or a piece of one.
func (a *assembly) addCall(ctx context.Context, p callPart, v jsontree.Value) {
	c := a.call(ctx, p)
	if c == nil {
		return
	}
	c.id, c.name = cmp.Or(c.id, p.id), cmp.Or(c.name, p.name)
	if _, ok := c.arguments.Read(p.arguments); !ok {
		c.arguments.Add(protocol.Word(p.arguments))
	}
	for name, value := range v.Members() {
		switch string(name) {
		case "index", "id", "type", "function":
		default:
			c.extra.add(string(name), value)
		}
	}
}

// call returns the tool call of a part. If an endpoint numbers the calls
// wrongly or not at all, a new id begins a new call. For parts with the ids a,
// none, b, the first two are one call. It returns nil after
// [protocol.MaxCalls].
func (a *assembly) call(ctx context.Context, p callPart) *callParts {
	if !a.whole {
		c := a.numbered[p.index]
		if n := len(a.calls); p.index == "" && n > 0 && (p.id == "" || p.id == a.calls[n-1].id) {
			c = a.calls[n-1]
		}
		if c != nil && !c.endsBefore(ctx, p) {
			return c
		}
	}
	if a.count++; a.count > protocol.MaxCalls {
		return nil
	}
	c := new(callParts)
	a.calls = append(a.calls, c)
	if p.index != "" {
		if a.numbered == nil {
			a.numbered = map[string]*callParts{}
		}
		a.numbered[p.index] = c
	}
	return c
}

// endsBefore reports whether a part after c belongs to another call. Two
// different ids mean two calls. Without ids, a different name means another
// call. The same name with further arguments means another call if the
// arguments of c are complete.
func (c *callParts) endsBefore(ctx context.Context, p callPart) bool {
	switch {
	case p.name == "" || c.name == "":
		return false
	case p.id != "" && c.id != "":
		return p.id != c.id
	case p.name != c.name:
		return true
	}
	first, one := c.arguments.Piece()
	if !one || strings.TrimSpace(protocol.Word(p.arguments)) == "" || !strings.HasPrefix(strings.TrimSpace(first), "{") {
		return false
	}
	_, err := jsontree.Parse(ctx, []byte(first), jsontree.Options{})
	return err == nil
}

// finishTexts completes the texts after the last chunk and returns the rest of
// the text.
func (a *assembly) finishTexts() string {
	a.refusal.Finish()
	for _, c := range a.calls {
		c.arguments.Finish()
	}
	return a.text.Finish()
}

// thinkingMembers are the members for thinking: of DeepSeek and vLLM, of
// OpenRouter and newer
// versions of vLLM, and of Ollama.
var thinkingMembers = []string{"reasoning_content", "reasoning", "thinking"}

func (a *assembly) draft() protocol.Draft {
	if a.rich { // later requests send back all content, not only the text
		if a.after.Len() > 0 {
			a.parts = append(jsonvalue.AppendText(append(a.parts, `{"type":"text","text":`...), a.after.String()), "},"...)
		}
		a.extra.addRaw("content", slices.Concat([]byte("["), a.parts[:len(a.parts)-1], []byte("]")))
	}
	extra, valid := a.extra.object()
	d := protocol.Draft{
		ID: a.id, Model: a.model, Text: a.text.String(), Refusal: a.refusal.String(), Count: a.count, Extra: extra,
		Finish: a.finish, Native: a.native, Answered: a.chosen, Usage: a.tally, Shape: a.shape,
	}
	if i := slices.IndexFunc(thinkingMembers, extra.Has); d.Shape == "" && i >= 0 {
		d.Shape = "the answer has " + thinkingMembers[i] + " and no content: if the answer is there, turn off the server's reasoning parser, " +
			"or the model's thinking; if the thoughts were cut, raise max_output_tokens"
	}
	d.Invalid = !valid || a.text.Invalid || a.refusal.Invalid
	for _, c := range a.calls {
		extra, valid := c.extra.object()
		d.Invalid = d.Invalid || !valid || c.arguments.Invalid
		d.Calls = append(d.Calls, model.ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments.String(), Extra: extra})
	}
	return d
}
