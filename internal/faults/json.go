package faults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/schema"
)

// FieldDropped removes a field of an object.
var FieldDropped = Operator{"field_dropped", "a field of the JSON is missing", func(t *Text, rng *rand.Rand) []Fault {
	return t.change(rng, func(p path, v any) (any, string, Surety) {
		if _, ok := p[len(p)-1].(string); !ok {
			return nil, "", ""
		}
		return removed{}, "the field is missing", Usually
	})
}}

// FieldRetyped changes the type of a value.
var FieldRetyped = Operator{"field_retyped", "a value of the JSON has another type", func(t *Text, rng *rand.Rand) []Fault {
	return t.change(rng, func(p path, v any) (any, string, Surety) {
		other := retyped(v)
		return other, became(shown(v), shown(other)), Usually
	})
}}

// retyped returns a value of another type with a similar text.
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

// ValuesSwapped swaps the values of two fields.
var ValuesSwapped = Operator{"values_swapped", "two values of the JSON have changed places", func(t *Text, rng *rand.Rand) []Fault {
	var all []change
	visitObjects(t.Value, nil, func(p path, o map[string]any, names []string) {
		for i, a := range names {
			for _, b := range names[i+1 : min(len(names), i+1+nearby)] {
				if reflect.TypeOf(o[a]) != reflect.TypeOf(o[b]) || reflect.DeepEqual(o[a], o[b]) {
					continue // another type is the fault of FieldRetyped
				}
				pa, pb := append(slices.Clip(p), a), append(slices.Clip(p), b)
				all = append(all, change{pa, func() any { return put(put(t.Value, pa, o[b]), pb, o[a]) }, Fault{Note: "it and " + b + " have changed places", Sure: Usually}})
				break
			}
		}
	})
	return t.changed(rng, all)
}}

// nearby is the number of following fields among which ValuesSwapped looks for
// a partner.
const nearby = 20

// A change is a possible fault in the JSON.
type change struct {
	at    path
	value func() any // the whole JSON after the change
	fault Fault
}

// changed returns the texts of at most t.Most changes. A change is always bad
// if the schema accepted the JSON before and rejects it after.
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

// takes reports whether a value matches a schema. An error of the schema counts
// as a match.
func takes(s *schema.Schema, v any) bool {
	broken, err := s.Check(nil, v)
	return err != nil || len(broken) == 0
}

// change plants a fault at each value for which a function returns another
// value.
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

// shown returns a value as one line of JSON.
func shown(v any) string {
	text, err := schema.Encode(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
