package cascades

import (
	"bytes"
	"fmt"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/cascades/syntax"
)

// places are the places in the JSON Schema that declare the keys of a mapping,
// by the parser's name of the mapping. A mapping without an entry has a
// definition of that name.
var places = map[string]string{
	"the cascade":          "",
	"a phase":              "$defs/phase",
	"a validator":          "$defs/validator",
	"a validator in place": "$defs/check/oneOf/1",
	"a ward":               "$defs/ward",
	"a ward around tools":  "$defs/toolward",
	"a tool":               "$defs/tool",
	"requires_receipt":     "$defs/tool/properties/requires_receipt",
	"a handoff":            "$defs/handoff/oneOf/1",
	"a phase of context":   "$defs/context/properties/from/items/oneOf/1",
	"a model":              "$defs/one_model/oneOf/1",
	"a provider":           "$defs/provider",
	"a price":              "$defs/price",
	"a hook":               "$defs/hook",
	"an example":           "$defs/example",
	"a database":           "$defs/database",
	"a sub-cascade":        "$defs/sub_cascade",
}

// A declaration is the schema of a mapping, in its order.
type declaration struct {
	keys      []string
	of        map[string]property
	nodes     map[string]*yaml.Node // by key
	required  []string
	dependent map[string]struct {
		AnyOf []struct{ Required []string } `yaml:"anyOf"`
	}
	closed bool
}

type property struct {
	Description      string
	Default          any
	Examples         []any
	Enum             []any
	Const            any
	Minimum          *float64
	Maximum          *float64
	ExclusiveMinimum *float64 `yaml:"exclusiveMinimum"`
	ExclusiveMaximum *float64 `yaml:"exclusiveMaximum"`
	Not              struct {
		MultipleOf float64 `yaml:"multipleOf"`
	}
	Ref     string `yaml:"$ref"`
	Comment string `yaml:"$comment"`
}

// declarations returns the declaration of every mapping, by the parser's name.
func declarations(t *testing.T) map[string]declaration {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(jsonSchema, &root); err != nil { // YAML keeps the order
		t.Fatal(err)
	}
	all, placed := map[string]declaration{}, map[string]bool{}
	for kind, place := range places {
		all[kind], placed[place] = declarationAt(t, root.Content[0], place), true
	}
	definitions := at(root.Content[0], "$defs")
	for i := 0; i < len(definitions.Content); i += 2 {
		name := definitions.Content[i].Value
		if place := "$defs/" + name; !placed[place] && at(root.Content[0], place+"/properties") != nil {
			all[name] = declarationAt(t, root.Content[0], place)
		}
	}
	return all
}

func declarationAt(t *testing.T, root *yaml.Node, place string) declaration {
	t.Helper()
	n := at(root, place)
	properties := at(n, "properties")
	if properties == nil {
		t.Fatalf("no keys are declared at %q", place)
	}
	var list struct {
		Required  []string
		Dependent map[string]struct {
			AnyOf []struct{ Required []string } `yaml:"anyOf"`
		} `yaml:"dependentSchemas"`
		Additional any `yaml:"additionalProperties"`
	}
	d := declaration{of: map[string]property{}, nodes: map[string]*yaml.Node{}}
	if err := n.Decode(&list); err != nil {
		t.Fatal(err)
	}
	if err := properties.Decode(&d.of); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(properties.Content); i += 2 {
		d.keys = append(d.keys, properties.Content[i].Value)
		d.nodes[properties.Content[i].Value] = properties.Content[i+1]
	}
	d.required, d.dependent, d.closed = list.Required, list.Dependent, list.Additional == false
	return d
}

// at returns the node at a place of a schema, or nil.
func at(n *yaml.Node, place string) *yaml.Node {
	for _, word := range strings.FieldsFunc(place, func(c rune) bool { return c == '/' }) {
		var below *yaml.Node
		if i, err := strconv.Atoi(word); err == nil && n.Kind == yaml.SequenceNode {
			below = n.Content[i]
		}
		for i := 0; i < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
			if n.Content[i].Value == word {
				below = n.Content[i+1]
			}
		}
		if n = below; n == nil {
			return nil
		}
	}
	return n
}

// TestKeysAreDeclared compares the parser's known keys with the keys of the
// schema.
func TestKeysAreDeclared(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`// Code generated from cascade.schema.json by TestKeysAreDeclared; DO NOT EDIT.

package reader

import "sync"

// declared returns the keys of each kind of mapping.
var declared = sync.OnceValue(func() map[string][]key {
	return map[string][]key{
`)
	all := declarations(t)
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%q: {", kind)
		for i, name := range all[kind].keys {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "{name: %q", name)
			if forms := all[kind].dependent[name].AnyOf; forms != nil {
				b.WriteString(", beside: []string{")
				for i, form := range forms {
					if i > 0 {
						b.WriteString(", ")
					}
					fmt.Fprintf(&b, "%q", form.Required[0])
				}
				b.WriteString("}")
			}
			b.WriteString("}")
		}
		b.WriteString("},\n")
	}
	b.WriteString("}})\n")
	formatted, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	const name = "internal/reader/keys_declared.go"
	if *update {
		if err := os.WriteFile(name, formatted, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if is, _ := os.ReadFile(name); !bytes.Equal(is, formatted) {
		t.Error("the keys are others: go test ./cascades -run TestKeysAreDeclared -update")
	}
}

// TestKeysAreRead compares the declared keys with the keys that the parser
// reads. Editors use $schema. Validators are read in the same place wherever
// they are written.
func TestKeysAreRead(t *testing.T) {
	read := map[string]map[string]bool{}
	for _, name := range glob(t, "testdata/good/*", "testdata/bad/*.yaml") {
		within := map[*reader.Object]map[string]bool{}
		source, err := os.ReadFile(name)
		if err != nil {
			continue // a folder
		}
		p := &parser{Reader: reader.New(syntax.New(filepath.Base(name), source)), open: folder(filepath.Dir(name)), files: new([]File), known: known(), loading: []string{filepath.Base(name)}, loaded: map[string]*Cascade{}}
		p.Observe = func(o *reader.Object, key string) {
			if read[o.Kind] == nil {
				read[o.Kind] = map[string]bool{}
			}
			if within[o] == nil {
				within[o] = map[string]bool{}
			}
			read[o.Kind][key], within[o][key] = true, true
		}
		if p.parse(); len(p.Found) > 0 {
			continue
		}
		for o, keys := range within {
			for _, key := range o.Order {
				if reader.Declares(o.Kind, key) && !keys[key] && key != "$schema" {
					t.Errorf("%s: %s may have %s, which nobody reads there", name, o.What, key)
				}
			}
		}
	}
	all := declarations(t)
	for kind, d := range all {
		if !d.closed {
			t.Errorf("the schema of %q takes any key", kind)
		}
		for _, key := range d.keys {
			if !read[kind][key] && key != "$schema" && !(read["a validator"][key] && slices.Contains(d.keys, "judge")) {
				t.Errorf("the schema of %q has %q, which the parser never reads", kind, key)
			}
		}
		for key := range read[kind] {
			if !reader.Declares(kind, key) && key != "" {
				t.Errorf("the parser reads %q of %q, which the schema lacks", key, kind)
			}
		}
	}
}

// TestKeysAreExplained checks that every key has a description, an example, and the edition
// of the language that introduced it. The first edition is 1.
func TestKeysAreExplained(t *testing.T) {
	edition := regexp.MustCompile(`^Edition [1-9]\.$`)
	for kind, d := range declarations(t) {
		for key, one := range d.of {
			if one.Description == "" || len(one.Examples) == 0 {
				t.Errorf("%s: %s has no description or no example", kind, key)
			}
			if !edition.MatchString(one.Comment) {
				t.Errorf("%s: %s has no edition: %q", kind, key, one.Comment)
			}
		}
	}
}
