package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/model"
)

// An assembly puts together what a model said: the chunks of a stream, or a
// whole answer, which is one chunk.
type assembly struct {
	whole          bool
	id, model      string
	text, refusal  told
	parts          []byte // of content that came as a list, each followed by a comma
	rich           bool   // some of them are no texts
	after          told   // text that came after them
	calls          []*callParts
	count          int // of calls that began
	numbered       map[string]*callParts
	extra          extras
	finish, native string
	chosen         bool
	tally          tally
}

type callParts struct {
	id, name  string
	arguments told
	extra     extras
}

// told is a text that comes in pieces. One that comes in one is not copied.
type told struct {
	first string
	all   strings.Builder // where there is more than the first
}

func (t *told) add(piece string) {
	switch {
	case t.Len() == 0:
		t.first = piece
		return
	case t.all.Len() == 0:
		t.all.WriteString(t.first)
	}
	t.all.WriteString(piece)
}

func (t *told) Len() int { return max(len(t.first), t.all.Len()) }

func (t *told) String() string {
	if t.all.Len() > 0 {
		return t.all.String()
	}
	return t.first
}

// take adds a chunk and gives the text in it. The error is a [*model.Failure]
// where the chunk says that something went wrong, which is believed before
// anything else in it.
func (a *assembly) take(raw []byte) (piece string, err error) {
	if !valid(raw) {
		return "", json.Unmarshal(raw, new(json.RawMessage))
	}
	var choices []byte
	for name, value := range members(raw) {
		switch string(name) {
		case "error":
			if !hollow(value) {
				return "", failureOf(0, raw)
			}
		case "id":
			a.id = word(value)
		case "model":
			a.model = word(value)
		case "usage":
			a.tally.read(value)
		case "x_groq": // where Groq's streams have it
			for name, value := range members(value) {
				if string(name) == "usage" {
					a.tally.read(value)
				}
			}
		case "choices":
			choices = value
		}
	}
	for _, value := range elements(choices) {
		if c := choiceOf(value); c.first {
			return a.choose(c)
		}
	}
	return "", nil
}

// A choice is one of the answers that an endpoint may give; the first is
// listened to.
type choice struct {
	first          bool
	said, error    []byte
	finish, native string
}

func choiceOf(raw []byte) choice {
	c := choice{first: true}
	for name, value := range members(raw) {
		switch string(name) {
		case "index":
			c.first = string(value) == "0" || word(value) == "0" || word(value) == ""
		case "message", "delta":
			if !hollow(value) {
				c.said = value
			}
		case "error":
			c.error = value
		case "finish_reason":
			c.finish = word(value)
		case "native_finish_reason":
			c.native = word(value)
		}
	}
	return c
}

// choose adds the chosen answer. A bad reason to finish is not made good by
// another.
func (a *assembly) choose(c choice) (piece string, err error) {
	a.chosen = true
	if !hollow(c.error) {
		object, _ := json.Marshal(map[string]json.RawMessage{"error": c.error})
		return "", failureOf(0, object)
	}
	for name, value := range members(c.said) {
		switch string(name) {
		case "role", "name", "function_call":
		case "content":
			piece = a.say(value)
		case "refusal":
			no, _ := text(value)
			a.refusal.add(no)
		case "tool_calls":
			for _, call := range elements(value) {
				a.wish(call)
			}
		default:
			a.extra.add(string(name), value)
		}
	}
	if c.finish != "" && (a.finish == "" || byItself(a.finish)) {
		a.finish = c.finish
	}
	if c.native != "" {
		a.native = c.native
	}
	if a.count > maxCalls && !a.whole {
		return "", &model.Failure{Class: model.Unusable, Message: fmt.Sprintf("the model wants more than %d tools called at once", maxCalls)}
	}
	return piece, nil
}

// say adds content, a text or with some endpoints a list of parts, and gives
// the text in it.
func (a *assembly) say(content []byte) string {
	before := a.text.Len()
	if said, ok := text(content); ok {
		a.text.add(said)
		if len(a.parts) > 0 {
			a.after.add(said)
		}
		return said
	}
	for _, part := range elements(content) {
		var kind, said string
		for name, value := range members(part) {
			switch string(name) {
			case "type":
				kind = word(value)
			case "text":
				said, _ = text(value)
			case "refusal":
				no, _ := text(value)
				a.refusal.add(no)
			}
		}
		if kind == "text" || kind == "output_text" || kind == "" {
			a.text.add(said)
		} else {
			a.rich = true
		}
		a.parts = append(append(a.parts, part...), ',')
	}
	return a.text.String()[before:]
}

// wish adds a tool call, or a part of one.
func (a *assembly) wish(raw []byte) {
	var index, id, called, arguments string
	for name, value := range members(raw) {
		switch string(name) {
		case "index":
			index = word(value)
		case "id":
			id = word(value)
		case "function":
			for name, value := range members(value) {
				switch string(name) {
				case "name":
					called = word(value)
				case "arguments":
					arguments = word(value) // JSON in a string, or as it is with some endpoints
				}
			}
		}
	}
	c := a.call(index, id, called)
	if c == nil {
		return
	}
	c.id, c.name = cmp.Or(c.id, id), cmp.Or(c.name, called)
	c.arguments.add(arguments)
	for name, value := range members(raw) {
		switch string(name) {
		case "index", "id", "type", "function":
		default:
			c.extra.add(string(name), value)
		}
	}
}

// call is the tool call that a part belongs to. Where an endpoint does not
// number them, or gives all the same number, a new id begins a new one: of parts with
// the ids a, none, b, the first two are of one call. nil is one beyond bounds.
func (a *assembly) call(index, id, name string) *callParts {
	if !a.whole {
		c := a.numbered[index]
		if n := len(a.calls); index == "" && n > 0 && (id == "" || id == a.calls[n-1].id) {
			c = a.calls[n-1]
		}
		if c != nil && (id == "" || name == "" || c.id == "" || id == c.id) {
			return c
		}
	}
	if a.count++; a.count > maxCalls {
		return nil
	}
	c := new(callParts)
	a.calls = append(a.calls, c)
	if index != "" {
		if a.numbered == nil {
			a.numbered = map[string]*callParts{}
		}
		a.numbered[index] = c
	}
	return c
}

func (a *assembly) draft() draft {
	if a.rich { // the whole content goes back, not the text alone
		if a.after.Len() > 0 {
			part, _ := json.Marshal(map[string]string{"type": "text", "text": a.after.String()})
			a.parts = append(append(a.parts, part...), ',')
		}
		a.extra.add("content", slices.Concat([]byte("["), a.parts[:len(a.parts)-1], []byte("]")))
	}
	d := draft{
		id: a.id, model: a.model, text: a.text.String(), refusal: a.refusal.String(), count: a.count, extra: a.extra.object(),
		finish: a.finish, native: a.native, chosen: a.chosen, whole: a.whole, tally: a.tally,
	}
	for _, c := range a.calls {
		d.calls = append(d.calls, model.ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments.String(), Extra: c.extra.object()})
	}
	return d
}
