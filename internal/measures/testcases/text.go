package testcases

import (
	"encoding/json"
	"maps"
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

// nilTag marks a null value.
const nilTag = "!nil"

// inline is the maximum length of a text within a page, in bytes.
const inline = 2000

// A text is part of its page. Long texts, and texts for which YAML needs escapes, have their own
// files.
type text struct {
	string
	file string // "" for a text in the page
}

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

// MarshalYAML returns the text or the name of its file.
func (t text) MarshalYAML() (any, error) {
	if t.file != "" {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: fileTag, Value: t.file}, nil
	}
	return scalar(t.string), nil
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

// UnmarshalYAML reads the text.
func (t *text) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return wrong(n, "want a text")
	}
	*t = text{string: n.Value}
	return nil
}

// A value is any plain value. A string alone is written like a text. Other values keep their shape,
// with exact numbers.
type value struct {
	any
	text *text // of a string in a file
}

// MarshalYAML returns the value.
func (v value) MarshalYAML() (any, error) {
	if v.text != nil {
		return v.text.MarshalYAML()
	}
	return node(v.any)
}

// node returns a value as YAML.
func node(v any) (*yaml.Node, error) {
	switch v := v.(type) {
	case nil, bool, int, float64, json.Number:
		return bare(v)
	case string:
		return scalar(strings.ToValidUTF8(v, "\uFFFD")), nil
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			child, err := node(v[key])
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, scalar(key), child)
		}
		return emptyFlow(n), nil
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v {
			child, err := node(item)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		return emptyFlow(n), nil
	}
	plain, err := schema.Plain(v)
	if err != nil {
		return nil, err
	}
	return node(plain)
}

func emptyFlow(n *yaml.Node) *yaml.Node {
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}

// bare returns null, a boolean or a number as YAML.
func bare(v any) (*yaml.Node, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	s, tag := string(b), "!!null"
	switch v.(type) {
	case bool:
		tag = "!!bool"
	case int, float64, json.Number:
		tag = "!!int"
		if strings.ContainsAny(s, ".eE") {
			tag = "!!float"
		}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: s}, nil
}

// UnmarshalYAML reads the value.
func (v *value) UnmarshalYAML(n *yaml.Node) (err error) {
	v.any, err = plain(n)
	return err
}

// plain returns the plain value of a node.
func plain(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		return plainObject(n)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			var err error
			if list[i], err = plain(item); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.ScalarNode:
		return plainScalar(n)
	default:
		return nil, wrong(n, "anchors and aliases have no place here")
	}
}

func plainObject(n *yaml.Node) (map[string]any, error) {
	object := map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if _, twice := object[key.Value]; twice || key.Kind != yaml.ScalarNode {
			return nil, wrong(key, "want names, each once")
		}
		var err error
		if object[key.Value], err = plain(n.Content[i+1]); err != nil {
			return nil, err
		}
	}
	return object, nil
}

func plainScalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null", nilTag:
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
