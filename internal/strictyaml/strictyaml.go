// Package strictyaml reads one YAML document from an untrusted file: UTF-8, of
// limited length, without duplicate keys and aliases. A [Reader] collects all
// problems of a file, with their places. [Differences] compares two values.
package strictyaml

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

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/schema"
)

const (
	// MaxYAML is the longest text, in bytes. A parsed tree takes several hundred times as much.
	MaxYAML     = 1 << 20
	maxProblems = 50 // of one file
)

// ByteOrderMark may begin a text.
var ByteOrderMark = []byte("\xef\xbb\xbf")

// A Reader collects the problems of one file.
type Reader struct {
	File     string
	Problems []Problem
}

// A Problem is an error in a file. Line and Column count from 1. A problem
// without a place has Line 0 and Column 0.
type Problem struct {
	File         string
	Line, Column int
	Message      string
}

// String returns file:line:column: message.
func (p Problem) String() string { return p.Place() + ": " + p.Message }

// Place returns file:line:column, or the file.
func (p Problem) Place() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// At adds a problem at a node; nil stands for the whole file.
func (r *Reader) At(n *yaml.Node, format string, args ...any) {
	if len(r.Problems) == maxProblems {
		return
	}
	p := Problem{File: r.File, Message: line(fmt.Sprintf(format, args...))}
	if n != nil {
		p.Line, p.Column = n.Line, n.Column
	}
	r.Problems = append(r.Problems, p)
}

// Node parses a text as YAML, or makes a tree of a plain value that is not nil. JSON may
// use escapes that YAML does not know.
func (r *Reader) Node(text []byte, v any) *yaml.Node {
	if before := len(r.Problems); v == nil {
		root := r.Document(text)
		if text = bytes.TrimSpace(text); root != nil || !bytes.HasPrefix(text, []byte("{")) || len(text) > MaxYAML {
			return root
		}
		var err error
		if v, err = schema.Parse(text); err != nil {
			return nil
		}
		r.Problems = r.Problems[:before]
	}
	v, err := schema.Plain(v)
	if err != nil {
		r.At(nil, "%v", err)
		return nil
	}
	text, _ = json.Marshal(v) // a plain value always has a text
	return r.Document(bytes.Map(printable, text))
}

// printable drops the characters that YAML does not allow.
func printable(c rune) rune {
	if unicode.IsControl(c) || c == 0xFEFF || c&0xFFFE == 0xFFFE {
		return -1
	}
	return c
}

// Document parses one YAML document in UTF-8, without a duplicate key at any depth.
// It returns nil after a problem.
func (r *Reader) Document(text []byte) *yaml.Node {
	text = bytes.TrimPrefix(text, ByteOrderMark)
	switch {
	case len(text) > MaxYAML:
		r.At(nil, "%d bytes are too many; the maximum is %d", len(text), MaxYAML)
		return nil
	case !utf8.Valid(text):
		r.At(nil, "not UTF-8 text")
		return nil
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var root, second yaml.Node
	err := guarded(func() error { return d.Decode(&root) })
	if errors.Is(err, io.EOF) || err == nil && len(root.Content) == 0 {
		r.At(nil, "the file is empty")
		return nil
	}
	var end error
	if err == nil {
		end = guarded(func() error { return d.Decode(&second) })
	}
	before := len(r.Problems)
	switch {
	case err != nil:
		r.failed(err, "not YAML: ")
	case end == nil && len(second.Content) > 0:
		r.At(&second, "a second document begins here; remove it")
	case end != nil && !errors.Is(end, io.EOF):
		r.failed(end, "not YAML: ")
	default:
		r.strict(root.Content[0])
	}
	if len(r.Problems) > before {
		return nil
	}
	return root.Content[0]
}

// strict adds a problem for each duplicate key and each alias.
func (r *Reader) strict(n *yaml.Node) {
	seen := map[string]int{}
	for i, c := range n.Content {
		line, duplicate := seen[c.Value]
		switch {
		case c.Kind == yaml.AliasNode:
			r.At(c, "an alias, *%s: write the value out", c.Value)
		case n.Kind == yaml.MappingNode && i%2 == 0 && duplicate:
			r.At(c, "key %q stands at line %d already", brief(c.Value), line)
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

// Decode fills v from a node and adds a problem for each value of a wrong type.
func (r *Reader) Decode(n *yaml.Node, v any) {
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
func (r *Reader) failed(err error, prefix string) {
	at := &yaml.Node{Line: 1, Column: 1}
	m := placed().FindStringSubmatch(err.Error())
	fmt.Sscan(m[1], &at.Line)
	fmt.Sscan(m[2], &at.Column)
	r.At(at, "%s%s", prefix, err.Error()[len(m[0]):])
}

// Wrong returns a problem at a node, for a method that decodes a value.
func Wrong(n *yaml.Node, format string, args ...any) error {
	return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d:%d: ", n.Line, n.Column) + fmt.Sprintf(format, args...)}}
}

// Top returns the mapping of a file. The file may have a single key, the kind
// of the file, around the mapping.
func (r *Reader) Top(n *yaml.Node, what string, names ...string) *yaml.Node {
	if n.Kind == yaml.MappingNode && len(n.Content) == 2 && slices.Contains(names, n.Content[0].Value) &&
		n.Content[1].Kind == yaml.MappingNode {
		return n.Content[1]
	}
	if n.Kind != yaml.MappingNode {
		r.At(n, "%s must be a mapping, not %s", what, Kind(n))
	}
	return n
}

// Keyed returns the values of a mapping by key, or an empty map for another
// node.
func Keyed(n *yaml.Node) map[string]*yaml.Node {
	m := map[string]*yaml.Node{}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		m[n.Content[i].Value] = n.Content[i+1]
	}
	return m
}

// Require adds a problem if a text is missing.
func (r *Reader) Require(n *yaml.Node, what, name, value string) {
	if strings.TrimSpace(value) == "" {
		r.At(n, "%s has no %s", what, name)
	}
}

// Word returns one of the allowed words, or "" for a missing one.
func Word[T ~string](r *Reader, n *yaml.Node, what string, allowed ...T) T {
	switch {
	case n.Kind == 0 || Null(n):
		return ""
	case n.Kind == yaml.ScalarNode && slices.Contains(allowed, T(n.Value)):
		return T(n.Value)
	}
	r.At(n, "%s must be one of %s, not %s", what, strings.Join(words(allowed), ", "), Kind(n))
	return ""
}

// Null reports whether a node is an explicit null.
func Null(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// Kind returns the kind of a node in words.
func Kind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case Null(n):
		return "nothing"
	}
	return fmt.Sprintf("%q", brief(n.Value))
}

// line returns one printable line of limited length, and brief a shorter one.
func line(s string) string  { return reports.Fit(s, 600) }
func brief(s string) string { return reports.Fit(s, 80) }

func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}
