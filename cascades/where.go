package cascades

import (
	"errors"
	"slices"
	"strconv"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/expressions"
	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/wards"
)

// An Ending is the end of a run, with the data that locates its reason in the file.
type Ending struct {
	Phase string      // name of the phase; "" for none
	Ward  *wards.Ward // ward that ended the run; nil for none
	Way   []string    // path of keys and indexes below the phase; for the budget and the inputs, below the root of the file
	Err   error       // errors of templates and expressions have positions within their texts
}

// Where returns the position of the reason for the end of a run, in the file of the cascade.
// For a template or an expression, it is the line and the column within the text or the
// template file. If the reason has no position, Where returns the position of the phase, or no
// position without a phase. The first call parses the file again.
func (c *Cascade) Where(e Ending) syntax.Position {
	w := &locator{parser: &parser{Reader: reader.New(syntax.New(c.File, c.Source))}, root: c.tree()}
	if w.root == nil {
		return syntax.Position{}
	}
	var found nodeAt
	if phase := c.named(e.Phase); phase != nil {
		found = nodeAt{w.find(w.root, phase.Position), phase.Position}
		for _, check := range phase.Checks() {
			if check.Ward == e.Ward {
				return w.ofCheck(nodeAt{w.find(w.root, check.Position), check.Position}, e.Err)
			}
		}
		switch {
		case e.Ward == nil:
		case e.Ward == phase.SchemaWard:
			e.Way = []string{"output_schema"}
		case phase.Tool != nil:
			e.Way = []string{"tool"}
		}
	}
	if len(e.Way) > 0 && (e.Way[0] == "budget" || e.Way[0] == "inputs_schema") {
		found.node = w.root
	}
	return w.ofText(w.follow(found, e.Way), e.Err)
}

// laterTree returns a function that parses the file once and returns its tree. The tree is nil
// if the file has a mistake.
func (c *Cascade) laterTree() func() *yaml.Node {
	return sync.OnceValue(func() *yaml.Node {
		doc, _ := Document(c.File, c.Source)
		if doc == nil {
			return nil
		}
		return doc.Content[0]
	})
}

// A locator finds positions in a valid file.
type locator struct {
	*parser
	root *yaml.Node
}

// A nodeAt is a value of the file with its position. The value is nil if it is unknown.
type nodeAt struct {
	node *yaml.Node
	at   syntax.Position
}

// find returns the outermost value at a position. It follows aliases.
func (w *locator) find(n *yaml.Node, at syntax.Position) *yaml.Node {
	if n.Line == at.Line && n.Column == at.Column && n.Kind != yaml.SequenceNode {
		return w.Resolve(n)
	}
	for _, e := range n.Content {
		if found := w.find(e, at); found != nil {
			return found
		}
	}
	return nil
}

// holders are the mappings of a phase that may contain the first key of a path.
var holders = [][]string{nil, {"rules"}, {"soundings"}, {"soundings", "reforge"}}

// follow returns the value at the end of a path, or the last value on the path that the file
// contains.
func (w *locator) follow(from nodeAt, path []string) nodeAt {
	if len(path) == 0 {
		return from
	}
	for _, around := range holders {
		if found, ok := w.down(from, slices.Concat(around, path[:1])); ok {
			found, _ = w.down(found, path[1:])
			return found
		}
	}
	return from
}

// down follows a path, and reports whether the file contains the whole path.
func (w *locator) down(from nodeAt, path []string) (nodeAt, bool) {
	for _, name := range path {
		next, ok := w.child(from, name)
		if !ok {
			return from, false
		}
		from = next
	}
	return from, true
}

// child returns a value within another value. name is a key, an index, or an entry of a list
// of names.
func (w *locator) child(of nodeAt, name string) (nodeAt, bool) {
	if of.node == nil {
		return of, false
	}
	n := w.Resolve(of.node)
	switch n.Kind {
	case yaml.MappingNode:
		o := w.Fields(n, "")
		if value := o.Value[name]; value != nil {
			return nodeAt{w.Resolve(value), w.Position(o.Keys[name])}, true
		}
	case yaml.SequenceNode:
		i, err := strconv.Atoi(name)
		if err != nil {
			i = slices.IndexFunc(n.Content, func(e *yaml.Node) bool { return w.Resolve(e).Value == name })
		}
		if i >= 0 && i < len(n.Content) {
			return nodeAt{w.Resolve(n.Content[i]), w.Position(n.Content[i])}, true
		}
	}
	return of, false
}

// ofCheck returns the position of a check, or the position of the error in a text of the
// check.
func (w *locator) ofCheck(check nodeAt, err error) syntax.Position {
	if _, _, ok := placeIn(err); !ok || check.node == nil {
		return check.at
	}
	def := check
	named, _ := w.child(check, "validator") // the check itself if it is only a name
	if own, ok := w.down(nodeAt{node: w.root}, []string{"validators", named.node.Value}); ok {
		def = own
	}
	for _, key := range []string{"expr", "judge", "input_map", "with"} {
		for _, from := range []nodeAt{def, check} {
			if text, ok := w.child(from, key); ok {
				return w.ofText(text, err)
			}
		}
	}
	return check.at
}

// ofText returns the position of an error within a value.
func (w *locator) ofText(found nodeAt, err error) syntax.Position {
	var one *valueError
	for errors.As(err, &one) {
		within, ok := w.child(found, one.name)
		if !ok {
			return found.at
		}
		found, err = within, one.err
	}
	line, column, ok := placeIn(err)
	found, _ = w.child(found, "prompt") // the text of human_input
	if !ok || found.node == nil || found.node.Kind != yaml.ScalarNode {
		return found.at
	}
	if name, ok := ownFile(found.node.Value); ok {
		return syntax.Position{File: w.beside(name), Line: line, Column: column}
	}
	return w.Inside(found.node)(line, column)
}

// placeIn returns the position of an error within a template or an expression.
func placeIn(err error) (line, column int, ok bool) {
	var template *templates.Error
	var expression *expressions.Error
	switch {
	case errors.As(err, &template):
		return template.Line, template.Column, true
	case errors.As(err, &expression):
		return expression.Line, expression.Column, true
	}
	return 0, 0, false
}
