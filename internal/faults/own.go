package faults

import (
	"math/rand/v2"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// Rewriting returns an operator of a gate that replaces each match of a pattern
// by a template of [regexp.Regexp.Expand]. Its faults are always bad.
func Rewriting(name, description, pattern, template string) Operator {
	compiled := patterns.Lazy(pattern)
	return Operator{name, description, placed(func(t *Text, _ *rand.Rand, add func(...site)) {
		for _, at := range compiled().FindAllStringSubmatchIndex(t.Content, -1) {
			with := string(compiled().ExpandString(nil, template, t.Content, at))
			add(site{at[0], at[1], with, description + ": " + became(t.Content[at[0]:at[1]], with), Always})
		}
	})}
}

// Removed is the value that removes a field or an element, see [Revaluing].
var Removed any = removed{}

// Revaluing returns an operator of a gate that changes each value of the JSON
// for which a function returns another value. Its faults are always bad. The
// function gets the name of the field ("" for an element of a list), and the
// name of the field that contains its list or object.
func Revaluing(name, description string, other func(in, name string, v any) (value any, changed bool)) Operator {
	return Operator{name, description, func(t *Text, rng *rand.Rand) []Fault {
		return t.change(rng, func(p path, v any) (any, string, Surety) {
			name, _ := p[len(p)-1].(string)
			in := ""
			for _, step := range p[:len(p)-1] {
				if around, ok := step.(string); ok {
					in = around
				}
			}
			value, changed := other(in, name, v)
			if !changed {
				return nil, "", ""
			}
			return value, description, Always
		})
	}}
}

// Remade returns the faults of an operator that changes the whole JSON. make
// changes its copy of the JSON, and returns the result, the place and the note.
// An empty note means no fault. Remade calls make [Text.Most] times. The faults
// are always bad.
func (t *Text) Remade(rng *rand.Rand, make func(v any, rng *rand.Rand) (other any, place, note string)) []Fault {
	if t.Value == nil {
		return nil
	}
	var out []Fault
	seen := map[string]bool{t.with(t.Value): true}
	for range t.Most {
		other, place, note := make(cloned(t.Value), rng)
		if note == "" {
			continue
		}
		if text := t.with(other); !seen[text] {
			seen[text] = true
			out = append(out, Fault{text, place, note, Always})
		}
	}
	return out
}

// cloned returns a deep copy of a plain value.
func cloned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[name] = cloned(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = cloned(e)
		}
		return out
	}
	return v
}

// Surely returns an operator with the gate's name whose faults are always bad
// for that gate.
func Surely(name string, o Operator) Operator {
	apply := o.Apply
	o.Name = name
	o.Apply = func(t *Text, rng *rand.Rand) []Fault {
		list := apply(t, rng)
		for i := range list {
			list[i].Sure = Always
		}
		return list
	}
	return o
}
