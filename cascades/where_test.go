package cascades

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/templates"
)

// TestWhere holds that what ended a run is told at its key, or at its place in a
// list, whatever way leads there from the phase, and in its text at the character.
func TestWhere(t *testing.T) {
	for _, name := range append([]string{"anchors", "in_place", "texts"}, told...) {
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
				want := Position{name, at.Line, at.Column}
				if got := c.Where(Ending{Phase: phase, Way: way}); got != want && way[len(way)-1] != "human_input" { // whose prompt is told
					t.Errorf("%s: %q is at %v, not at %v", phase, way, got, want)
				}
				if value.Kind != yaml.ScalarNode || strings.HasPrefix(value.Value, "@") {
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
		broken := &templates.Error{Line: 1, Column: 1}
		for _, e := range []Ending{{Err: broken}, {Phase: "nowhere", Err: broken}, {Way: []string{"nowhere"}}} {
			if got := c.Where(e); got != (Position{}) {
				t.Errorf("%s: %+v is at %v", name, e, got)
			}
		}
	}
}

// phasesOf are the phases of a file, those side by side too, by their names.
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

// eachWay gives every value within another, aliases but no merges followed, with the way to it and
// the node that is its place.
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
