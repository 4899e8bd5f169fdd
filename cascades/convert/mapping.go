package convert

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/windlass"
)

// A mapping is one of a file, being rewritten, with the one it stands in.
type mapping struct {
	w      *writer
	node   *yaml.Node
	outer  *mapping
	inside string // the key of outer that it stands under, or in the list of
}

// follow gives what an alias names.
func follow(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// at is the index of a key, or -1.
func (m *mapping) at(key string) int {
	for i := 0; i+1 < len(m.node.Content); i += 2 {
		if m.node.Content[i].Kind == yaml.ScalarNode && m.node.Content[i].Value == key {
			return i
		}
	}
	return -1
}

func (m *mapping) has(key string) bool { return m.at(key) >= 0 }

// get gives the value of a key, aliases followed, or nil.
func (m *mapping) get(key string) *yaml.Node {
	if i := m.at(key); i >= 0 {
		return follow(m.node.Content[i+1])
	}
	return nil
}

// text is the value of a key where it is a scalar; "" of any other.
func (m *mapping) text(key string) string {
	if n := m.get(key); n != nil && n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return n.Value
	}
	return ""
}

// list gives the elements under a key, aliases followed.
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

// child is the mapping under a key; nil where there is none, or where it was
// rewritten already.
func (m *mapping) child(key string) *mapping { return m.of(key, m.get(key)) }

// children are the mappings in the list under a key.
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

// remove takes a key out; its comments stay, at the key that follows.
func (m *mapping) remove(key string) {
	m.w.changed = true
	i := m.at(key)
	kept := m.node.Content[i].HeadComment
	m.node.Content = slices.Delete(m.node.Content, i, i+2)
	if kept != "" && i < len(m.node.Content) {
		m.node.Content[i].HeadComment = strings.Trim(kept+"\n"+m.node.Content[i].HeadComment, "\n")
	}
}

// set puts a value under a key, in the place of what is there, or at the end.
func (m *mapping) set(key string, value *yaml.Node) {
	m.w.changed = true
	if i := m.at(key); i >= 0 {
		m.node.Content[i+1] = value
		return
	}
	m.node.Content = append(m.node.Content, scalar(key), value)
}

// note keeps that something is otherwise than it was at a node: a comment in front
// of the mapping's first key in a block, or of the one that it stands under.
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

// join puts a line behind a comment that does not have it.
func join(comment, line string) string {
	if slices.Contains(strings.Split(comment, "\n"), line) {
		return comment
	}
	return strings.TrimLeft(comment+"\n"+line, "\n")
}

// maxComment bounds a line of a comment, in bytes.
const maxComment = 600

// oneLine makes a text fit into a comment, whatever it quotes.
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

// drop takes a key out and says what takes its place.
func (m *mapping) drop(key, instead string) {
	n := m.node.Content[m.at(key)]
	was := brief(m.get(key))
	m.remove(key)
	m.note(n, key+was+" is left out: "+instead)
}

// brief is a value in a few words, behind its key.
func brief(n *yaml.Node) string {
	switch {
	case n == nil || n.Kind != yaml.ScalarNode && len(n.Content) == 0:
		return ""
	case n.Kind == yaml.ScalarNode && len(n.Value) <= 60 && !strings.Contains(n.Value, "\n"):
		return " (" + n.Value + ")"
	case n.Kind == yaml.ScalarNode:
		return " (" + strconv.Itoa(len([]rune(n.Value))) + " characters)"
	}
	var words []string
	for i, e := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			continue
		}
		if e.Kind == yaml.ScalarNode && len(e.Value) < 40 && len(words) < 6 && !strings.Contains(e.Value, "\n") {
			words = append(words, e.Value)
		}
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// words does with the keys of a mapping of a kind what the table says of them; own
// are those that a function of their own has seen to.
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
			m.remove(key.Value) // nothing there is what is not there
		case !known || key.Kind != yaml.ScalarNode:
			i += 2
		case w.Fate == windlass.Ignored:
			m.remove(key.Value)
			if !slices.Contains(m.w.ignored, key.Value) {
				m.w.ignored = append(m.w.ignored, key.Value)
			}
		case w.Fate == windlass.Renamed:
			m.drop(key.Value, "there is "+w.Here+" already")
		default:
			m.drop(key.Value, strings.TrimSuffix(w.Instead, "; capstan convert FILE writes it so"))
		}
	}
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

// pairs is a mapping of keys and values in turn.
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
