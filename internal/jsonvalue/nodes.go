package jsonvalue

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// A Node is a value in a JSON text, with its place.
type Node struct {
	Key     string // of a member of an object
	Kind    byte   // {, [, ", 0, t, f or n
	Text    string // of a string or a number
	Parent  int    // the index of the node around it, -1 for the first
	End     int    // the index after the last node inside it
	Pointer jsontext.Pointer
	Offset  int // of the key, or of the value if it has no key, at its last byte
}

// Nodes returns the values of a JSON text in order, up to its first error. Keys may
// appear twice.
func Nodes(text string) []Node {
	var list []Node
	dec := jsontext.NewDecoder(bytes.NewBufferString(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	parent, key, keyAt := -1, "", -1
	for {
		token, err := dec.ReadToken()
		if err != nil {
			for ; parent >= 0; parent = list[parent].Parent {
				list[parent].End = len(list)
			}
			return list
		}
		kind, end := byte(token.Kind()), int(dec.InputOffset())
		switch {
		case kind == '}' || kind == ']':
			list[parent].End = len(list)
			parent = list[parent].Parent
			continue
		case kind == '"' && parent >= 0 && list[parent].Kind == '{' && keyAt < 0:
			key, keyAt = token.String(), end-1
			continue
		}
		n := Node{Key: key, Kind: kind, Parent: parent, End: len(list) + 1, Pointer: dec.StackPointer(), Offset: max(keyAt, end-1)}
		if keyAt >= 0 {
			n.Offset = keyAt
		}
		if kind == '"' || kind == '0' {
			n.Text = token.String()
		}
		list = append(list, n)
		if kind == '{' || kind == '[' {
			parent = len(list) - 1
		}
		key, keyAt = "", -1
	}
}
