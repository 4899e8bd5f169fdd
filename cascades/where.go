package cascades

import (
	"errors"
	"slices"
	"strconv"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/validators/expressions"
	"github.com/seed61713e19/capstan/wards"
)

// An Ending is what ended a run, as far as a file may have a place for it.
type Ending struct {
	Phase string      // "" outside any
	Ward  *wards.Ward // the check that decided; nil for none
	Way   []string    // keys, and numbers of lists from 0, from the phase; of the budget and the inputs from the file's top
	Err   error       // a template's and an expression's tell where in their text it is
}

// Where is the place in the cascade's file of what ended a run: down to the line
// and the column within a template or an expression, in the template's own file
// where it has one. What has no place of its own has its phase's, and outside any
// phase none, which is zero. The file is read as the cascade was made from it,
// once: a run without one costs nothing.
func (c *Cascade) Where(e Ending) Position {
	w := &locator{parser: &parser{file: c.File, source: c.Source}, root: c.tree()}
	if w.root == nil {
		return Position{}
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

// laterTree reads the cascade's file again when it is first asked for; nil where
// its text is not there any more.
func (c *Cascade) laterTree() func() *yaml.Node {
	return sync.OnceValue(func() *yaml.Node {
		doc, _ := Document(c.File, c.Source)
		if doc == nil {
			return nil
		}
		return doc.Content[0]
	})
}

// A locator finds places in a file that is right.
type locator struct {
	*parser
	root *yaml.Node
}

// spotted is a value of the file, nil where it is not known, and the place that is
// told of it.
type spotted struct {
	node *yaml.Node
	at   Position
}

// find is the value at a place, the outermost one, an alias followed.
func (w *locator) find(n *yaml.Node, at Position) *yaml.Node {
	if n.Line == at.Line && n.Column == at.Column && n.Kind != yaml.SequenceNode {
		return w.resolve(n)
	}
	for _, e := range n.Content {
		if found := w.find(e, at); found != nil {
			return found
		}
	}
	return nil
}

// holders are the mappings of a phase in which a key may stand that is told without
// them.
var holders = [][]string{nil, {"rules"}, {"soundings"}, {"soundings", "reforge"}}

// follow goes a way down from a phase, or from the file's top, as far as the file
// has it.
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

// down goes a way, and tells whether the file has all of it.
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

// child is a value within another: by its key, its number, or as one of a list of
// names.
func (w *locator) child(of spotted, name string) (spotted, bool) {
	if of.node == nil {
		return of, false
	}
	n := w.resolve(of.node)
	switch n.Kind {
	case yaml.MappingNode:
		o := w.fields(n, "")
		if value := o.value[name]; value != nil {
			return spotted{w.resolve(value), w.position(o.keys[name])}, true
		}
	case yaml.SequenceNode:
		i, err := strconv.Atoi(name)
		if err != nil {
			i = slices.IndexFunc(n.Content, func(e *yaml.Node) bool { return w.resolve(e).Value == name })
		}
		if i >= 0 && i < len(n.Content) {
			return spotted{w.resolve(n.Content[i]), w.position(n.Content[i])}, true
		}
	}
	return of, false
}

// ofCheck is the place of a check, or of what in its text broke.
func (w *locator) ofCheck(check spotted, err error) Position {
	if _, _, ok := placeIn(err); !ok || check.node == nil {
		return check.at
	}
	def := check
	named, _ := w.child(check, "validator") // or the check, where a name is all of it
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

// ofText is the place within a value, its text or its texts, of what is wrong.
func (w *locator) ofText(found spotted, err error) Position {
	var one *valueError
	for errors.As(err, &one) {
		within, ok := w.child(found, one.name)
		if !ok {
			return found.at
		}
		found, err = within, one.err
	}
	line, column, ok := placeIn(err)
	found, _ = w.child(found, "prompt") // of human_input, the one that is rendered
	if !ok || found.node == nil || found.node.Kind != yaml.ScalarNode {
		return found.at
	}
	if name, ok := ownFile(found.node.Value); ok {
		return Position{w.beside(name), line, column}
	}
	return w.inside(found.node)(line, column)
}

// placeIn is where in its text a template or an expression says that it broke.
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
