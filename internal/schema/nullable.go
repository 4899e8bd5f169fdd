package schema

import (
	"maps"
	"slices"
)

// nullable is the keyword of OpenAPI 3.0 for a value that may be null.
const nullable = "nullable"

// Nullable translates the keyword nullable of OpenAPI into JSON Schema: null
// becomes one of the types, and one of the values of an enum. It returns a copy
// of the schema and the places of the keyword. The source does not change. If
// its $schema names an unknown dialect, Nullable returns the source itself.
func Nullable(source any) (any, []UnknownKey) {
	d, err := dialectIn(source, draft20)
	if err != nil {
		return source, nil
	}
	n := &nullables{dialect: d}
	translated := n.in("$", source, 0)
	return translated, n.found
}

type nullables struct {
	dialect *dialect
	found   []UnknownKey
}

func (n *nullables) in(at string, raw any, depth int) any {
	object, ok := raw.(map[string]any)
	if !ok || depth > maxDeep {
		return raw
	}
	made := maps.Clone(object)
	for word, what := range n.dialect.subschemaKeywords() {
		below := MemberPath(at, word)
		switch held := object[word].(type) {
		case []any:
			list := slices.Clone(held)
			for step, raw := range what.subschemas(held) {
				list[step.(int)] = n.in(ItemPath(below, step.(int)), raw, depth+1)
			}
			made[word] = list
		case map[string]any:
			if what == one || what == oneOrList {
				made[word] = n.in(below, held, depth+1)
				continue
			}
			all := maps.Clone(held)
			for name, raw := range held {
				all[name] = n.in(MemberPath(below, name), raw, depth+1)
			}
			made[word] = all
		}
	}
	if may, ok := object[nullable].(bool); ok {
		n.found = append(n.found, UnknownKey{at, nullable})
		if delete(made, nullable); may {
			withNull(made)
		}
	}
	return made
}

// withNull extends a schema with a type so that it accepts null.
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
