package faults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/schema"
)

// FieldDropped takes a field out of an object: always bad where the schema
// requires it.
var FieldDropped = Operator{"field_dropped", "a field of the JSON is missing", func(t *Text, rng *rand.Rand) []Fault {
	return t.change(rng, func(p path, v any) (any, string, Surety) {
		name, ok := p[len(p)-1].(string)
		if !ok {
			return nil, "", ""
		}
		required, _ := schemaAt(t.Schema, p[:len(p)-1])["required"].([]any)
		return gone{}, "the field is missing", sure(slices.Contains(required, any(name)))
	})
}}

// FieldRetyped makes another type of a value: always bad where the schema names
// its type or its values.
var FieldRetyped = Operator{"field_retyped", "a value of the JSON has another type", func(t *Text, rng *rand.Rand) []Fault {
	return t.change(rng, func(p path, v any) (any, string, Surety) {
		other := retyped(v)
		rules := schemaAt(t.Schema, p)
		return other, became(shown(v), shown(other)), sure(rules["type"] != nil && !allows(rules["type"], other) || rules["enum"] != nil)
	})
}}

// retyped says a value in a type that reads much like its own.
func retyped(v any) any {
	switch v := v.(type) {
	case string:
		return []any{v}
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case nil:
		return "null"
	case []any:
		return shown(v)
	case map[string]any:
		return []any{v}
	default:
		return fmt.Sprint(v)
	}
}

// allows tells whether a schema's type is that of a value.
func allows(types, v any) bool {
	is := "object"
	switch v.(type) {
	case string:
		is = "string"
	case []any:
		is = "array"
	}
	list, _ := types.([]any)
	return types == is || slices.Contains(list, any(is))
}

// ValuesSwapped puts the value of one field where another's stands, and that one
// there: always bad where the schema says that they are of different kinds.
var ValuesSwapped = Operator{"values_swapped", "two values of the JSON have changed places", func(t *Text, rng *rand.Rand) []Fault {
	var all []change
	visitObjects(t.Value, nil, func(p path, o map[string]any, names []string) {
		for i, a := range names {
			for _, b := range names[i+1 : min(len(names), i+1+nearby)] {
				if reflect.TypeOf(o[a]) != reflect.TypeOf(o[b]) || reflect.DeepEqual(o[a], o[b]) {
					continue // of another type, it is FieldRetyped's
				}
				pa, pb := append(slices.Clip(p), a), append(slices.Clip(p), b)
				differ := kindOf(schemaAt(t.Schema, pa)) != kindOf(schemaAt(t.Schema, pb))
				all = append(all, change{pa, func() any { return put(put(t.Value, pa, o[b]), pb, o[a]) }, Fault{Note: "it and " + b + " have changed places", Sure: sure(differ)}})
				break
			}
		}
	})
	return t.changed(rng, all)
}}

// nearby is among how many of the fields behind it one looks for another that it
// can change places with.
const nearby = 20

// A change is a fault in the JSON that may be planted.
type change struct {
	at    path
	value func() any // the whole, changed
	fault Fault
}

// changed makes the texts of at most t.Most changes.
func (t *Text) changed(rng *rand.Rand, all []change) []Fault {
	var out []Fault
	for _, c := range pick(rng, all, t.Most) {
		c.fault.Text = t.with(c.value())
		c.fault.Place = strings.TrimSuffix(c.at.String()+", "+c.fault.Place, ", ")
		out = append(out, c.fault)
	}
	return out
}

// kindOf is what a schema says of a kind of text or number.
func kindOf(rules map[string]any) string {
	return shown([]any{rules["type"], rules["format"], rules["enum"], rules["pattern"], rules["const"]})
}

// change plants a fault at each value that a function makes another of.
func (t *Text) change(rng *rand.Rand, other func(p path, v any) (value any, note string, s Surety)) []Fault {
	var all []change
	values(t.Value, nil, func(p path, v any) {
		if value, note, s := other(p, v); s != "" {
			all = append(all, change{p, func() any { return put(t.Value, p, value) }, Fault{Note: note, Sure: s}})
		}
	})
	return t.changed(rng, all)
}

func visitObjects(v any, at path, visit func(path, map[string]any, []string)) {
	each := func(p path, v any) {
		if o, ok := v.(map[string]any); ok {
			visit(p, o, slices.Sorted(maps.Keys(o)))
		}
	}
	each(at, v)
	values(v, at, each)
}

// schemaAt is what a schema says of the value at a place, by its properties and
// items; nil where it says it in another way.
func schemaAt(schema any, p path) map[string]any {
	rules, _ := schema.(map[string]any)
	for _, step := range p {
		switch step := step.(type) {
		case string:
			properties, _ := rules["properties"].(map[string]any)
			next, ok := properties[step].(map[string]any)
			if !ok {
				next, _ = rules["additionalProperties"].(map[string]any)
			}
			rules = next
		default:
			rules, _ = rules["items"].(map[string]any)
		}
	}
	return rules
}

// shown is a value as JSON in a line.
func shown(v any) string {
	text, err := schema.Encode(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
