package testcases

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/schema"
)

// fileTag marks the name of a text file.
const fileTag = "!file"

// inline is the maximum length of a text within a page, in bytes.
const inline = 2000

// readable reports whether YAML shows the text without escapes.
func readable(s string) bool {
	if !strings.Contains(s, "\n") {
		return utf8.ValidString(s)
	}
	first, _ := utf8.DecodeRuneInString(s)
	if unicode.IsSpace(first) || strings.Contains(s, " \n") || strings.HasSuffix(s, " ") {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return r == utf8.RuneError || r > 0xFFFF || r != '\n' && r != '\t' && !unicode.IsPrint(r)
	}) < 0
}

// A field is a member of a struct, as its json tag describes it.
type field struct {
	name     string
	index    int
	optional bool
	flow     bool // the tag yaml:"flow" puts the value on one line
}

func fieldsOf(t reflect.Type) (list []field) {
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		if name, options, _ := strings.Cut(tag.Get("json"), ","); name != "-" {
			list = append(list, field{name, i, options != "", tag.Get("yaml") == "flow"})
		}
	}
	return list
}

// node returns a value as YAML with exact numbers. at is the place of the value, which names the
// files of its texts.
func (w *writer) node(v reflect.Value, at string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, value reflect.Value) *yaml.Node {
		child := w.node(value, at+"/"+key)
		n.Content = append(n.Content, scalar(key), child)
		return child
	}
	switch v.Kind() {
	case reflect.Pointer:
		return w.node(v.Elem(), at)
	case reflect.Interface:
		return w.node(reflect.ValueOf(w.plain(v.Interface())), at)
	case reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			value := v.Field(f.index)
			if f.optional && (value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0 || value.Kind() == reflect.Map && value.Len() == 0) {
				continue
			}
			if child := add(f.name, value); f.flow {
				child.Style = yaml.FlowStyle
			}
		}
	case reflect.Map:
		for _, key := range slices.SortedFunc(v.Seq(), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			add(key.String(), v.MapIndex(key))
		}
	case reflect.Slice:
		n.Kind = yaml.SequenceNode
		if v.Type().Elem().Kind() == reflect.String {
			n.Style = yaml.FlowStyle
		}
		for i := range v.Len() {
			n.Content = append(n.Content, w.node(v.Index(i), fmt.Sprint(at, "-", i+1)))
		}
	case reflect.String:
		if v.Type() != reflect.TypeFor[json.Number]() {
			return w.text(v.String(), at)
		}
		fallthrough
	default:
		return w.bare(v)
	}
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}

// plain returns a value of any type as a plain value.
func (w *writer) plain(v any) any {
	switch v.(type) {
	case nil, bool, int, float64, json.Number, string, map[string]any, []any:
		return v
	}
	plain, err := schema.Plain(v)
	w.err = cmp.Or(w.err, err)
	return plain
}

// bare returns null, a boolean or a number as YAML.
func (w *writer) bare(v reflect.Value) *yaml.Node {
	if !v.IsValid() {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	text, err := json.Marshal(v.Interface())
	w.err = cmp.Or(w.err, err)
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: string(text)}
	switch {
	case v.Kind() == reflect.Bool:
		n.Tag = "!!bool"
	case strings.ContainsAny(n.Value, ".eE"):
		n.Tag = "!!float"
	}
	return n
}

// text returns a text as YAML, or writes a file for it.
func (w *writer) text(s, at string) *yaml.Node {
	if len(s) <= inline && readable(s) {
		return scalar(s)
	}
	name := free(path.Join(textsDir, slug(at)), func(name string) bool { return w.files[name+".md"] != nil }) + ".md"
	w.files[name] = []byte(s)
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: fileTag, Value: name}
}

func scalar(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if strings.Contains(s, "\n") {
		n.Style = yaml.LiteralStyle
		if !readable(s) {
			n.Style = yaml.DoubleQuotedStyle
		}
	}
	return n
}

// fill sets v to the value of a node. An unknown key is an error.
func fill(n *yaml.Node, v reflect.Value) error {
	null := n.ShortTag() == "!!null"
	switch kind := v.Kind(); {
	case n.Kind == yaml.AliasNode:
		return wrong(n, "anchors and aliases have no place here")
	case kind == reflect.Interface:
		return fillAny(n, v)
	case null && (kind != reflect.Pointer || v.Type().Elem().Kind() != reflect.Interface):
		return nil
	case kind == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fill(n, v.Elem())
	case kind == reflect.Struct:
		return fillStruct(n, v)
	case kind == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		return members(n, func(key, value *yaml.Node) error {
			item := reflect.New(v.Type().Elem()).Elem()
			err := fill(value, item)
			v.SetMapIndex(reflect.ValueOf(key.Value), item)
			return err
		})
	case kind == reflect.Slice && n.Kind == yaml.SequenceNode:
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, item := range n.Content {
			if err := fill(item, v.Index(i)); err != nil {
				return err
			}
		}
	case kind == reflect.Slice:
		return wrong(n, "want a list")
	case n.Kind != yaml.ScalarNode:
		return wrong(n, "want a text")
	case kind == reflect.String:
		v.SetString(n.Value)
	default:
		return n.Decode(v.Addr().Interface())
	}
	return nil
}

func fillStruct(n *yaml.Node, v reflect.Value) error {
	fields := map[string]int{}
	for _, f := range fieldsOf(v.Type()) {
		fields[f.name] = f.index
	}
	return members(n, func(key, value *yaml.Node) error {
		i, known := fields[key.Value]
		if !known {
			return wrong(key, "unknown key %q; there are %s", key.Value, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		return fill(value, v.Field(i))
	})
}

// members calls body for the keys and values of a mapping.
func members(n *yaml.Node, body func(key, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return wrong(n, "want keys and values")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || seen[key.Value] {
			return wrong(key, "want names, each once")
		}
		seen[key.Value] = true
		if err := body(key, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// fillAny sets v to the plain value of a node.
func fillAny(n *yaml.Node, v reflect.Value) (err error) {
	var plain reflect.Value
	switch n.Kind {
	case yaml.MappingNode:
		plain = reflect.New(reflect.TypeFor[map[string]any]()).Elem()
		err = fill(n, plain)
	case yaml.SequenceNode:
		plain = reflect.New(reflect.TypeFor[[]any]()).Elem()
		err = fill(n, plain)
	default:
		var x any
		if x, err = plainScalar(n); x == nil {
			return err
		}
		plain = reflect.ValueOf(x)
	}
	v.Set(plain)
	return err
}

func plainScalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		v, err := strconv.ParseBool(n.Value)
		if err != nil {
			return nil, wrong(n, "want true or false")
		}
		return v, nil
	case "!!int", "!!float":
		v, err := schema.Parse([]byte(n.Value)) // exact
		if err != nil {
			return nil, wrong(n, "%s is not a number that JSON has", n.Value)
		}
		return v, nil
	default:
		return n.Value, nil
	}
}
