package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/model"
)

// maxExtras is how many members beside those that are known a message may
// have.
const maxExtras = 100

// extras are the members of a message, or a call, that go back as they came.
// What came in one piece stays as it was written; pieces are put together as
// the protocol has it: texts after one another, lists too, objects member by
// member.
type extras struct {
	names  []string
	values map[string]any // [json.RawMessage] of one piece, else a tree
}

// add takes a member, or a piece of it. Null, and a list or an object with
// nothing in it, is not kept: endpoints send those of what they do not have,
// and do not take them all back.
func (e *extras) add(name string, raw []byte) {
	if hollow(raw) && raw[0] != '"' && raw[0] != 'f' {
		return
	}
	had, known := e.values[name]
	switch first, once := had.(json.RawMessage); {
	case known && once:
		e.values[name] = grown(tree(first), tree(raw))
	case known:
		e.values[name] = grown(had, tree(raw))
	case len(e.names) < maxExtras:
		if e.values == nil {
			e.values = map[string]any{}
		}
		e.names, e.values[name] = append(e.names, name), json.RawMessage(raw)
	}
}

func (e *extras) object() model.Extra {
	var object []byte
	for _, name := range e.names {
		object = append(append(append(append(object, ','), encoded(name)...), ':'), encoded(e.values[name])...)
	}
	if object == nil {
		return ""
	}
	object[0] = '{'
	extra, _ := model.ExtraOf(append(object, '}')) // it is valid
	return extra
}

func encoded(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // made of JSON
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// tree is valid JSON as values, with numbers as they are written.
func tree(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	_ = d.Decode(&v)
	return v
}

// A pile is a text that grows.
type pile struct{ strings.Builder }

// MarshalJSON writes it as a string.
func (p *pile) MarshalJSON() ([]byte, error) { return encoded(p.String()), nil }

// labels are the members that every piece of a thing repeats.
var labels = []string{"index", "type", "id", "format"}

// grown is a with another piece of it.
func grown(a, b any) any {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			p := new(pile)
			p.WriteString(a)
			p.WriteString(b)
			return p
		}
	case *pile:
		if b, ok := b.(string); ok {
			a.WriteString(b)
			return a
		}
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			for name, value := range b {
				if had, ok := a[name]; ok && !slices.Contains(labels, name) {
					value = grown(had, value)
				}
				a[name] = value
			}
			return a
		}
	case []any:
		if b, ok := b.([]any); ok {
			return lengthened(a, b)
		}
	}
	if b == nil {
		return a
	}
	return b
}

// lengthened is a list with more of it. An element that is numbered as the last
// one is another piece of that.
func lengthened(a, b []any) []any {
	for _, next := range b {
		if n := len(a); n > 0 && continues(a[n-1], next) {
			a[n-1] = grown(a[n-1], next)
		} else {
			a = append(a, next)
		}
	}
	return a
}

func continues(last, next any) bool {
	a, _ := last.(map[string]any)
	b, _ := next.(map[string]any)
	return a["index"] != nil && a["index"] == b["index"] && (a["type"] == b["type"] || b["type"] == nil)
}
