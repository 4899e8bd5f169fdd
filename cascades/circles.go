package cascades

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/schema"
)

// checkWays warns of phases that no way leads to, of circles without a way out,
// and of ways that are longer than a run may be. Where a name leads nowhere the
// ways are not known.
func (p *parser) checkWays() {
	if p.found.Broken() {
		return
	}
	c, r := p.cascade, newRoutes(p.cascade)
	for i, phase := range c.Phases {
		if !r.within[i] {
			p.note(Warning, phase.Position, CodeUnreached, "no way leads to phase %s", phase.Name)
		}
	}
	visits := r.toEnd(c)
	var round []string
	at := Position{}
	for i, phase := range c.Phases {
		if r.circle[i] && visits[i] == 0 {
			if round = append(round, phase.Name); len(round) == 1 {
				at = phase.Position
			}
		}
	}
	if len(round) > 0 {
		p.note(Warning, at, CodeEndless, "no way leads out of the circle of %s: the run goes on until its budget ends it", oneLine(strings.Join(round, ", "), 200))
	}
	if len(visits) == 0 { // hooks alone
		return
	}
	if n := visits[0]; n > c.Budget.MaxPhases {
		p.note(Warning, c.Phases[0].Position, CodeVisits, "even the shortest way to an end visits %d phases, and max_phases is %d", n, c.Budget.MaxPhases)
	}
}

// toEnd is the number of visits on the shortest way from each phase to an end,
// its own included; 0 where no way leads to one.
func (r *routes) toEnd(c *Cascade) []int {
	before := make([][]int, len(r.next))
	visits := make([]int, len(r.next))
	var todo []int
	for i, next := range r.next {
		for _, to := range next {
			before[to] = append(before[to], i)
		}
		if c.mayEnd(i) {
			visits[i], todo = 1, append(todo, i)
		}
	}
	for ; len(todo) > 0; todo = todo[1:] { // from the ends, in width: the first number that a phase gets is its least
		for _, i := range before[todo[0]] {
			if visits[i] == 0 {
				visits[i], todo = visits[todo[0]]+1, append(todo, i)
			}
		}
	}
	return visits
}

// mayEnd tells whether a run may end well behind the i-th phase.
func (c *Cascade) mayEnd(i int) bool {
	p := c.Phases[i]
	if slices.ContainsFunc(p.Handoffs, func(h Handoff) bool { return h.Ends }) {
		return true
	}
	leads := slices.ContainsFunc(p.Handoffs, func(h Handoff) bool { return h.When == nil })
	return i == len(c.Phases)-1 && (!leads || p.When != nil && len(p.Handoffs) > 1)
}

// A fieldRead is a field of a phase's output that something reads.
type fieldRead struct {
	phase string // whose output it is
	path  []string
	at    func() Position
}

// checkFields warns of fields that an output cannot have: its schema is closed.
func (p *parser) checkFields() {
	schemas := map[string]*schema.Schema{}
	for _, phase := range p.cascade.EveryPhase() {
		if phase.OutputSchema == nil || phase.Each != nil {
			continue
		}
		schemas[phase.Name] = phase.OutputSchema
		checks := append(slices.Concat(phase.Wards.Turn, phase.Wards.Post), phase.Rules.Loop)
		for _, c := range checks {
			if c != nil {
				p.fieldReads = append(p.fieldReads, c.Validator.ownReads(phase.Name)...)
			}
		}
	}
	for _, f := range p.fieldReads {
		s := schemas[f.phase]
		if s == nil {
			continue
		}
		if field, known := lacks(s.Source(), f.path); field == f.path[len(f.path)-1] { // else the way there is told
			p.note(Warning, f.at(), CodeField, "the output_schema of phase %s has no %q, and no room for it", f.phase, field)
			p.suggest(field, func() []string { return known })
		}
	}
}

// ownReads are the fields of the output of its own phase that an expression reads.
func (v *Validator) ownReads(phase string) []fieldRead {
	var list []fieldRead
	for _, f := range v.fields {
		if f.path[0] == "output" {
			list = append(list, fieldRead{phase, f.path[1:], f.at})
		}
	}
	return list
}

// lacks is the first name of a path that a schema leaves no room for, and the
// names that it knows there. Where anything else in the schema has a say, there is
// none.
func lacks(source any, path []string) (name string, known []string) {
	for _, name := range path {
		object, _ := source.(map[string]any)
		properties, listed := object["properties"].(map[string]any)
		for _, word := range []string{"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties"} {
			if object[word] != nil {
				return "", nil
			}
		}
		below, there := properties[name]
		switch {
		case !there && listed && object["additionalProperties"] == false:
			return name, slices.Sorted(maps.Keys(properties))
		case !there:
			return "", nil
		}
		source = below
	}
	return "", nil
}
