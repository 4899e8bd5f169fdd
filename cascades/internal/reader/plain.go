package reader

import (
	"bytes"
	"encoding/json"
	"math/big"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/schema"
)

// Plain converts a value to a plain value. The function text converts the texts in it.
func (r *Reader) Plain(n *yaml.Node, text func(*yaml.Node) any) any {
	r.depth++
	defer func() { r.depth-- }()
	n = r.Resolve(n)
	switch {
	case r.depth > maxDepth: // because of aliases
		r.Error(n, codes.TooLarge, "values are nested more than %d deep", maxDepth)
		return nil
	case n.Kind == yaml.MappingNode:
		o := r.Fields(n, "a mapping")
		m := make(map[string]any, len(o.Order))
		for _, key := range o.Order {
			m[key] = r.Plain(o.Value[key], text)
		}
		return m
	case n.Kind == yaml.SequenceNode:
		l := make([]any, len(n.Content))
		for i, e := range n.Content {
			l[i] = r.Plain(e, text)
		}
		return l
	default:
		return r.scalar(n, text)
	}
}

func (r *Reader) scalar(n *yaml.Node, text func(*yaml.Node) any) any {
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int", "!!float":
		return r.number(n)
	case "!!str":
		if n.Style == 0 && json.Valid([]byte(n.Value)) { // such as 1e400, which the YAML library cannot represent
			return r.number(n)
		}
	}
	return text(n)
}

// number reads a number. If the number is valid JSON, it keeps the digits; it converts other
// numbers, such as 0x1F.
func (r *Reader) number(n *yaml.Node) any {
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
		r.Error(n, codes.Value, "%s is not a number that JSON can write", Short(n.Value))
	}
	return v
}

// Verbatim returns a text unchanged.
func Verbatim(n *yaml.Node) any { return n.Value }

// PlainValue converts a value to a plain value without reports.
func PlainValue(n *yaml.Node) any { return New(syntax.New("", nil)).Plain(n, Verbatim) }
