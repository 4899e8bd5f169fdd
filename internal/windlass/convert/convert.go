// Package convert rewrites cascades of Windlass and LARS as cascades of Capstan.
//
// It applies the table of package windlass to the tree of the file. Functions convert the keys
// that need more than a new name. The package then reads the result as a cascade and declares a
// program for each unknown tool and validator. Comments mark each part without an equivalent, and
// each remaining mistake. A cascade of Capstan remains unchanged, byte for byte.
package convert

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/windlass"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A Reader parses a cascade and returns its diagnostics.
type Reader func(name string, source []byte) syntax.Diagnostics

// A Note is a difference, at a line of the input.
type Note struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// A Result is a converted file.
type Result struct {
	Text    []byte             // YAML; the input if nothing changed
	Changed bool               // reports whether Text differs
	Notes   []Note             // in the order of the input
	Left    syntax.Diagnostics // of Text; the mistakes are comments in it, if it changed
}

// File converts a cascade. Its error is [syntax.Diagnostics] if the file is not a cascade.
func File(name string, source []byte, read Reader) (Result, error) {
	doc, err := cascades.Document(name, source)
	if err != nil {
		return Result{}, err
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return Result{}, syntax.Diagnostics{{Position: syntax.Position{File: name, Line: max(root.Line, 1), Column: max(root.Column, 1)},
			Code: codes.Type, Message: "a cascade is a mapping", Severity: syntax.Wrong}}
	}
	w := &writer{name: name, seen: map[*yaml.Node]bool{}, lines: map[string]int{}}
	if isJSON(source) {
		unquote(root)
	}
	w.cascade(&mapping{w: w, node: root})
	for _, round := range []func(*yaml.Node, syntax.Diagnostics){w.declare, w.remark} {
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

// A writer converts one file.
type writer struct {
	name     string
	seen     map[*yaml.Node]bool // rewritten; aliases lead to a node again
	notes    []Note
	ignored  []string
	lines    map[string]int // of the names of tools and validators
	changed  bool
	phases   []string // their names
	memories []string // the names of memories, which phases have as tools
}

// remember stores the line of a name, for the note at its declaration.
func (w *writer) remember(name string, line int) {
	if w.lines[name] == 0 {
		w.lines[name] = line
	}
}

// left parses the tree as it is now. It also replaces the nodes, so that their positions match
// the diagnostics.
func (w *writer) left(name string, source []byte, doc *yaml.Node, read Reader) (syntax.Diagnostics, error) {
	if !w.changed {
		return read(name, source), nil
	}
	text, err := encode(doc)
	if err != nil {
		return nil, fmt.Errorf("cascade %s: %w", name, err)
	}
	again, err := cascades.Document(Name(name), text)
	if err != nil {
		return nil, fmt.Errorf("cascade %s: the converted text is not YAML: %w", name, err)
	}
	*doc = *again
	return read(Name(name), text), nil
}

// Name returns the name of the converted file: FILE.yaml for FILE.json.
func Name(name string) string {
	if stem, ok := strings.CutSuffix(name, ".json"); ok {
		return stem + ".yaml"
	}
	return name
}

// encode returns a tree as text. The YAML library panics on some trees.
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

// plainMerges removes the tag of <<, which the YAML library would write.
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

// unquote removes the style of JSON from a tree: flow mappings, and quotes that YAML does not need.
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

// declare declares a program for each unknown tool and validator. The user writes it.
func (w *writer) declare(doc *yaml.Node, left syntax.Diagnostics) {
	root := &mapping{w: w, node: doc.Content[0]}
	for _, d := range w.own(left) {
		n := nodeAt(doc, d.Line, d.Column)
		if d.Suggestion != "" || n == nil || n.Kind != yaml.ScalarNode || n.Value == "" || windlass.Stem(n.Value) != n.Value {
			continue
		}
		switch name := n.Value; {
		case d.Code == codes.Tool && name == tool.SQLQuery:
			w.program(root, "tools", name, name+" is built in: remove this declaration, and write databases: {shop: {url: …}}")
		case d.Code == codes.Tool:
			purpose := "the phase calls"
			if w, _ := windlass.Find("tool", name); w.Effect == windlass.Replaced {
				purpose = w.Advice
			}
			w.program(root, "tools", name, fmt.Sprintf("%s: write a program that %s, or name a tool of an MCP server (mcp: {command: […]})", name, purpose))
		case d.Code == codes.Validator:
			w.program(root, "validators", name,
				name+": write a program that reads {content, input, …} and prints {valid, reason}, or ask a model with {judge: …}")
		}
	}
}

// program declares a program under a key of the file.
func (w *writer) program(root *mapping, key, name, todo string) {
	if n := root.get(key); n == nil || n.Kind != yaml.MappingNode {
		if root.has(key) {
			root.remove(key)
		}
		root.node.Style &^= yaml.FlowStyle
		i := max(root.at("phases"), 0)
		root.node.Content = slices.Insert(root.node.Content, i, scalar(key), pairs())
	}
	all := &mapping{w: w, node: root.get(key), outer: root, inside: key}
	if all.has(name) {
		return
	}
	all.set(name, pairs("exec", sequence("./"+name), "description", "The program "+name+", which is not written yet."))
	declared := &mapping{w: w, node: all.get(name), outer: all}
	declared.note(&yaml.Node{Line: w.lines[name]}, todo)
}

// own returns the diagnostics of the file itself.
func (w *writer) own(left syntax.Diagnostics) syntax.Diagnostics {
	return slices.DeleteFunc(slices.Clone(left), func(d syntax.Diagnostic) bool { return d.File != w.name && d.File != Name(w.name) })
}

// remark writes a comment at each remaining mistake.
func (w *writer) remark(doc *yaml.Node, left syntax.Diagnostics) {
	if !w.changed {
		return
	}
	for _, d := range w.own(left) {
		if d.Severity == syntax.Wrong {
			key := cmp.Or(keyBefore(doc.Content[0], d.Line), doc)
			key.HeadComment = join(key.HeadComment, oneLine("# lint: "+d.Text()+" ["+d.Code+"]"))
		}
	}
}

// nodeAt returns the innermost node that begins at a position.
func nodeAt(n *yaml.Node, line, column int) *yaml.Node {
	for _, e := range n.Content {
		if found := nodeAt(e, line, column); found != nil {
			return found
		}
	}
	if n.Line == line && n.Column == column {
		return n
	}
	return nil
}

// keyBefore returns the last key of a block mapping at a line or above it.
func keyBefore(n *yaml.Node, line int) (found *yaml.Node) {
	for i, e := range n.Content {
		if n.Style&yaml.FlowStyle != 0 || e.Line > line {
			break
		}
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			found = e
		}
		found = cmp.Or(keyBefore(e, line), found)
	}
	return found
}
