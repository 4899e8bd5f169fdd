package checks

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
)

// An Output is a read of the output of a phase, in a template or an expression.
type Output struct {
	Phase   string
	Reader  string // phase that reads the output
	Guarded bool   // the reader accepts a missing output
	At      func() syntax.Position
}

// outputs reports reads of an output that no phase or sub-cascade has.
func outputs(c *Cascade, r *findings.Report) {
	known := map[string]bool{}
	for _, p := range c.Phases {
		known[p.Name] = true
		for _, s := range p.Subs {
			known[s.ID] = true
		}
	}
	for _, o := range c.Outputs {
		if r.Full() {
			return
		}
		if o.Guarded || known[o.Phase] {
			continue
		}
		if i := slices.IndexFunc(c.Steps, func(s Step) bool { return strings.HasPrefix(s.Name, o.Phase+"-") }); i >= 0 {
			r.ErrorAt(o.At(), codes.Phase, "template: - subtracts: write outputs['%s']", c.Steps[i].Name)
			continue
		}
		r.ErrorAt(o.At(), codes.Phase, "template: outputs has no %q: no phase is called so", o.Phase)
		r.Suggest(o.Phase, func() []string { return slices.Sorted(maps.Keys(known)) })
	}
}
