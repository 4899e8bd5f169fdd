package checks

import (
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// exhausted reports the on_exhausted of a gate, if it would release a text that the gate
// rejects.
func exhausted(c *Cascade, r *findings.Report) {
	for _, p := range c.Phases {
		if p.Releases != "" {
			r.Error(p.Rules["on_exhausted"], codes.Conflict, "on_exhausted: %s means nothing here: what the gate of phase %s refuses is not let out; name a phase to go to", p.Releases, p.Name)
		}
	}
}
