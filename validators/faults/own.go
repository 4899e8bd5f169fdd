package faults

import (
	"math/rand/v2"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// Rewriting is a gate's own operator: each match of a pattern in the text becomes
// what a template of [regexp.Regexp.Expand] makes of it, and is bad for sure.
func Rewriting(name, description, pattern, template string) Operator {
	compiled := patterns.Lazy(pattern)
	return Operator{name, description, placed(func(t *Text, _ *rand.Rand, add func(...site)) {
		for _, at := range compiled().FindAllStringSubmatchIndex(t.Content, -1) {
			with := string(compiled().ExpandString(nil, template, t.Content, at))
			add(site{at[0], at[1], with, description + ": " + became(t.Content[at[0]:at[1]], with), Always})
		}
	})}
}

// Gone in place of a value takes it out, see [Revaluing].
var Gone any = gone{}

// Revaluing is a gate's own operator: each value of the text's JSON for which a
// function gives another becomes that one, and is bad for sure. Name is that of
// the value's field, "" of an element of a list, and in that of the field that
// the list or object around it stands in.
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

// Remade is for a gate's own operators that look at the whole of the text's JSON:
// each makes another of a copy, which it may change, and tells where and what it
// did; without a note it has found no place. It is asked [Text.Most] times, and
// what it makes is bad for sure.
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

// cloned is a plain value with lists and objects of its own.
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

// Surely is an operator under a gate's own name whose every fault is bad for sure
// where that gate stands.
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
