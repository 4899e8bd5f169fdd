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

// An Ending is the end of a run, with the data that may have a place in the
// file.
type Ending struct {
	Phase string      // "" for none
	Ward  *wards.Ward // the check that decided; nil for none
	Way   []string    // keys and indexes of lists from the phase; for the budget and the inputs, from the top of the file
	Err   error       // the errors of templates and expressions have positions within their texts
}

// Where returns the position of the end of a run in the file of the cascade.
// For a template or an expression, the position is the line and the column
// within the text, or within the file of the template. Without a place of its
// own, the end has the position of its phase. Without a phase, it has none. The
// first call reads the file again.
func (c *Cascade) Where(e Ending) syntax.Position {
	w := &locator{parser: &parser{Reader: reader.New(syntax.New(c.File, c.Source))}, root: c.tree()}
	if w.root == nil {
		return syntax.Position{}
	}
	var found spotted
	if phase := c.named(e.Phase); phase != nil {
		found = spotted{w.find(w.root, phase.Position), phase.Position}
		for _, check := range phase.Checks() {
			if check.Ward == e.Ward {
				return w.ofCheck(spotted{w.find(w.root, check.Position), check.Position}, e.Err)
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

// laterTree returns a function that reads the tree of the file once. It returns
// nil for a file with a mistake.
func (c *Cascade) laterTree() func() *yaml.Node {
	return sync.OnceValue(func() *yaml.Node {
		doc, _ := Document(c.File, c.Source)
		if doc == nil {
			return nil
		}
		return doc.Content[0]
	})
}

// A locator finds places in a valid file.
type locator struct {
	*parser
	root *yaml.Node
}

// A spotted is a value of the file, nil if it is unknown, with its position.
type spotted struct {
	node *yaml.Node
	at   syntax.Position
}

// find returns the outermost value at a position, aliases followed.
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

// holders are the mappings of a phase that may contain the first key of a way.
var holders = [][]string{nil, {"rules"}, {"soundings"}, {"soundings", "reforge"}}

// follow returns the value at the end of a way, or the last value on the way
// that the file has.
func (w *locator) follow(from spotted, way []string) spotted {
	if len(way) == 0 {
		return from
	}
	for _, around := range holders {
		if found, ok := w.down(from, slices.Concat(around, way[:1])); ok {
			found, _ = w.down(found, way[1:])
			return found
		}
	}
	return from
}

// down follows a way, and reports whether the file has all of it.
func (w *locator) down(from spotted, way []string) (spotted, bool) {
	for _, name := range way {
		next, ok := w.child(from, name)
		if !ok {
			return from, false
		}
		from = next
	}
	return from, true
}

// child returns a value within another: by key, by index, or by name in a list
// of names.
func (w *locator) child(of spotted, name string) (spotted, bool) {
	if of.node == nil {
		return of, false
	}
	n := w.Resolve(of.node)
	switch n.Kind {
	case yaml.MappingNode:
		o := w.Fields(n, "")
		if value := o.Value[name]; value != nil {
			return spotted{w.Resolve(value), w.Position(o.Keys[name])}, true
		}
	case yaml.SequenceNode:
		i, err := strconv.Atoi(name)
		if err != nil {
			i = slices.IndexFunc(n.Content, func(e *yaml.Node) bool { return w.Resolve(e).Value == name })
		}
		if i >= 0 && i < len(n.Content) {
			return spotted{w.Resolve(n.Content[i]), w.Position(n.Content[i])}, true
		}
	}
	return of, false
}

// ofCheck returns the place of a check, or the place in its text that failed.
func (w *locator) ofCheck(check spotted, err error) syntax.Position {
	if _, _, ok := placeIn(err); !ok || check.node == nil {
		return check.at
	}
	def := check
	named, _ := w.child(check, "validator") // or the check itself, if it is only a name
	if own, ok := w.down(spotted{node: w.root}, []string{"validators", named.node.Value}); ok {
		def = own
	}
	for _, key := range []string{"expr", "judge", "input_map", "with"} {
		for _, from := range []spotted{def, check} {
			if text, ok := w.child(from, key); ok {
				return w.ofText(text, err)
			}
		}
	}
	return check.at
}

// ofText returns the position of an error within a value.
func (w *locator) ofText(found spotted, err error) syntax.Position {
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
