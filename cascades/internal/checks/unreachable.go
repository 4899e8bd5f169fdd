package checks

import "github.com/seed61713e19/capstan/cascades/internal/findings"

// unreachable warns of phases that no way leads to.
func unreachable(c *Cascade, r *findings.Report) {
	for i, s := range c.Steps {
		if !c.flow().Reached[i] {
			r.WarnAt(s.Position, findings.CodeUnreached, "no way leads to phase %s", s.Name)
		}
	}
}
