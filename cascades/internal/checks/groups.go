package checks

import (
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// groups reports phases that read another phase of their own group. It also reports references
// that lead into a group or out of it.
func groups(c *Cascade, r *findings.Report) {
	group := map[string]string{} // name of the group, by phase
	for _, p := range c.Phases {
		if p.Group != "" {
			group[p.Name] = p.Group
		}
	}
	for _, o := range c.Outputs {
		if g := group[o.Phase]; g != "" && o.Reader != o.Phase && g == group[o.Reader] {
			r.ErrorAt(o.At(), codes.Phase, "phase %s runs beside phase %s, in group %s, and cannot read its output", o.Reader, o.Phase, g)
		}
	}
	for _, one := range c.References {
		switch g := group[one.Name]; {
		case one.Key == "context" && g != "" && g == group[one.From]:
			r.Error(one.Node, codes.Phase, "phase %s runs beside phase %s, in group %s, and gives it no output", one.Name, one.From, g)
		case one.Key == "context":
		case g != "":
			r.Error(one.Node, codes.Phase, "%s: phase %s is part of group %s: lead to the group", one.Key, one.Name, g)
		case group[one.From] != "":
			r.Error(one.Node, codes.Phase, "%s: phase %s is part of group %s, and a group is left as a whole", one.Key, one.From, group[one.From])
		}
	}
}
