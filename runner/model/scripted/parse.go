package scripted

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/documents"
	"github.com/seed61713e19/capstan/runner/model"
)

// maxScript is the longest script that is read, in bytes: a tree of YAML takes
// some fifty times its text.
const maxScript = 16 << 20

// An Error is what is wrong with a script, and where. Lines and columns count
// from 1.
type Error struct {
	File         string
	Line, Column int
	Message      string
}

// Error gives file:line:column: message.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Parse reads a script, which is YAML or JSON. The name is for messages; open gets the text of a
// reply_file, whose name stands relative to the script, and may be nil where
// there is none. Everything that is wrong is reported: each part of the error
// is an [*Error]. A text longer than 16 MiB is not read.
func Parse(name string, text []byte, open func(name string) ([]byte, error)) (*Script, error) {
	p := &parser{name: name, open: open}
	s := &Script{name: name, entries: p.script(text)}
	if len(p.wrong) > 0 {
		slices.SortStableFunc(p.wrong, func(a, b *Error) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		errs := make([]error, len(p.wrong))
		for i, e := range p.wrong {
			errs[i] = e
		}
		return nil, errors.Join(errs...)
	}
	return s, nil
}

// maxReplies is the most that the files of all replies of a script may hold, in bytes.
const maxReplies = 64 << 20

type parser struct {
	name    string
	open    func(string) ([]byte, error)
	replies int // bytes read from files so far
	wrong   []*Error
}

func (p *parser) errorf(n *yaml.Node, format string, args ...any) {
	p.wrong = append(p.wrong, &Error{p.name, max(n.Line, 1), max(n.Column, 1), fmt.Sprintf(format, args...)})
}

func (p *parser) script(text []byte) []*entry {
	doc := p.document(text)
	if doc == nil {
		return nil
	}
	list := doc.Content[0]
	if list.Kind != yaml.SequenceNode {
		p.errorf(list, "a script is a list of entries, not %s", kind(list))
		return nil
	}
	var entries []*entry
	for _, n := range list.Content {
		entries = append(entries, p.entry(n))
	}
	return entries
}

// document is the one document of text; nil if there is none, or none that
// can be read.
func (p *parser) document(text []byte) *yaml.Node {
	if len(text) > maxScript {
		p.errorf(&yaml.Node{}, "a script is at most %d bytes long, not %d", maxScript, len(text))
		return nil
	}
	doc, wrong := documents.Read(p.name, documents.Unmarked(text))
	switch {
	case wrong != nil && wrong.Message == documents.Empty:
		return nil
	case wrong != nil:
		p.errorf(&yaml.Node{Line: wrong.Line, Column: wrong.Column}, "%s", wrong.Message)
		return nil
	case null(doc.Content[0]):
		return nil
	}
	return doc
}

// A field is a key of a mapping, and what takes its value.
type field struct {
	key  string
	take func(v *yaml.Node, key string)
}

// fields has every key of a mapping taken, once each, reports keys that are none of
// the known, and gives those that stand there; nil of what is no mapping.
func (p *parser) fields(n *yaml.Node, what string, known ...field) map[string]bool {
	if n = target(n); n.Kind != yaml.MappingNode {
		p.errorf(n, "%s is a mapping, not %s", what, kind(n))
		return nil
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := slices.IndexFunc(known, func(f field) bool { return f.key == key.Value })
		switch {
		case at < 0:
			var keys []string
			for _, f := range known {
				keys = append(keys, f.key)
			}
			p.errorf(key, "unknown key %q of %s; the keys are %s", model.Cut(key.Value, 80), what, strings.Join(keys, ", "))
		case seen[key.Value]:
			p.errorf(key, "key %q of %s stands twice", key.Value, what)
		default:
			seen[key.Value] = true
			known[at].take(target(n.Content[i+1]), key.Value)
		}
	}
	return seen
}

// target is what an alias stands for, and any other node itself.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func null(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func kind(n *yaml.Node) string {
	switch target(n).Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if null(target(n)) {
		return "nothing"
	}
	return fmt.Sprintf("%q", model.Cut(target(n).Value, 80))
}
