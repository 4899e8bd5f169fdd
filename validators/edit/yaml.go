package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/schema"
)

const (
	maxYAML     = 1 << 20 // bytes; a parsed tree takes several hundred times its text
	maxProblems = 50      // of one file
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// A reader collects the problems of one file.
type reader struct {
	file  string
	wrong []Problem
}

// at adds a problem at a node; nil stands for the whole file.
func (r *reader) at(n *yaml.Node, format string, args ...any) {
	if len(r.wrong) == maxProblems {
		return
	}
	p := Problem{File: r.file, Message: clean(fmt.Sprintf(format, args...))}
	if n != nil {
		p.Line, p.Column = n.Line, n.Column
	}
	r.wrong = append(r.wrong, p)
}

// node parses a file as YAML. JSON may use escapes that YAML does not know.
func (r *reader) node(c content) *yaml.Node {
	if c.err != nil {
		r.at(nil, "%v", c.err)
		return nil
	}
	v, before := c.value, len(r.wrong)
	if v == nil {
		text := bytes.TrimSpace(c.text)
		if root := r.document(c.text); root != nil || !bytes.HasPrefix(text, []byte("{")) || len(text) > maxYAML {
			return root
		}
		var err error
		if v, err = schema.Parse(text); err != nil {
			return nil
		}
		r.wrong = r.wrong[:before]
	}
	v, err := schema.Plain(v)
	if err != nil {
		r.at(nil, "%v", err)
		return nil
	}
	text, _ := json.Marshal(v) // a plain value always has a text
	return r.document(bytes.Map(printable, text))
}

// printable drops the characters that YAML does not allow.
func printable(c rune) rune {
	if unicode.IsControl(c) || c == 0xFEFF || c&0xFFFE == 0xFFFE {
		return -1
	}
	return c
}

// document parses one YAML document in UTF-8, without a duplicate key at any depth.
// It returns nil after a problem.
func (r *reader) document(text []byte) *yaml.Node {
	text = bytes.TrimPrefix(text, byteOrderMark)
	switch {
	case len(text) > maxYAML:
		r.at(nil, "%d bytes are too many; the maximum is %d", len(text), maxYAML)
		return nil
	case !utf8.Valid(text):
		r.at(nil, "not UTF-8 text")
		return nil
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var root, second yaml.Node
	err := guarded(func() error { return d.Decode(&root) })
	if errors.Is(err, io.EOF) || err == nil && len(root.Content) == 0 {
		r.at(nil, "the file is empty")
		return nil
	}
	var end error
	if err == nil {
		end = guarded(func() error { return d.Decode(&second) })
	}
	before := len(r.wrong)
	switch {
	case err != nil:
		r.failed(err, "not YAML: ")
	case end == nil && len(second.Content) > 0:
		r.at(&second, "a second document begins here; remove it")
	case end != nil && !errors.Is(end, io.EOF):
		r.failed(end, "not YAML: ")
	default:
		r.strict(root.Content[0])
	}
	if len(r.wrong) > before {
		return nil
	}
	return root.Content[0]
}

// strict adds a problem for each duplicate key and each alias.
func (r *reader) strict(n *yaml.Node) {
	seen := map[string]int{}
	for i, c := range n.Content {
		line, duplicate := seen[c.Value]
		switch {
		case c.Kind == yaml.AliasNode:
			r.at(c, "an alias, *%s: write the value out", c.Value)
		case n.Kind == yaml.MappingNode && i%2 == 0 && duplicate:
			r.at(c, "key %q stands at line %d already", brief(c.Value), line)
		case n.Kind == yaml.MappingNode && i%2 == 0:
			seen[c.Value] = c.Line
		}
		r.strict(c)
	}
}

// guarded turns a panic of the YAML library into an error.
func guarded(decode func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	return decode()
}

// decode fills v from a node and adds a problem for each value of a wrong type.
func (r *reader) decode(n *yaml.Node, v any) {
	var types *yaml.TypeError
	switch err := guarded(func() error { return n.Decode(v) }); {
	case errors.As(err, &types):
		for _, message := range types.Errors {
			r.failed(errors.New(message), "")
		}
	case err != nil:
		r.failed(err, "")
	}
}

var placed = patterns.Lazy(`^(?:yaml: )?(?:line (\d+)(?::(\d+))?: )?`)

// failed adds an error of the YAML library at the place that it names.
func (r *reader) failed(err error, prefix string) {
	at := &yaml.Node{Line: 1, Column: 1}
	m := placed().FindStringSubmatch(err.Error())
	fmt.Sscan(m[1], &at.Line)
	fmt.Sscan(m[2], &at.Column)
	r.at(at, "%s%s", prefix, err.Error()[len(m[0]):])
}

// wrong is a problem at a node, for a method that decodes a value.
func wrong(n *yaml.Node, format string, args ...any) error {
	return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d:%d: ", n.Line, n.Column) + fmt.Sprintf(format, args...)}}
}

// top returns the mapping of a file. A single key may name what the file is.
func (r *reader) top(n *yaml.Node, what string, names ...string) *yaml.Node {
	if n.Kind == yaml.MappingNode && len(n.Content) == 2 && slices.Contains(names, n.Content[0].Value) && n.Content[1].Kind == yaml.MappingNode {
		return n.Content[1]
	}
	if n.Kind != yaml.MappingNode {
		r.at(n, "%s must be a mapping, not %s", what, kind(n))
	}
	return n
}

// keyed returns the values of a mapping by key; nothing for another node.
func keyed(n *yaml.Node) map[string]*yaml.Node {
	m := map[string]*yaml.Node{}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		m[n.Content[i].Value] = n.Content[i+1]
	}
	return m
}

// require adds a problem if a text is missing.
func (r *reader) require(n *yaml.Node, what, name, value string) {
	if strings.TrimSpace(value) == "" {
		r.at(n, "%s has no %s", what, name)
	}
}

// word returns one of the allowed words, or "" for a missing one.
func word[T ~string](r *reader, n *yaml.Node, what string, allowed ...T) T {
	switch {
	case n.Kind == 0 || null(n):
		return ""
	case n.Kind == yaml.ScalarNode && slices.Contains(allowed, T(n.Value)):
		return T(n.Value)
	}
	r.at(n, "%s must be one of %s, not %s", what, strings.Join(words(allowed...), ", "), kind(n))
	return ""
}

func null(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// kind names what a node is.
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
