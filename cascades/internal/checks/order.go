package checks

import (
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// order reports reads of the output of a phase that cannot run before its reader.
func order(c *Cascade, r *findings.Report) {
	steps := map[string]int{} // by phase
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
			delete(steps, s.ID) // its output may have the name of a phase
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
