package convert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/windlass"
)

// A mapping is a mapping of the file, with the mapping that contains it.
type mapping struct {
	w      *writer
	node   *yaml.Node
	outer  *mapping
	inside string // the key of outer whose value or list contains it
}

// follow returns the node that an alias names.
func follow(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// at returns the index of a key, or -1.
func (m *mapping) at(key string) int {
	for i := 0; i+1 < len(m.node.Content); i += 2 {
		if m.node.Content[i].Kind == yaml.ScalarNode && m.node.Content[i].Value == key {
			return i
		}
	}
	return -1
}

func (m *mapping) has(key string) bool { return m.at(key) >= 0 }

// get returns the value of a key without aliases, or nil.
func (m *mapping) get(key string) *yaml.Node {
	if i := m.at(key); i >= 0 {
		return follow(m.node.Content[i+1])
	}
	return nil
}

// text returns the value of a key if it is a scalar, or "".
func (m *mapping) text(key string) string {
	if n := m.get(key); n != nil && n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return n.Value
	}
	return ""
}

// list returns the elements under a key without aliases.
func (m *mapping) list(key string) []*yaml.Node {
	n := m.get(key)
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	out := make([]*yaml.Node, len(n.Content))
	for i, e := range n.Content {
		out[i] = follow(e)
	}
	return out
}

// child returns the mapping under a key, or nil if it is missing or rewritten already.
func (m *mapping) child(key string) *mapping { return m.of(key, m.get(key)) }

// children returns the mappings in the list under a key.
func (m *mapping) children(key string) []*mapping {
	var out []*mapping
	for _, n := range m.list(key) {
		if c := m.of(key, n); c != nil {
			out = append(out, c)
		}
	}
	return out
}

func (m *mapping) of(key string, n *yaml.Node) *mapping {
	if n == nil || n.Kind != yaml.MappingNode || m.w.seen[n] {
		return nil
	}
	m.w.seen[n] = true
	return &mapping{m.w, n, m, key}
}

func (m *mapping) rename(key, to string) {
	m.w.changed = true
	i := m.at(key)
	renamed := *m.node.Content[i] // the key may have an anchor that others name
	renamed.Value, renamed.Anchor, renamed.Style = to, "", 0
	m.node.Content[i] = &renamed
}

// remove removes a key. Its comments move to the next key.
func (m *mapping) remove(key string) {
	m.w.changed = true
	i := m.at(key)
	comment := m.node.Content[i].HeadComment
	m.node.Content = slices.Delete(m.node.Content, i, i+2)
	if comment != "" && i < len(m.node.Content) {
		m.node.Content[i].HeadComment = strings.Trim(comment+"\n"+m.node.Content[i].HeadComment, "\n")
	}
}

// set replaces the value of a key, or adds the key at the end.
func (m *mapping) set(key string, value *yaml.Node) {
	m.w.changed = true
	if i := m.at(key); i >= 0 {
		m.node.Content[i+1] = value
		return
	}
	m.node.Content = append(m.node.Content, scalar(key), value)
}

// note reports a difference at a node. A comment before the first key of the innermost
// block mapping has its text.
func (m *mapping) note(n *yaml.Node, text string) {
	text = strings.Join(strings.Fields(text), " ")
	m.w.changed = true
	m.w.notes = append(m.w.notes, Note{max(n.Line, 1), text})
	m.comment("convert: " + text)
}

func (m *mapping) comment(text string) {
	if m.outer != nil && (m.node.Style&yaml.FlowStyle != 0 || len(m.node.Content) == 0) {
		m.outer.comment(text)
		return
	}
	if len(m.node.Content) == 0 {
		return
	}
	m.node.Style &^= yaml.FlowStyle
	first := m.node.Content[0]
	first.HeadComment = join(first.HeadComment, oneLine("# "+text))
}

// join adds a line to a comment unless the comment contains it.
func join(comment, line string) string {
	if slices.Contains(strings.Split(comment, "\n"), line) {
		return comment
	}
	return strings.TrimLeft(comment+"\n"+line, "\n")
}

// maxComment is the maximum length of a line of a comment, in bytes.
const maxComment = 600

// oneLine returns a text as a line of a comment.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	if len(text) > maxComment {
		text = strings.ToValidUTF8(text[:maxComment], "") + " …"
	}
	return text
}

// drop removes a key, with a note about its replacement.
func (m *mapping) drop(key, advice string) {
	n := m.node.Content[m.at(key)]
	was := brief(m.get(key))
	m.remove(key)
	m.note(n, key+was+" is left out: "+advice)
}

// brief returns a short scalar in brackets.
func brief(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || len(n.Value) > 60 || strings.Contains(n.Value, "\n") {
		return ""
	}
	return " (" + n.Value + ")"
}

// dropAll removes several keys if the mapping has them.
func (m *mapping) dropAll(advice string, keys ...string) {
	for _, key := range keys {
		if m.has(key) {
			m.drop(key, advice)
		}
	}
}

// words applies the table to the keys of a kind of mapping.
func (m *mapping) words(kind string) {
	for _, key := range windlass.Synonyms(kind) {
		w, _ := windlass.Key(kind, key)
		if m.has(key) && !m.has(w.Here) {
			m.rename(key, w.Here)
		}
	}
	for i := 0; i+1 < len(m.node.Content); {
		key := m.node.Content[i]
		w, known := windlass.Key(kind, key.Value)
		switch {
		case key.Kind == yaml.ScalarNode && m.node.Content[i+1].Tag == "!!null":
			m.remove(key.Value)
		case !known || key.Kind != yaml.ScalarNode:
			i += 2
		case w.Effect == windlass.Ignored:
			m.remove(key.Value)
			if !slices.Contains(m.w.ignored, key.Value) {
				m.w.ignored = append(m.w.ignored, key.Value)
			}
		case w.Effect == windlass.Renamed:
			m.drop(key.Value, w.Here+" is there already")
		default:
			m.drop(key.Value, windlass.TrimConverter(w.Advice))
		}
	}
}

// value applies the table to the value of a key.
func (m *mapping) value(key string) {
	was := m.get(key)
	if w := windlass.Value(key, m.text(key)); w.Here != "" {
		m.set(key, scalar(w.Here))
		m.note(was, fmt.Sprintf("%s: %s is %s here", key, was.Value, w.Here))
	}
}

func number(n int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(n)}
}

func scalar(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if strings.Contains(text, "\n") {
		n.Style = yaml.LiteralStyle
	}
	return n
}

func sequence(words ...string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for _, w := range words {
		n.Content = append(n.Content, scalar(w))
	}
	return n
}

// pairs returns a mapping of alternate keys and values.
func pairs(list ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, one := range list {
		switch one := one.(type) {
		case string:
			n.Content = append(n.Content, scalar(one))
		case *yaml.Node:
			n.Content = append(n.Content, one)
		}
	}
	return n
}
