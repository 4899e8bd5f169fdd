package checks

import (
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// order reports a read of an output whose phase cannot run before the reader.
func order(c *Cascade, r *findings.Report) {
	steps := map[string]int{} // index of the step, by phase
	for i, s := range c.Steps {
		steps[s.Name] = i
	}
	for _, p := range c.Phases {
		if i, grouped := steps[p.Group]; grouped {
			steps[p.Name] = i
		}
	}
	for _, p := range c.Phases {
		for _, s := range p.Subs {
			delete(steps, s.ID) // the output of a sub-cascade may have the name of a phase
		}
	}
	later := map[int][]bool{}
	for _, o := range c.Outputs {
		from, known := steps[o.Phase]
		to, read := steps[o.Reader]
		if r.Full() || o.Guarded || !known || !read || from == to || !c.flow().Reached[to] {
			continue
		}
		if later[from] == nil {
			later[from] = c.flow().After(from)
		}
		if !later[from][to] {
			r.ErrorAt(o.At(), codes.Phase, "template: outputs has no %q here: phase %s never runs before %s", o.Phase, o.Phase, o.Reader)
		}
	}
}
