package cascades

import (
	"bytes"
	"encoding/json"
	"math/big"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/validators/schema"
)

// plain turns a node into a plain value. Texts go through text, which may put
// something else in their place.
func (p *parser) plain(n *yaml.Node, text func(*yaml.Node) any) any {
	p.depth++
	defer func() { p.depth-- }()
	n = p.resolve(n)
	switch {
	case p.depth > maxDepth: // by way of aliases
		p.report(n, CodeTooLarge, "values are nested more than %d deep", maxDepth)
		return nil
	case n.Kind == yaml.MappingNode:
		o := p.fields(n, "a mapping")
		m := make(map[string]any, len(o.order))
		for _, key := range o.order {
			m[key] = p.plain(o.value[key], text)
		}
		return m
	case n.Kind == yaml.SequenceNode:
		l := make([]any, len(n.Content))
		for i, e := range n.Content {
			l[i] = p.plain(e, text)
		}
		return l
	default:
		return p.scalar(n, text)
	}
}

func (p *parser) scalar(n *yaml.Node, text func(*yaml.Node) any) any {
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int", "!!float":
		return p.number(n)
	case "!!str":
		if n.Style == 0 && json.Valid([]byte(n.Value)) { // 1e400, which the YAML library has no float for
			return p.number(n)
		}
	}
	return text(n)
}

// number reads a number that JSON can write, as it is written where that is
// JSON, and else, as 0x1F, what it stands for.
func (p *parser) number(n *yaml.Node) any {
	text := []byte(n.Value)
	if !json.Valid(text) {
		var whole big.Int
		var f float64
		switch _, ok := whole.SetString(n.Value, 0); {
		case ok:
			text = whole.Append(nil, 10)
		case n.Decode(&f) == nil:
			if text, _ = json.Marshal(f); !bytes.ContainsAny(text, ".e") {
				text = append(text, ".0"...)
			}
		}
	}
	v, err := schema.Parse(text)
	if err != nil {
		p.report(n, CodeValue, "%s is not a number that JSON can write", short(n.Value))
	}
	return v
}

func verbatim(n *yaml.Node) any { return n.Value }

// values reads named values whose texts may be templates.
func (p *parser) values(o *object, scope variables) Values {
	if o == nil {
		return nil
	}
	out := Values{}
	for _, key := range o.order {
		out[key] = p.plain(o.value[key], func(n *yaml.Node) any { return p.templated(n, scope) })
	}
	return out
}
