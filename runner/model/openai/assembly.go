package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed61713e19/capstan/runner/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model"
)

// An assembly joins what a model said: the chunks of a stream, or a whole answer,
// which is one chunk.
type assembly struct {
	whole          bool
	normal         []string // finish reasons of the provider that mean a normal end
	id, model      string
	text, refusal  joinedText
	parts          []byte     // of content that is a list, each followed by a comma
	rich           bool       // some of the parts are no texts
	after          joinedText // text after the parts
	shape          string     // of content that is no text
	legacy         bool       // the only call is a function_call
	calls          []*callParts
	count          int // of calls that began
	numbered       map[string]*callParts
	extra          extras
	finish, native string
	beyond         bool // more came after a reason to finish, which therefore was none
	chosen         bool
	tally          tally
}

// ended reports whether a reason to finish came and nothing after it.
func (a *assembly) ended() bool { return a.finish != "" && !a.beyond }

type callParts struct {
	id, name  string
	arguments joinedText
	extra     extras
}

// take adds a chunk and returns the text in it. The error is a [*model.Failure] if the
// chunk reports an error, wherever in the chunk it is, or has a duplicate name or too
// many values. A character may begin in one chunk and end in another, which
// [joinedText] checks.
func (a *assembly) take(ctx context.Context, raw []byte) (piece string, err error) {
	chunk, err := jsontree.Parse(ctx, raw, jsontree.Options{InvalidUTF8: !a.whole})
	if err != nil {
		if errors.Is(err, jsontree.ErrTooManyValues) || errors.Is(err, jsontext.ErrDuplicateName) {
			err = &model.Failure{Class: model.Unusable, Message: fmt.Sprintf("the reply cannot be used: %s", err)}
		}
		return "", err
	}
	var choices jsontree.Value
	for name, value := range chunk.Members() {
		switch string(name) {
		case "error":
			if !empty(value) {
				return "", reported(chunk, raw)
			}
		case "object":
			if string(value.Raw()) == `"error"` {
				return "", reported(chunk, raw)
			}
		case "id":
			a.id = word(value)
		case "model":
			a.model = word(value)
		case "usage":
			a.tally.read(value)
		case "x_groq": // where Groq's streams have it
			for name, value := range value.Members() {
				switch {
				case string(name) == "usage":
					a.tally.read(value)
				case string(name) == "error" && !empty(value): // a stream that is stopped early
					return "", reported(value, value.Raw())
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

// A choice is one of the answers that an endpoint may give. The first one is used.
type choice struct {
	first          bool
	message, err   jsontree.Value
	text           jsontree.Value // in place of a message, as in the older completions protocol
	finish, native string
}

func choiceOf(v jsontree.Value) choice {
	c := choice{first: true}
	for name, value := range v.Members() {
		switch string(name) {
		case "index":
			c.first = word(value) == "0" || word(value) == ""
		case "message", "delta":
			if !empty(value) {
				c.message = value
			}
		case "text":
			c.text = value
		case "error":
			c.err = value
		case "finish_reason":
			c.finish = word(value)
		case "native_finish_reason":
			c.native = word(value)
		}
	}
	return c
}

// choose adds the chosen answer. A bad reason to finish stays, whatever reason
// follows.
func (a *assembly) choose(ctx context.Context, c choice) (piece string, err error) {
	a.chosen = true
	if !empty(c.err) {
		return "", complaint{err: c.err}.failure(0, c.err.Raw())
	}
	if empty(c.message) {
		piece = a.addContent(c.text)
	}
	for name, value := range c.message.Members() {
		switch string(name) {
		case "role", "name":
		case "function_call": // the protocol's older form, beside which some endpoints have the newer one
			if a.legacy = !empty(value) && (a.legacy || len(a.calls) == 0); a.legacy {
				a.addCall(ctx, functionOf(value), jsontree.Value{})
			}
		case "content":
			piece = a.addContent(value)
			a.beyond = a.beyond || a.finish != "" && piece != ""
		case "refusal":
			a.refusal.read(value)
		case "tool_calls":
			if a.legacy && !empty(value) {
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

// check returns the failure of an answer that is beyond a limit, or whose text is no
// valid UTF-8 whatever follows.
func (a *assembly) check() error {
	size := a.extra.size
	invalid := a.text.invalid || a.refusal.invalid
	for _, c := range a.calls {
		size += c.extra.size
		invalid = invalid || c.arguments.invalid
	}
	switch {
	case invalid:
		return errInvalid()
	case size > jsontree.MaxValues:
		return &model.Failure{Class: model.Unusable, Message: fmt.Sprintf("the reply cannot be used: %s: the limit is %d", jsontree.ErrTooManyValues, jsontree.MaxValues)}
	case a.count > maxCalls && !a.whole:
		return &model.Failure{Class: model.Unusable, Message: fmt.Sprintf("the model wants more than %d tools called at once", maxCalls)}
	}
	return nil
}

// errInvalid returns the failure of an answer with invalid UTF-8.
func errInvalid() *model.Failure {
	return &model.Failure{Class: model.Unavailable, Message: "the reply has invalid UTF-8"}
}

// addContent adds content and returns the text in it. Some endpoints have a list of
// parts or of texts, one part, or an object that is the answer itself.
func (a *assembly) addContent(content jsontree.Value) string {
	before := a.text.Len()
	if added, ok := a.text.read(content); ok {
		if len(a.parts) > 0 {
			a.after.add(added)
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
			a.text.add(string(content.Raw()))
		}
	case '0', 't', 'f':
		a.shape = "the content of the answer is " + string(content.Raw()) + " and no text"
	}
	return a.text.String()[before:]
}

// addPart adds a part of the content. ok is false for an object that has neither a
// type nor a text.
func (a *assembly) addPart(part jsontree.Value) (ok bool) {
	var kind string
	var text jsontree.Value
	for name, value := range part.Members() {
		switch string(name) {
		case "type":
			kind = word(value)
		case "text":
			text = value
		case "refusal":
			a.refusal.read(value)
		}
	}
	raw := []byte(part.Raw())
	if part.Kind() == '"' {
		text, raw = part, slices.Concat([]byte(`{"type":"text","text":`), raw, []byte("}"))
	}
	_, ok = a.text.read(text)
	switch {
	case kind != "text" && kind != "output_text" && kind != "":
		a.rich, ok = true, true
		a.shape = "the content of the answer has a part of the type " + kind + " and no text"
	case !ok && part.Kind() == '{' && kind == "":
		a.shape = "the content of the answer has the part " + model.Cut(string(part.Raw()), maxPartShown) + " and no text"
		return false
	}
	a.parts = append(append(a.parts, raw...), ',')
	a.extra.size += part.Count()
	return ok
}

// maxPartShown bounds a part of the content in a message, in bytes.
const maxPartShown = 200

// A callPart is a tool call, or a piece of one.
type callPart struct {
	index, id, name string
	arguments       jsontree.Value // JSON in a string, or as it is with some endpoints
}

func callPartOf(v jsontree.Value) (p callPart) {
	for name, value := range v.Members() {
		switch string(name) {
		case "index":
			p.index = word(value)
		case "id":
			p.id = word(value)
		case "function":
			function := functionOf(value)
			p.name, p.arguments = function.name, function.arguments
		}
	}
	return p
}

func functionOf(v jsontree.Value) (p callPart) {
	for name, value := range v.Members() {
		switch string(name) {
		case "name":
			p.name = word(value)
		case "arguments":
			p.arguments = value
		}
	}
	return p
}

// addCall adds a tool call, or a piece of one.
func (a *assembly) addCall(ctx context.Context, p callPart, v jsontree.Value) {
	c := a.call(ctx, p)
	if c == nil {
		return
	}
	c.id, c.name = cmp.Or(c.id, p.id), cmp.Or(c.name, p.name)
	if _, ok := c.arguments.read(p.arguments); !ok {
		c.arguments.add(word(p.arguments))
	}
	for name, value := range v.Members() {
		switch string(name) {
		case "index", "id", "type", "function":
		default:
			c.extra.add(string(name), value)
		}
	}
}

// call returns the tool call that a part belongs to. If an endpoint does not number
// the calls, or gives all the same number, a new id begins a new call: of parts with
// the ids a, none, b, the first two are one call. call returns nil beyond [maxCalls].
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
	if a.count++; a.count > maxCalls {
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

// endsBefore reports whether a part that follows c belongs to another call: it has
// another id. Without ids it has another name, or arguments although c's arguments
// are a complete object. Pieces of a call may repeat the name.
func (c *callParts) endsBefore(ctx context.Context, p callPart) bool {
	switch {
	case p.name == "" || c.name == "":
		return false
	case p.id != "" && c.id != "":
		return p.id != c.id
	case p.name != c.name:
		return true
	}
	first := c.arguments.first
	if c.arguments.all.Len() > 0 || strings.TrimSpace(word(p.arguments)) == "" || !strings.HasPrefix(strings.TrimSpace(first), "{") {
		return false
	}
	_, err := jsontree.Parse(ctx, []byte(first), jsontree.Options{})
	return err == nil
}

// finishTexts completes the texts after the last chunk, and returns what that adds to
// the text.
func (a *assembly) finishTexts() string {
	a.refusal.finish()
	for _, c := range a.calls {
		c.arguments.finish()
	}
	return a.text.finish()
}

// thoughts are the members in which endpoints put what a model thinks: DeepSeek and
// vLLM, OpenRouter and newer vLLM, Ollama.
var thoughts = []string{"reasoning_content", "reasoning", "thinking"}

func (a *assembly) draft() draft {
	a.finishTexts()
	if a.rich { // the whole content goes back, not the text alone
		if a.after.Len() > 0 {
			a.parts = append(model.AppendText(append(a.parts, `{"type":"text","text":`...), a.after.String()), "},"...)
		}
		a.extra.addRaw("content", slices.Concat([]byte("["), a.parts[:len(a.parts)-1], []byte("]")))
	}
	extra, valid := a.extra.object()
	d := draft{
		id: a.id, model: a.model, text: a.text.String(), refusal: a.refusal.String(), count: a.count, extra: extra,
		finish: a.finish, native: a.native, chosen: a.chosen, tally: a.tally, shape: a.shape,
	}
	if i := slices.IndexFunc(thoughts, extra.Has); d.shape == "" && i >= 0 {
		d.shape = "the answer has " + thoughts[i] + " and no content: if the answer is there, turn off the server's reasoning parser, " +
			"or the model's thinking; if the thoughts were cut, raise max_output_tokens"
	}
	d.invalid = !valid || a.text.invalid || a.refusal.invalid
	for _, c := range a.calls {
		extra, valid := c.extra.object()
		d.invalid = d.invalid || !valid || c.arguments.invalid
		d.calls = append(d.calls, model.ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments.String(), Extra: extra})
	}
	return d
}
