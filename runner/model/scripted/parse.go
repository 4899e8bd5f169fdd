package scripted

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/clips"
)

// maxScript is the maximum size of a script in bytes. Its YAML tree needs about
// fifty times as
// much memory.
const maxScript = 16 << 20

// An Error is an error in a script. Lines and columns start at 1.
type Error struct {
	File         string
	Line, Column int
	Message      string
}

// Error returns file:line:column: message.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Parse parses a script in YAML or JSON. The name is for messages. The function
// open returns the text of a reply_file, whose name is relative to the script.
// It may be nil. The error joins one [*Error] per problem. Maximum: 16 MiB.
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

// maxReplies is the maximum size of all reply files of a script in bytes.
const maxReplies = 64 << 20

type parser struct {
	name    string
	open    func(string) ([]byte, error)
	replies int // the size of the files that were read
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

// document returns the only document of the text, or nil if there is none.
func (p *parser) document(text []byte) *yaml.Node {
	if len(text) > maxScript {
		p.errorf(&yaml.Node{}, "a script is at most %d bytes long, not %d", maxScript, len(text))
		return nil
	}
	root, mistake := syntax.New(p.name, text).Tree()
	switch {
	case mistake != nil && mistake.Message == syntax.Empty:
		return nil
	case mistake != nil:
		p.errorf(&yaml.Node{Line: mistake.Line, Column: mistake.Column}, "%s", mistake.Message)
		return nil
	case null(root.Content[0]):
		return nil
	}
	return root
}

// A field is a key of a mapping with the function for its value.
type field struct {
	key  string
	take func(v *yaml.Node, key string)
}

// fields calls the function for each key of a mapping and returns the keys. It
// reports unknown and
// duplicate keys. If the node is not a mapping, it returns nil.
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
			p.errorf(key, "unknown key %q of %s; the keys are %s", clips.Sized(key.Value, 80), what, strings.Join(keys, ", "))
		case seen[key.Value]:
			p.errorf(key, "key %q of %s stands twice", key.Value, what)
		default:
			seen[key.Value] = true
			known[at].take(target(n.Content[i+1]), key.Value)
		}
	}
	return seen
}

// target returns the node that an alias refers to, and other nodes unchanged.
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
	return fmt.Sprintf("%q", clips.Sized(target(n).Value, 80))
}
