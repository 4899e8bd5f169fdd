package checks

import (
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// unreachable warns about phases that the run cannot reach.
func unreachable(c *Cascade, r *findings.Report) {
	for i, s := range c.Steps {
		if !c.flow().Reached[i] {
			r.WarnAt(s.Position, codes.Unreached, "no way leads to phase %s", s.Name)
		}
	}
}
