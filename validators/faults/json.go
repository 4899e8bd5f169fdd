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

// FieldDropped takes a field out of an object.
var FieldDropped = Operator{"field_dropped", "a field of the JSON is missing", func(t *Text, rng *rand.Rand) []Fault {
	return t.change(rng, func(p path, v any) (any, string, Surety) {
		if _, ok := p[len(p)-1].(string); !ok {
			return nil, "", ""
		}
		return gone{}, "the field is missing", Usually
	})
}}

// FieldRetyped makes another type of a value.
var FieldRetyped = Operator{"field_retyped", "a value of the JSON has another type", func(t *Text, rng *rand.Rand) []Fault {
	return t.change(rng, func(p path, v any) (any, string, Surety) {
		other := retyped(v)
		return other, became(shown(v), shown(other)), Usually
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

// ValuesSwapped puts the value of one field where another's stands, and that one
// there.
var ValuesSwapped = Operator{"values_swapped", "two values of the JSON have changed places", func(t *Text, rng *rand.Rand) []Fault {
	var all []change
	visitObjects(t.Value, nil, func(p path, o map[string]any, names []string) {
		for i, a := range names {
			for _, b := range names[i+1 : min(len(names), i+1+nearby)] {
				if reflect.TypeOf(o[a]) != reflect.TypeOf(o[b]) || reflect.DeepEqual(o[a], o[b]) {
					continue // of another type, it is FieldRetyped's
				}
				pa, pb := append(slices.Clip(p), a), append(slices.Clip(p), b)
				all = append(all, change{pa, func() any { return put(put(t.Value, pa, o[b]), pb, o[a]) }, Fault{Note: "it and " + b + " have changed places", Sure: Usually}})
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

// changed makes the texts of at most t.Most changes. What the schema took, and does
// not take any more, is bad for sure.
func (t *Text) changed(rng *rand.Rand, all []change) []Fault {
	var out []Fault
	for _, c := range pick(rng, all, t.Most) {
		value := c.value()
		c.fault.Text = t.with(value)
		if !takes(t.schema, value) {
			c.fault.Sure = Always
		}
		c.fault.Place = strings.TrimSuffix(c.at.String()+", "+c.fault.Place, ", ")
		out = append(out, c.fault)
	}
	return out
}

// takes tells whether a value keeps to a schema, as far as that can be said.
func takes(s *schema.Schema, v any) bool {
	broken, err := s.Check(nil, v)
	return err != nil || len(broken) == 0
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

// shown is a value as JSON in a line.
func shown(v any) string {
	text, err := schema.Encode(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
