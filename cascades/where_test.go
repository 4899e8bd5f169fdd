package cascades

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/expressions"
	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/wards"
)

// TestWhere checks that the reason for the end of a run has the position of its
// key or list item, whatever path leads there. Within a text, it has the
// position of the character.
func TestWhere(t *testing.T) {
	for _, name := range append([]string{"anchors", "in_place", "texts"}, described...) {
		name += ".yaml"
		source, _ := folder("testdata/good")(name)
		c, err := Load(name, folder("testdata/good"), known())
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(source), "\n")
		root := treeOf(t, name).Content[0]
		for phase, node := range phasesOf(root) {
			eachWay(node, nil, func(way []string, at, value *yaml.Node) {
				want := syntax.Position{File: name, Line: at.Line, Column: at.Column}
				if got := c.Where(Ending{Phase: phase, Way: way}); got != want && way[len(way)-1] != "human_input" { // the position is that of the prompt
					t.Errorf("%s: %q is at %v, not at %v", phase, way, got, want)
				}
				broken := &templates.Error{Line: 1, Column: 1}
				inText := c.Where(Ending{Phase: phase, Way: way, Err: broken})
				if got := c.Where(Ending{Phase: phase, Way: way, Err: &expressions.Error{Line: 1, Column: 1}}); got != inText {
					t.Errorf("%s: %q is as an expression at %v, not at %v", phase, way, got, inText)
				}
				if err := withinValues(way[1:], broken); c.Where(Ending{Phase: phase, Way: way[:1], Err: err}) != inText {
					t.Errorf("%s: %q is in its text at %v, told from above at %v", phase, way, inText, c.Where(Ending{Phase: phase, Way: way[:1], Err: err}))
				}
				if value.Kind != yaml.ScalarNode && way[len(way)-1] != "human_input" && inText != want {
					t.Errorf("%s: %q, which is no text, is in its text at %v", phase, way, inText)
				}
				for _, nowhere := range []string{"nowhere", "-1", strconv.Itoa(len(value.Content))} {
					if got := c.Where(Ending{Phase: phase, Way: append(slices.Clip(way), nowhere)}); got != c.Where(Ending{Phase: phase, Way: way}) {
						t.Errorf("%s: %q, of which there is no %s, is at %v", phase, way, nowhere, got)
					}
					if got := c.Where(Ending{Phase: phase, Way: way, Err: withinValues([]string{nowhere}, broken)}); got != want && way[len(way)-1] != "human_input" {
						t.Errorf("%s: %q, of which there is no %s, is in its text at %v", phase, way, nowhere, got)
					}
				}
				if file, own := strings.CutPrefix(value.Value, "@"); own && inText != (syntax.Position{File: file, Line: 1, Column: 1}) {
					t.Errorf("%s: %q is in its file at %v", phase, way, inText)
				} else if value.Kind != yaml.ScalarNode || own {
					return
				}
				for line, text := range strings.Split(value.Value, "\n") {
					for i, r := range []rune(text) {
						got := c.Where(Ending{Phase: phase, Way: way, Err: &templates.Error{Line: line + 1, Column: i + 1}})
						if there := []rune(lines[got.Line-1])[got.Column-1]; there != r && there != '\\' && !unicode.IsSpace(r) {
							t.Errorf("%s: %q: %q is at %v, where %q is", phase, way, r, got, there)
						}
					}
				}
			})
		}
		eachWay(root, nil, func(way []string, at, _ *yaml.Node) {
			if top := slices.Contains([]string{"budget", "inputs_schema"}, way[0]); top && c.Where(Ending{Way: way}) != (syntax.Position{File: name, Line: at.Line, Column: at.Column}) {
				t.Errorf("%q is at %v", way, c.Where(Ending{Way: way}))
			}
		})
		for _, p := range c.EveryPhase() {
			decided := map[string]*wards.Ward{"output_schema": p.SchemaWard}
			if p.Tool != nil {
				decided["tool"] = &wards.Ward{}
			}
			for key, ward := range decided {
				if got := c.Where(Ending{Phase: p.Name, Ward: ward}); ward != nil && got != c.Where(Ending{Phase: p.Name, Way: []string{key}}) {
					t.Errorf("%s: what %s decided is at %v", p.Name, key, got)
				}
			}
		}
		broken := &templates.Error{Line: 1, Column: 1}
		for _, e := range []Ending{{Err: broken}, {Phase: "nowhere", Err: broken}, {Way: []string{"nowhere"}}} {
			if got := c.Where(e); got != (syntax.Position{}) {
				t.Errorf("%s: %+v is at %v", name, e, got)
			}
		}
	}
}

// TestWhereMarked checks that a byte order mark is no character of the first
// line.
func TestWhereMarked(t *testing.T) {
	const source = `{cascade_id: x, phases: [{name: a, instructions: "\t\t{{ input.a }}"}]}`
	c := parsed(t, "\ufeff"+source, nil)
	got := c.Where(Ending{Phase: "a", Way: []string{"instructions"}, Err: &templates.Error{Line: 1, Column: 3}})
	if want := (syntax.Position{File: c.File, Line: 1, Column: strings.Index(source, "{{") + 1}); got != want {
		t.Errorf("it is at %v, not at %v", got, want)
	}
}

// TestWhereWithoutText checks that there are no positions without the source.
func TestWhereWithoutText(t *testing.T) {
	c := parsed(t, "cascade_id: x\nphases: [{name: a, instructions: b}]", nil)
	c.Source = nil
	if got := c.Where(Ending{Phase: "a"}); got != (syntax.Position{}) {
		t.Errorf("it is at %v", got)
	}
}

// withinValues wraps an error with the names on the path to its value.
func withinValues(way []string, err error) error {
	for _, name := range slices.Backward(way) {
		err = &valueError{name: name, err: err}
	}
	return err
}

// phasesOf returns the phases of a file by name, including those in groups.
func phasesOf(root *yaml.Node) map[string]*yaml.Node {
	found := map[string]*yaml.Node{}
	eachWay(root, nil, func(way []string, at, value *yaml.Node) {
		if n := len(way); n > 1 && slices.Contains([]string{"phases", "together"}, way[n-2]) {
			eachWay(value, nil, func(way []string, _, name *yaml.Node) {
				if len(way) == 1 && way[0] == "name" {
					found[name.Value] = value
				}
			})
		}
	})
	return found
}

// eachWay calls visit for every value within another, with its path and the
// node of its position. It follows aliases, but not merges.
func eachWay(n *yaml.Node, way []string, visit func(way []string, at, value *yaml.Node)) {
	meant := func(n *yaml.Node) *yaml.Node { return cmp.Or(n.Alias, n) }
	step := func(name string, at, value *yaml.Node) {
		on := append(slices.Clip(way), name)
		visit(on, at, meant(value))
		eachWay(meant(value), on, visit)
	}
	for i, e := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			step(strconv.Itoa(i), e, e)
		case i%2 == 1 && n.Content[i-1].Value != "<<":
			step(meant(n.Content[i-1]).Value, meant(n.Content[i-1]), e)
		}
	}
}
