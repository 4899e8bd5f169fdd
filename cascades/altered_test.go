package cascades

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/cascadestest"
)

// TestAltered replaces each value of valid files by another value and compares
// the diagnostics with a file.
//
// The other values are a number, an unknown name, and a list of it. In the
// smaller files they are also null, an empty text and a mapping. Each message
// appears once. The test changes the trees, because writing and reading texts
// took two thirds of the time.
func TestAltered(t *testing.T) {
	var b strings.Builder
	known, seen := known(), map[string]bool{}
	known.Cache = &Cache{}
	nowhere := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "nowhere"}
	others := []yaml.Node{
		{Kind: yaml.ScalarNode, Tag: "!!int", Value: "-1"}, *nowhere, {Kind: yaml.SequenceNode, Content: []*yaml.Node{nowhere}},
		{Kind: yaml.ScalarNode, Tag: "!!null"}, {Kind: yaml.ScalarNode, Tag: "!!str"}, *mappingOf("nowhere", nowhere),
	}
	for _, name := range []string{"full.yaml", "models.yaml", "tries.yaml", "databases.yaml", "remote.yaml", "ways.yaml", "anchors.yaml", "windlass_loop.yaml"} {
		doc, others := treeOf(t, name), others
		if name == "full.yaml" {
			others = others[:3]
		}
		eachValue(doc.Content[0], "", func(at string, n *yaml.Node) {
			was := *n
			for _, other := range others {
				*n = placed(other, was)
				var news []string
				for _, d := range treeDiagnostics(name, doc, known) {
					if !seen[d.Message] {
						seen[d.Message] = true
						news = append(news, "  "+strings.TrimPrefix(d.String(), name+":")+"\n")
					}
				}
				if news != nil {
					fmt.Fprintf(&b, "%s %s: %s\n%s", name, at, strings.TrimSpace(string(textOf(t, n))), strings.Join(news, ""))
				}
			}
			*n = was
		})
	}
	cascadestest.Golden(t, *update, "testdata/altered.txt", b.String())
}

// TestAliased checks that a file has the same meaning as JSON, and with an alias in place of
// each value.
func TestAliased(t *testing.T) {
	for _, name := range described {
		name += ".yaml"
		source, _ := folder("testdata/good")(name)
		doc := treeOf(t, name)
		inJSON := jsonOf(t, doc.Content[0])
		aliased(doc)
		for _, text := range []string{string(textOf(t, doc)), inJSON} {
			if got, want := summaryOf(t, name, []byte(text)), summaryOf(t, name, source); got != want {
				t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
			}
		}
	}
}

// jsonOf returns a value without aliases as JSON, with its keys in order.
func jsonOf(t *testing.T, n *yaml.Node) string {
	t.Helper()
	var parts []string
	for i, e := range n.Content {
		if n.Kind == yaml.SequenceNode {
			parts = append(parts, jsonOf(t, e))
		} else if i%2 == 1 {
			parts = append(parts, string(asJSON(t, n.Content[i-1].Value))+": "+jsonOf(t, e))
		}
	}
	switch {
	case n.Kind == yaml.SequenceNode:
		return "[" + strings.Join(parts, ", ") + "]"
	case n.Kind == yaml.MappingNode:
		return "{" + strings.Join(parts, ", ") + "}"
	case n.Tag == "!!str":
		return string(asJSON(t, n.Value))
	}
	return cmp.Or(n.Value, "null")
}

// aliased replaces every value by an alias. The values are in the default of an
// input.
func aliased(doc *yaml.Node) {
	var values []*yaml.Node
	var anchor func(n *yaml.Node) *yaml.Node
	anchor = func(n *yaml.Node) *yaml.Node {
		for i, e := range n.Content {
			if n.Kind == yaml.SequenceNode || i%2 == 1 {
				n.Content[i] = anchor(e)
			}
		}
		n.Anchor = fmt.Sprintf("a%d", len(values))
		values = append(values, n)
		return &yaml.Node{Kind: yaml.AliasNode, Value: n.Anchor, Alias: n}
	}
	root := anchor(doc.Content[0]).Alias
	root.Anchor = ""
	inputs := mappingOf("anchors", mappingOf("default", &yaml.Node{Kind: yaml.SequenceNode, Content: values[:len(values)-1]}))
	for i := 0; i < len(root.Content); i += 2 {
		if root.Content[i].Value == "inputs_schema" {
			inputs.Content = append(inputs.Content, root.Content[i+1].Alias.Content...)
			root.Content = slices.Delete(root.Content, i, i+2)
			break
		}
	}
	root.Content = append(mappingOf("inputs_schema", inputs).Content, root.Content...)
}

func mappingOf(key string, value *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: key}, value}}
}

// summaryOf returns the gates, description, plan and graphs of the cascade in a file, without
// positions.
func summaryOf(t *testing.T, name string, source []byte) string {
	c, err := Parse(name, source, folder("testdata/good"), known())
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, source)
	}
	var b strings.Builder
	gates, _ := c.Gates("", nil)
	for _, g := range gates {
		fmt.Fprintln(&b, g.Phase, g.Place, g.Mode, g.Digest, g.Model)
	}
	d := c.Describe()
	d.Inputs = slices.DeleteFunc(d.Inputs, func(in DescribedInput) bool { return in.Name == "anchors" })
	return b.String() + d.Text() + c.Plan("", nil).Text() + c.Graph(nil).Mermaid() + c.Graph(nil).Dot()
}

func treeOf(t *testing.T, name string) *yaml.Node {
	source, err := folder("testdata/good")(name)
	if err != nil {
		t.Fatal(err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(source, &doc); err != nil {
		t.Fatal(err)
	}
	return &doc
}

// eachValue calls visit for every value of a tree with its path, outer values
// first.
func eachValue(n *yaml.Node, at string, visit func(at string, n *yaml.Node)) {
	if at != "" {
		visit(at, n)
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 {
			eachValue(n.Content[i], strings.TrimPrefix(at+"."+n.Content[i-1].Value, "."), visit)
		}
	case yaml.SequenceNode:
		for i, e := range n.Content {
			eachValue(e, fmt.Sprintf("%s[%d]", at, i), visit)
		}
	}
}

func textOf(t *testing.T, n *yaml.Node) []byte {
	text, err := yaml.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// placed returns a copy of a value at the position of another value.
func placed(n, was yaml.Node) yaml.Node {
	n.Line, n.Column = was.Line, was.Column
	n.Content = slices.Clone(n.Content)
	for i, e := range n.Content {
		e := placed(*e, was)
		n.Content[i] = &e
	}
	return n
}

// treeDiagnostics returns the diagnostics of a tree. They have the positions of the file.
func treeDiagnostics(name string, doc *yaml.Node, known Known) syntax.Diagnostics {
	open := folder("testdata/good")
	source, _ := open(name)
	p := &parser{Reader: reader.New(syntax.New(name, source)), open: open, files: new([]File), known: known, loading: []string{name}, loaded: map[string]*Cascade{}}
	p.storeOptions()
	known.Cache.turn()
	if p.Sound(doc.Content[0], nil) {
		p.parseTree(doc.Content[0])
	}
	return p.Found.Sorted(name)
}
