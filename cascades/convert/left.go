package convert

import (
	"cmp"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/windlass"
	"github.com/seed61713e19/capstan/runner/tool"
)

// declare makes a program, yet to be written, of every tool and every validator
// that nobody has.
func (w *writer) declare(doc *yaml.Node, left cascades.Diagnostics) {
	root := &mapping{w: w, node: doc.Content[0]}
	for _, d := range w.own(left) {
		n := nodeAt(doc, d.Line, d.Column, 0)
		if d.Suggestion != "" || n == nil || n.Kind != yaml.ScalarNode || n.Value == "" || windlass.Stem(n.Value) != n.Value {
			continue
		}
		switch name := n.Value; d.Code {
		case cascades.CodeTool:
			todo := cmp.Or(windlass.Host(name), name) + " is of your choosing: this program is yours to write, or an MCP server's tool to name (mcp: {command: […]})"
			if name == tool.SQLQuery {
				todo = name + " is built in, over databases that the file names: take this away and write them (databases: {shop: {url: …}})"
			}
			w.program(root, "tools", name, "The tool "+name+", which is yet to be written.", todo)
		case cascades.CodeValidator:
			w.program(root, "validators", name, "The validator "+name+", which is yet to be written.",
				name+" is yours to write: this program reads {content, input, …} and prints {valid, reason}, or {judge: …} asks a model")
		}
	}
}

// program declares one under a key of the file.
func (w *writer) program(root *mapping, key, name, about, todo string) {
	if root.get(key) == nil || root.get(key).Kind != yaml.MappingNode {
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
	all.set(name, pairs("exec", sequence("./"+name), "description", scalar(about)))
	declared := &mapping{w: w, node: all.get(name), outer: all}
	declared.note(&yaml.Node{Line: w.lines[name]}, todo)
}

// own are the diagnostics of the file itself, and not of those that it names.
func (w *writer) own(left cascades.Diagnostics) cascades.Diagnostics {
	return slices.DeleteFunc(slices.Clone(left), func(d cascades.Diagnostic) bool { return d.File != w.name && d.File != Name(w.name) })
}

// refer names the YAML file where a file names a cascade in JSON that is not there:
// LARS finds the one by the other's name.
func (w *writer) refer(doc *yaml.Node, left cascades.Diagnostics) {
	for _, d := range w.own(left) {
		n := nodeAt(doc, d.Line, d.Column, 0)
		if d.Code == cascades.CodeFile && w.lars && n != nil && n.Kind == yaml.ScalarNode && Name(n.Value) != n.Value {
			w.notes = append(w.notes, Note{n.Line, n.Value + " is not there: it is " + Name(n.Value) + " that is named"})
			n.Value = Name(n.Value)
		}
	}
}

// remark puts a comment at every mistake that is left.
func (w *writer) remark(doc *yaml.Node, left cascades.Diagnostics) {
	if !w.changed {
		return
	}
	for _, d := range w.own(left) {
		if d.Severity != cascades.Wrong {
			continue
		}
		text := "# lint: " + d.Told() + " [" + d.Code + "]"
		key := cmp.Or(keyBefore(doc.Content[0], d.Line), doc)
		key.HeadComment = join(key.HeadComment, oneLine(text))
	}
}

// nodeAt is the innermost node that begins at a place.
func nodeAt(n *yaml.Node, line, column, depth int) *yaml.Node {
	if depth > 1000 || n.Kind == yaml.AliasNode {
		return nil
	}
	for _, e := range n.Content {
		if found := nodeAt(e, line, column, depth+1); found != nil {
			return found
		}
	}
	if n.Line == line && n.Column == column {
		return n
	}
	return nil
}

// keyBefore is the last key of a mapping in a block that begins at a line or
// before.
func keyBefore(n *yaml.Node, line int) *yaml.Node {
	var found *yaml.Node
	if n.Style&yaml.FlowStyle != 0 || n.Kind == yaml.AliasNode {
		return nil
	}
	for i, e := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if e.Line <= line && e.Line > 0 {
				found = e
			}
			continue
		}
		if e.Line <= line {
			if inner := keyBefore(e, line); inner != nil && (found == nil || inner.Line >= found.Line) {
				found = inner
			}
		}
	}
	return found
}
