package faults

import (
	"math/rand/v2"
	"regexp"
)

// Rewritten is for a gate's own operators: each match of a pattern in the text
// becomes what a template of [regexp.Regexp.Expand] makes of it, and is bad for
// sure.
func (t *Text) Rewritten(rng *rand.Rand, pattern *regexp.Regexp, template, note string) []Fault {
	var sites []site
	for _, at := range pattern.FindAllStringSubmatchIndex(t.Content, -1) {
		with := string(pattern.ExpandString(nil, template, t.Content, at))
		sites = append(sites, site{at[0], at[1], with, note + ": " + became(t.Content[at[0]:at[1]], with), Always})
	}
	return t.plant(rng, sites)
}

// Gone in place of a value takes it out, see [Text.Revalued].
var Gone any = gone{}

// Revalued is for a gate's own operators: each value of the text's JSON for which
// a function gives another becomes that one, and is bad for sure. Name is that of
// the value's field, "" of an element of a list, and in that of the field that
// the list or object around it stands in.
func (t *Text) Revalued(rng *rand.Rand, other func(in, name string, v any) (value any, changed bool), note string) []Fault {
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
		return value, note, Always
	})
}
