package checks

import "github.com/seed61713e19/capstan/cascades/internal/findings"

// members reports groups and handoffs of phases that are members of a group.
func members(c *Cascade, r *findings.Report) {
	for _, p := range c.Phases {
		if p.Within != "" {
			p.conflict(r, "together", "groups cannot stand within groups: list the phases of %s beside the others", p.What)
			p.conflict(r, "handoffs", "%s is part of %s: the group's own handoffs say where the run goes on", p.What, p.Within)
		}
	}
}
