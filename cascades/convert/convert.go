// Package convert writes cascades of Windlass and LARS in Capstan's words.
//
// A file comes in as a tree of YAML, comments and all. It is rewritten in three
// steps: the words that the table of package windlass knows are replaced or taken
// out; what needs more than another word (models, questions, screens, routes,
// code that judges) has a function each; then the file is read as a cascade, and
// what it still names and nobody has is declared as a program that is yet to be
// written. At every thing that could not come along, and at every mistake that is
// left, a comment says what takes its place.
//
// A file that is in our words already comes out as it went in, byte for byte.
package convert

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades"
)

// A Reader reads a text as the cascade of a name, and gives all that is wrong
// with it; none for nothing.
type Reader func(name string, source []byte) cascades.Diagnostics

// A Note is one thing that is otherwise than it was, at a line of the file that
// came in.
type Note struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// A Result is a file in our words.
type Result struct {
	Text    []byte               // YAML; the file itself where nothing changed
	Changed bool                 // whether anything did
	Notes   []Note               // what could not come along as it was, in the order of the file
	Left    cascades.Diagnostics // what is wrong with Text, warnings too; the mistakes among it are comments in it, where it changed
}

// File rewrites a cascade. An error is [cascades.Diagnostics]: the file is no
// cascade in any words.
func File(name string, source []byte, read Reader) (Result, error) {
	doc, err := cascades.Document(name, source)
	if err != nil {
		return Result{}, err
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return Result{}, cascades.Diagnostics{{Position: cascades.Position{File: name, Line: max(root.Line, 1), Column: max(root.Column, 1)},
			Code: cascades.CodeType, Message: "a cascade is a mapping", Severity: cascades.Wrong}}
	}
	w := &writer{name: name, seen: map[*yaml.Node]bool{}, lines: map[string]int{}}
	if isJSON(source) {
		unquote(root)
	}
	w.cascade(&mapping{w: w, node: root})
	for _, round := range []func(*yaml.Node, cascades.Diagnostics){w.declare, w.refer, w.remark} {
		left, err := w.left(name, source, doc, read)
		if err != nil {
			return Result{}, err
		}
		round(doc, left)
	}
	if !w.changed {
		return Result{Text: source, Left: read(name, source)}, nil
	}
	text, err := encode(doc)
	if err != nil {
		return Result{}, fmt.Errorf("cascade %s: %w", name, err)
	}
	slices.SortStableFunc(w.notes, func(a, b Note) int { return a.Line - b.Line })
	return Result{Text: text, Changed: true, Notes: w.notes, Left: read(Name(name), text)}, nil
}

// A writer rewrites one file.
type writer struct {
	name     string
	seen     map[*yaml.Node]bool // what was rewritten: an alias leads to it again
	notes    []Note
	ignored  []string
	lines    map[string]int // where a tool was named
	changed  bool
	lars     bool     // whether it has cells, and so what LARS puts into the state
	phases   []string // their names
	memories []string // names of memory banks, which their phases have as tools
}

// left reads what the tree is by now. Its diagnostics have the places of that
// text, and so have the nodes afterwards.
func (w *writer) left(name string, source []byte, doc *yaml.Node, read Reader) (cascades.Diagnostics, error) {
	if !w.changed {
		return read(name, source), nil
	}
	text, err := encode(doc)
	if err != nil {
		return nil, fmt.Errorf("cascade %s: %w", name, err)
	}
	again, err := cascades.Document(Name(name), text)
	if err != nil {
		return nil, fmt.Errorf("cascade %s: what was written of it is not YAML: %w", name, err)
	}
	*doc = *again
	return read(Name(name), text), nil
}

// Name is what a file is called that is written of one of a name: YAML, which has
// comments, where that is JSON.
func Name(name string) string {
	if stem, ok := strings.CutSuffix(name, ".json"); ok {
		return stem + ".yaml"
	}
	return name
}

// encode writes a tree; the YAML library panics on some that are not from it.
func encode(doc *yaml.Node) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	plainMerges(doc)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(doc); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// plainMerges leaves out the tag of <<, which the YAML library would write in front
// of it as nobody does.
func plainMerges(n *yaml.Node) {
	if n.Tag == "!!merge" {
		n.Tag = ""
	}
	for _, e := range n.Content {
		plainMerges(e)
	}
}

func isJSON(source []byte) bool {
	return strings.HasPrefix(strings.TrimLeft(string(source[:min(len(source), 4096)]), "\ufeff \t\r\n"), "{")
}

// unquote gives a tree that was JSON the shape in which people write YAML: blocks,
// and texts without quotes where they need none.
func unquote(n *yaml.Node) {
	short := n.Kind == yaml.SequenceNode && len(n.Content) < 8
	for _, e := range n.Content {
		unquote(e)
		short = short && e.Kind == yaml.ScalarNode && len(e.Value) < 40
	}
	n.Style = 0
	switch {
	case short, n.Kind != yaml.ScalarNode && len(n.Content) == 0:
		n.Style = yaml.FlowStyle
	case n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "\n"):
		n.Style = yaml.LiteralStyle
	}
}
