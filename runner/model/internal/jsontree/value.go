package jsontree

import (
	"bytes"
	"iter"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A Value is a value in a parsed text. The zero Value is a missing value: it has
// no kind, no text, no members and no elements.
type Value struct {
	tree *tree
	at   int32
}

// Raw returns the value as it is written. The bytes are those of the text.
func (v Value) Raw() jsontext.Value {
	if v.tree == nil {
		return nil
	}
	n := v.tree.nodes[v.at]
	return v.tree.text[n.start:n.end:n.end]
}

// Kind returns the kind of the value, and 0 for a missing one.
func (v Value) Kind() jsontext.Kind {
	if v.tree == nil {
		return 0
	}
	return v.Raw().Kind()
}

// Members returns the names and values of an object in their order. A value that
// is no object has none. The bytes of a name must not be changed.
func (v Value) Members() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		if v.Kind() != jsontext.KindBeginObject {
			return
		}
		nodes := v.tree.nodes
		for at := v.at + 1; at < nodes[v.at].next; at = nodes[at+1].next {
			if !yield(v.tree.name(at), Value{v.tree, at + 1}) {
				return
			}
		}
	}
}

// name returns the name that node at is.
func (t *tree) name(at int32) []byte {
	quoted := t.text[t.nodes[at].start:t.nodes[at].end]
	if inner := quoted[1 : len(quoted)-1]; plain(inner) {
		return inner
	}
	name, _ := jsontext.AppendUnquote(nil, quoted) // invalid UTF-8 was accepted by Parse
	return name
}

// Elements returns the elements of an array. A value that is no array has none.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind() != jsontext.KindBeginArray {
			return
		}
		nodes := v.tree.nodes
		for at := v.at + 1; at < nodes[v.at].next; at = nodes[at].next {
			if !yield(Value{v.tree, at}) {
				return
			}
		}
	}
}

// Count returns the number of values that v consists of, itself included.
func (v Value) Count() int {
	if v.tree == nil {
		return 0
	}
	n := 1
	for _, member := range v.Members() {
		n += member.Count()
	}
	for element := range v.Elements() {
		n += element.Count()
	}
	return n
}

// Text returns the text of a string. ok is false for a value of another kind.
// Invalid UTF-8, if it was accepted, is replaced by U+FFFD.
func (v Value) Text() (text string, ok bool) {
	if v.Kind() != jsontext.KindString {
		return "", false
	}
	text, _ = Unquote(v.Raw())
	return text, true
}

// Unquote returns the text of a JSON string. The error is that of invalid UTF-8,
// which is replaced by U+FFFD.
func Unquote(quoted []byte) (string, error) {
	if inner := quoted[1 : len(quoted)-1]; plain(inner) {
		return string(inner), nil
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	return string(text), err
}

// plain reports whether the inside of a JSON string is its text.
func plain(inner []byte) bool {
	return bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner)
}
