package scripted

import (
	"encoding/json"
	"errors"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/model"
)

// The limits for the arguments of a tool call. YAML aliases can refer to
// themselves.
const (
	maxDepth  = 100
	maxValues = 100_000
)

func (p *parser) toolCalls(v *yaml.Node) []model.ToolCall {
	if v.Kind != yaml.SequenceNode || len(v.Content) == 0 {
		p.errorf(v, "tool_calls is a list of calls, not %s", kind(v))
		return nil
	}
	var calls []model.ToolCall
	for _, n := range v.Content {
		c := model.ToolCall{Arguments: "{}"}
		seen := p.fields(n, "a tool call",
			field{"name", p.filling(&c.Name)},
			field{"arguments", func(v *yaml.Node, _ string) { c.Arguments = p.arguments(v) }},
			field{"id", p.filling(&c.ID)})
		if seen != nil && c.Name == "" {
			p.errorf(target(n), "a tool call has a name")
		}
		calls = append(calls, c)
	}
	return calls
}

// arguments returns a mapping as JSON in the order of the file, or a text
// unchanged, even if it is
// not JSON.
func (p *parser) arguments(v *yaml.Node) string {
	if v.Kind == yaml.ScalarNode && v.ShortTag() == "!!str" {
		return v.Value
	}
	if v.Kind != yaml.MappingNode {
		p.errorf(v, "arguments is a mapping, or JSON as text, not %s", kind(v))
		return ""
	}
	w := writer{values: maxValues}
	if err := w.write(v, 0); err != nil {
		p.errorf(w.at, "arguments: %v", err)
	}
	return string(w.out)
}

// A writer converts YAML to JSON.
type writer struct {
	out    []byte
	values int        // the number of values that may still be written
	at     *yaml.Node // the node of the error
}

func (w *writer) write(n *yaml.Node, depth int) error {
	w.at = n
	n = target(n)
	if w.values--; w.values < 0 || depth > maxDepth {
		return errors.New("too many values, or too deep")
	}
	switch n.Kind {
	case yaml.MappingNode:
		return w.list(n.Content, "{", "}", 2, depth)
	case yaml.SequenceNode:
		return w.list(n.Content, "[", "]", 1, depth)
	}
	text, err := scalar(n)
	w.out = append(w.out, text...)
	return err
}

// list writes nodes between brackets. If group is 2, every first node is a key.
func (w *writer) list(nodes []*yaml.Node, open, end string, group, depth int) error {
	w.out = append(w.out, open...)
	for i, n := range nodes {
		if i > 0 && i%group == 0 {
			w.out = append(w.out, ',')
		}
		if group == 2 && i%2 == 0 {
			key, err := json.Marshal(target(n).Value)
			if w.at = n; target(n).Kind != yaml.ScalarNode {
				err = errors.New("a key is text")
			}
			if err != nil {
				return err
			}
			w.out = append(append(w.out, key...), ':')
			continue
		}
		if err := w.write(n, depth+1); err != nil {
			return err
		}
	}
	w.out = append(w.out, end...)
	return nil
}

// scalar returns a number, true, false or null as JSON, and other values as
// text.
func scalar(n *yaml.Node) ([]byte, error) {
	switch n.ShortTag() {
	case "!!int", "!!float", "!!bool", "!!null":
		if json.Valid([]byte(n.Value)) { // keeps all digits of a long number
			return []byte(n.Value), nil
		}
		var v any
		if err := n.Decode(&v); err != nil {
			return nil, err
		}
		return json.Marshal(v)
	}
	return json.Marshal(n.Value)
}
