package openai

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// maxExtras is the maximum number of unknown members of a message.
const maxExtras = 100

// extras are the unknown members of a message or a call, which go back to the
// endpoint. A member that arrives in one piece stays as it was written. Pieces are
// joined as the protocol defines: texts and lists one after the other, objects
// member by member.
type extras struct {
	names  []string
	values map[string]any // a [jsontree.Value] if there is one piece, else a part
	size   int            // number of values in all parts
}

// A part of an extra in several pieces is a *protocol.Text, a
// [json.RawMessage], a map[string]any, or an []any of parts.

// add adds a member, or a piece of it. It ignores null and empty lists and objects:
// endpoints send them for features that they do not have, and some refuse them.
func (e *extras) add(name string, v jsontree.Value) {
	if protocol.Empty(v) && v.Kind() != '"' && v.Kind() != 'f' {
		return
	}
	before, known := e.values[name]
	switch first, once := before.(jsontree.Value); {
	case known && once:
		e.size += first.Count()
		e.values[name] = e.join(partOf(first), v)
	case known:
		e.values[name] = e.join(before, v)
	case len(e.names) < maxExtras:
		if e.values == nil {
			e.values = map[string]any{}
		}
		e.names, e.values[name] = append(e.names, name), v
	}
}

// addRaw adds a member that arrives in one piece.
func (e *extras) addRaw(name string, raw []byte) {
	if e.values == nil {
		e.values = map[string]any{}
	}
	e.names, e.values[name] = append(e.names, name), json.RawMessage(raw)
}

// object returns the extras as an object. valid is false if a text is invalid
// UTF-8.
func (e *extras) object() (extra model.Extra, valid bool) {
	if len(e.names) == 0 {
		return "", true
	}
	valid = true
	object := []byte{'{'}
	for i, name := range e.names {
		if i > 0 {
			object = append(object, ',')
		}
		object = append(jsonvalue.AppendText(object, name), ':')
		value := e.values[name]
		if v, once := value.(jsontree.Value); once {
			object = append(object, v.Raw()...)
			continue
		}
		valid = finish(value) && valid
		object = append(object, encoded(value)...)
	}
	extra, err := model.ExtraOf(append(object, '}'))
	return extra, valid && err == nil
}

// finish completes the texts of a part. It returns false if a text is invalid
// UTF-8.
func finish(part any) bool {
	valid := true
	switch part := part.(type) {
	case *protocol.Text:
		part.Finish()
		return !part.Invalid
	case map[string]any:
		for _, member := range part {
			valid = finish(member) && valid
		}
	case []any:
		for _, element := range part {
			valid = finish(element) && valid
		}
	}
	return valid
}

func encoded(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // made of JSON
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// partOf returns a value as a part that can be joined with other parts.
func partOf(v jsontree.Value) any {
	switch v.Kind() {
	case '"':
		t := new(protocol.Text)
		t.Read(v)
		return t
	case '{':
		object := map[string]any{}
		for name, member := range v.Members() {
			object[string(name)] = partOf(member)
		}
		return object
	case '[':
		list := []any{}
		for element := range v.Elements() {
			list = append(list, partOf(element))
		}
		return list
	}
	return json.RawMessage(v.Raw())
}

// labels are the members that every piece of an object repeats.
var labels = []string{"index", "type", "id", "format"}

// join returns a part with another piece.
func (e *extras) join(a any, v jsontree.Value) any {
	switch a := a.(type) {
	case *protocol.Text:
		if _, ok := a.Read(v); ok {
			return a
		}
	case map[string]any:
		if v.Kind() == '{' {
			for name, member := range v.Members() {
				e.joinMember(a, string(name), member)
			}
			return a
		}
	case []any:
		if v.Kind() == '[' {
			return e.joinList(a, v)
		}
	}
	if v.Kind() == 'n' {
		return a
	}
	e.size += v.Count()
	return partOf(v)
}

func (e *extras) joinMember(object map[string]any, name string, v jsontree.Value) {
	if before, ok := object[name]; ok && !slices.Contains(labels, name) {
		object[name] = e.join(before, v)
		return
	}
	e.size += v.Count()
	object[name] = partOf(v)
}

// joinList returns a list with more elements. An element with the index of the
// last element continues it.
func (e *extras) joinList(list []any, v jsontree.Value) []any {
	for next := range v.Elements() {
		if n := len(list); n > 0 && continues(list[n-1], next) {
			list[n-1] = e.join(list[n-1], next)
		} else {
			e.size += next.Count()
			list = append(list, partOf(next))
		}
	}
	return list
}

func continues(last any, next jsontree.Value) bool {
	object, _ := last.(map[string]any)
	if object == nil || next.Kind() != '{' {
		return false
	}
	var index, kind jsontree.Value
	for name, member := range next.Members() {
		switch string(name) {
		case "index":
			index = member
		case "type":
			kind = member
		}
	}
	return object["index"] != nil && label(object["index"]) == protocol.Word(index) && (protocol.Empty(kind) || label(object["type"]) == protocol.Word(kind))
}

// label returns the text of a part, or the part as it is written.
func label(part any) string {
	switch part := part.(type) {
	case *protocol.Text:
		return part.String()
	case json.RawMessage:
		return string(part)
	}
	return ""
}
