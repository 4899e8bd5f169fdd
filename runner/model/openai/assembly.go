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
	beyond         bool // more was said after a reason to finish, which then was none
	chosen         bool
	tally          tally
}

// ended says whether a reason to finish tells that nothing more is to come.
func (a *assembly) ended() bool { return a.finish != "" && !a.beyond }

type callParts struct {
	id, name  string
	arguments told
	extra     extras
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
		case "object":
			if string(value) == `"error"` {
				return "", complained(raw)
			}
		case "id":
			a.id = word(value)
		case "model":
			a.model = word(value)
		case "usage":
			a.tally.read(value)
		case "x_groq": // where Groq's streams have it
			for name, value := range members(value) {
				switch {
				case string(name) == "usage":
					a.tally.read(value)
				case string(name) == "error" && !hollow(value): // a stream that is stopped early
					return "", complained(value)
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
			a.beyond = a.beyond || a.finish != "" && piece != ""
		case "refusal":
			a.refusal.read(value)
		case "tool_calls":
			for _, call := range elements(value) {
				a.beyond = a.beyond || a.finish != ""
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
	if said, ok := a.text.read(content); ok {
		if len(a.parts) > 0 {
			a.after.add(said)
		}
		return said
	}
	for _, piece := range elements(content) {
		var kind string
		var said []byte
		for name, value := range members(piece) {
			switch string(name) {
			case "type":
				kind = word(value)
			case "text":
				said = value
			case "refusal":
				a.refusal.read(value)
			}
		}
		if kind == "text" || kind == "output_text" || kind == "" {
			a.text.read(said)
		} else {
			a.rich = true
		}
		a.parts = append(append(a.parts, piece...), ',')
	}
	return a.text.String()[before:]
}

// A part is a tool call, or a piece of one.
type part struct {
	index, id, name string
	arguments       []byte // JSON in a string, or as it is with some endpoints
}

func partOf(raw []byte) (p part) {
	for name, value := range members(raw) {
		switch string(name) {
		case "index":
			p.index = word(value)
		case "id":
			p.id = word(value)
		case "function":
			for name, value := range members(value) {
				switch string(name) {
				case "name":
					p.name = word(value)
				case "arguments":
					p.arguments = value
				}
			}
		}
	}
	return p
}

// wish adds a tool call, or a part of one.
func (a *assembly) wish(raw []byte) {
	p := partOf(raw)
	c := a.call(p)
	if c == nil {
		return
	}
	c.id, c.name = cmp.Or(c.id, p.id), cmp.Or(c.name, p.name)
	if _, ok := c.arguments.read(p.arguments); !ok {
		c.arguments.add(word(p.arguments))
	}
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
func (a *assembly) call(p part) *callParts {
	if !a.whole {
		c := a.numbered[p.index]
		if n := len(a.calls); p.index == "" && n > 0 && (p.id == "" || p.id == a.calls[n-1].id) {
			c = a.calls[n-1]
		}
		if c != nil && !c.behind(p) {
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

// behind says whether a part that comes where c's next would is of another call.
// Without ids it has another name, or arguments where c has all of its own: pieces of
// a call may repeat the name, but nothing can follow a whole object.
func (c *callParts) behind(p part) bool {
	switch {
	case p.name == "" || c.name == "":
		return false
	case p.id != "" && c.id != "":
		return p.id != c.id
	case p.name != c.name:
		return true
	}
	first := c.arguments.first
	return c.arguments.all.Len() == 0 && strings.TrimSpace(word(p.arguments)) != "" && strings.HasPrefix(strings.TrimSpace(first), "{") && valid([]byte(first))
}

// rest gives the end of the text that was held back, where no more of it comes.
func (a *assembly) rest() string {
	a.refusal.rest()
	for _, c := range a.calls {
		c.arguments.rest()
	}
	return a.text.rest()
}

func (a *assembly) draft() draft {
	a.rest()
	if a.rich { // the whole content goes back, not the text alone
		if a.after.Len() > 0 {
			last, _ := json.Marshal(map[string]string{"type": "text", "text": a.after.String()})
			a.parts = append(append(a.parts, last...), ',')
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
