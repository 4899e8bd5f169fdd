package edit

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// fields are the values of a mapping by key. A nil one has none.
type fields struct {
	*reader
	what  string
	node  *yaml.Node
	order []string
	value map[string]*yaml.Node
}

// mapping reads a mapping; nil, and a problem, where there is none.
func (r *reader) mapping(n *yaml.Node, what string) *fields {
	if n.Kind != yaml.MappingNode {
		r.at(n, "%s must be a mapping, not %s", what, kind(n))
		return nil
	}
	f := &fields{reader: r, what: what, node: n, value: map[string]*yaml.Node{}}
	for i := 0; i+1 < len(n.Content); i += 2 {
		f.order = append(f.order, n.Content[i].Value)
		f.value[n.Content[i].Value] = n.Content[i+1]
	}
	return f
}

// top reads the mapping that a file is. It may stand under one key that names
// what it is.
func (r *reader) top(root *yaml.Node, what string, names ...string) *fields {
	f := r.mapping(root, what)
	if f != nil && len(f.order) == 1 && slices.Contains(names, f.order[0]) && f.value[f.order[0]].Kind == yaml.MappingNode {
		return r.mapping(f.value[f.order[0]], what)
	}
	return f
}

// get gives a value that is there and not null.
func (f *fields) get(name string) *yaml.Node {
	if f == nil || f.value[name] == nil || null(f.value[name]) {
		return nil
	}
	return f.value[name]
}

// first gives the value of the first of several names that is there.
func (f *fields) first(names ...string) *yaml.Node {
	for _, name := range names {
		if n := f.get(name); n != nil {
			return n
		}
	}
	return nil
}

// child reads a mapping within; nil where there is none.
func (f *fields) child(names ...string) *fields {
	n := f.first(names...)
	if n == nil {
		return nil
	}
	return f.mapping(n, names[0])
}

// text reads a scalar as it is written; "" where there is none.
func (f *fields) text(name string) string {
	n := f.get(name)
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		f.at(n, "%s must be a text, not %s", name, kind(n))
		return ""
	}
	return n.Value
}

// required is text for what must be there.
func (f *fields) required(name string) string {
	if f == nil {
		return ""
	}
	s := f.text(name)
	if n := f.get(name); strings.TrimSpace(s) == "" && (n == nil || n.Kind == yaml.ScalarNode) {
		f.at(f.node, "%s has no %s", f.what, name)
	}
	return s
}

// flag reads true or false; nil where there is none.
func (f *fields) flag(name string) *bool {
	n := f.get(name)
	if n == nil {
		return nil
	}
	var b bool
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(&b) != nil {
		f.at(n, "%s must be true or false, not %s", name, kind(n))
		return nil
	}
	return &b
}

// list gives the elements of a list; one value that is no list is a list of
// it.
func (f *fields) list(name string) []*yaml.Node {
	n := f.get(name)
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.SequenceNode:
		return n.Content
	case n.Kind == yaml.ScalarNode:
		return []*yaml.Node{n}
	}
	f.at(n, "%s must be a list, not %s", name, kind(n))
	return nil
}

// texts reads a list of texts.
func (f *fields) texts(name string) []string {
	var out []string
	for _, n := range f.list(name) {
		if n.Kind != yaml.ScalarNode {
			f.at(n, "%s must be a list of texts", name)
			continue
		}
		out = append(out, n.Value)
	}
	return out
}

// word reads one of the allowed words.
func word[T ~string](r *reader, n *yaml.Node, what string, allowed ...T) T {
	if n.Kind == yaml.ScalarNode && slices.Contains(allowed, T(n.Value)) {
		return T(n.Value)
	}
	r.at(n, "%s must be one of %s, not %s", what, strings.Join(words(allowed...), ", "), kind(n))
	return ""
}

func null(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// kind says what a node is.
func kind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case null(n):
		return "nothing"
	}
	return fmt.Sprintf("%q", brief(n.Value))
}

// A label is an element of a list with the key that a report uses for it.
type label struct{ key, text string }

// labelled reads a list whose elements may bring their own keys: a mapping of
// key to text, elements with an id, or elements of one key. The others are
// numbered behind a prefix, from 1.
func (f *fields) labelled(name, prefix string) []label {
	n := f.get(name)
	var out []label
	if n != nil && n.Kind == yaml.MappingNode {
		own := f.mapping(n, name)
		for _, key := range own.order {
			out = append(out, label{key, own.text(key)})
		}
		return out
	}
	seen := map[string]bool{}
	for i, e := range f.list(name) {
		l := f.label(e, name)
		if l.key == "" {
			l.key = fmt.Sprintf("%s%d", prefix, i+1)
		}
		if seen[l.key] {
			f.at(e, "%s has %q twice", name, brief(l.key))
		}
		seen[l.key] = true
		out = append(out, l)
	}
	return out
}

func (f *fields) label(n *yaml.Node, name string) label {
	if n.Kind == yaml.ScalarNode {
		return label{text: n.Value}
	}
	own := f.mapping(n, "an element of "+name)
	switch {
	case own == nil:
		return label{}
	case own.get("id") != nil:
		var rest []string
		for _, key := range own.order {
			if key != "id" {
				rest = append(rest, own.text(key))
			}
		}
		return label{own.text("id"), strings.Join(rest, "; ")}
	case len(own.order) == 1:
		return label{own.order[0], own.text(own.order[0])}
	}
	f.at(n, "an element of %s must be a text, or have an id", name)
	return label{}
}
