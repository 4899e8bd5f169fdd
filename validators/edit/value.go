package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/validators/reading"
	"github.com/seed61713e19/capstan/validators/schema"
)

// node reads what a file holds as YAML. A text that is JSON may use escapes
// that YAML does not know.
func (r *reader) node(c content) *yaml.Node {
	switch {
	case c.err != nil:
		r.at(nil, "%v", c.err)
		return nil
	case c.value != nil:
		return r.plain(c.value)
	}
	before := len(r.wrong)
	if root := r.document(c.text); root != nil {
		return root
	}
	if text := bytes.TrimSpace(c.text); len(text) > 0 && text[0] == '{' && bytes.Contains(text, []byte(`\u`)) && len(text) <= maxYAML {
		if v, err := schema.Parse(text); err == nil {
			r.wrong = r.wrong[:before]
			return r.plain(v)
		}
	}
	return nil
}

// plain makes a tree of a plain value. It has no places.
func (r *reader) plain(v any) *yaml.Node {
	v, err := schema.Plain(v)
	if err != nil {
		r.at(nil, "%v", err)
		return nil
	}
	root := nodeOf(v)
	before := len(r.wrong)
	if r.strict(root, 0); len(r.wrong) > before {
		return nil
	}
	return root
}

func nodeOf(v any) *yaml.Node {
	switch v := v.(type) {
	case nil:
		return scalar("!!null", "null")
	case bool:
		return scalar("!!bool", strconv.FormatBool(v))
	case int:
		return scalar("!!int", strconv.Itoa(v))
	case float64, json.Number:
		text := fmt.Sprint(v)
		if !strings.ContainsAny(text, ".eE") {
			return scalar("!!int", text)
		}
		return scalar("!!float", text)
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, e := range v {
			n.Content = append(n.Content, nodeOf(e))
		}
		return n
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			n.Content = append(n.Content, scalar("!!str", key), nodeOf(v[key]))
		}
		return n
	default:
		return scalar("!!str", fmt.Sprint(v))
	}
}

func scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

// maxDifferences is how many places of one part are told.
const maxDifferences = 10

// differences lists where two values differ, as paths; how they are written
// does not count. A missing value is nil.
func differences(at string, a, b *yaml.Node) []string {
	d := difference{same: func(a, b *yaml.Node) bool { return scalarValue(a) == scalarValue(b) }}
	d.compare(at, a, b)
	return d.places
}

// alike tells whether two values are the same to whoever reads them: scalars may
// differ in what no reader sees.
func alike(a, b *yaml.Node) bool {
	d := difference{same: func(a, b *yaml.Node) bool {
		return scalarValue(a) == scalarValue(b) || a.ShortTag() == "!!str" && b.ShortTag() == "!!str" && reading.Visible(a.Value) == reading.Visible(b.Value)
	}}
	d.compare("", a, b)
	return len(d.places) == 0
}

// A difference lists where values differ whose scalars are the same by its own lights.
type difference struct {
	same   func(a, b *yaml.Node) bool
	places []string
}

func (d *difference) compare(at string, a, b *yaml.Node) {
	switch {
	case len(d.places) >= maxDifferences:
	case a == nil || b == nil:
		if a != b {
			d.places = append(d.places, at)
		}
	case a.Kind == yaml.MappingNode && b.Kind == yaml.MappingNode:
		ka, kb := keyed(a), keyed(b)
		for _, key := range union(a, b) {
			d.compare(at+"."+brief(key), ka[key], kb[key])
		}
	case a.Kind == yaml.SequenceNode && b.Kind == yaml.SequenceNode:
		for i := range max(len(a.Content), len(b.Content)) {
			ea, eb := element(a, i), element(b, i)
			d.compare(fmt.Sprintf("%s[%s]", at, named(i, ea, eb)), ea, eb)
		}
	case a.Kind != b.Kind || a.Kind == yaml.ScalarNode && !d.same(a, b):
		d.places = append(d.places, at)
	}
}

func element(n *yaml.Node, i int) *yaml.Node {
	if i < len(n.Content) {
		return n.Content[i]
	}
	return nil
}

// named gives an element the id that it has on both sides, else its number.
func named(i int, a, b *yaml.Node) string {
	if a != nil && b != nil && a.Kind == yaml.MappingNode && b.Kind == yaml.MappingNode {
		if x, y := keyed(a)["id"], keyed(b)["id"]; x != nil && y != nil && x.Value == y.Value && x.Value != "" {
			return brief(x.Value)
		}
	}
	return strconv.Itoa(i)
}

func keyed(n *yaml.Node) map[string]*yaml.Node {
	m := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		m[n.Content[i].Value] = n.Content[i+1]
	}
	return m
}

// union lists the keys of both, those of the first in its order first.
func union(a, b *yaml.Node) []string {
	var out []string
	known := keyed(a)
	for i := 0; i+1 < len(a.Content); i += 2 {
		out = append(out, a.Content[i].Value)
	}
	for i := 0; i+1 < len(b.Content); i += 2 {
		if known[b.Content[i].Value] == nil {
			out = append(out, b.Content[i].Value)
		}
	}
	return out
}

// scalarValue is a scalar as a value: 010 and 8 are the same number, 1 and "1"
// are not the same value.
func scalarValue(n *yaml.Node) string {
	tag := n.ShortTag()
	switch tag {
	case "!!str":
		return tag + n.Value
	case "!!null":
		return tag
	}
	v, err := schema.Parse([]byte(n.Value)) // all digits of a number
	if err != nil && n.Decode(&v) != nil {
		return tag + n.Value
	}
	if digits, ok := schema.Digits(v); ok {
		return "!!float" + digits
	}
	return tag + fmt.Sprint(v)
}

// written tells whether two equal values are written in the same way: keys in
// the same order, the same comments, the same style.
func written(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Value == b.Value && a.Style == b.Style && slices.EqualFunc(a.Content, b.Content, written) &&
		a.HeadComment == b.HeadComment && a.LineComment == b.LineComment && a.FootComment == b.FootComment
}
