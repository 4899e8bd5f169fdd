package schema

import (
	"maps"
	"slices"
)

// nullable is OpenAPI 3.0's word for a value that may also be null.
const nullable = "nullable"

// Nullable returns a schema in which nullable beside a type is written as JSON Schema
// has it: null is one of the types, and of the values of an enum. It also returns where
// the word stands. The source is not changed.
func Nullable(source any) (any, []Stray) {
	d, err := dialectIn(source, draft20)
	if err != nil {
		return source, nil
	}
	n := &nullables{dialect: d}
	return n.in("$", source, 0), n.found
}

type nullables struct {
	dialect *dialect
	found   []Stray
}

func (n *nullables) in(at string, raw any, depth int) any {
	object, ok := raw.(map[string]any)
	if !ok || depth > maxDeep {
		return raw
	}
	made := maps.Clone(object)
	for word, what := range n.dialect.words() {
		below := Named(at, word)
		switch held := object[word].(type) {
		case []any:
			list := slices.Clone(held)
			for step, raw := range what.in(held) {
				list[step.(int)] = n.in(Indexed(below, step.(int)), raw, depth+1)
			}
			made[word] = list
		case map[string]any:
			if what == one || what == oneOrList {
				made[word] = n.in(below, held, depth+1)
				continue
			}
			all := maps.Clone(held)
			for name, raw := range held {
				all[name] = n.in(Named(below, name), raw, depth+1)
			}
			made[word] = all
		}
	}
	if may, ok := object[nullable].(bool); ok {
		n.found = append(n.found, Stray{at, nullable})
		if delete(made, nullable); may {
			withNull(made)
		}
	}
	return made
}

// withNull lets a schema with a type accept null.
func withNull(s map[string]any) {
	switch t := s["type"].(type) {
	case string:
		s["type"] = []any{t, "null"}
	case []any:
		if !slices.Contains(t, any("null")) {
			s["type"] = append(slices.Clone(t), "null")
		}
	default:
		return
	}
	if values, ok := s["enum"].([]any); ok && !slices.Contains(values, nil) {
		s["enum"] = append(slices.Clone(values), nil)
	}
}
