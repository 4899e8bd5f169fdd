package checks

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
)

// An Output is a phase whose output a template or an expression reads.
type Output struct {
	Phase   string
	Reader  string // the phase that reads it
	Guarded bool   // the reader works without it
	At      func() syntax.Position
}

// outputs reports reads of outputs that no phase and no sub-cascade has.
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
