package checks

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// A Guard is the name of a tool in a ward around tools.
type Guard struct {
	Node *yaml.Node
	Tool string
}

// guards reports the tools of wards that are not in the tackle of the phase.
func guards(c *Cascade, r *findings.Report) {
	for _, p := range c.Phases {
		var tools []string
		for _, t := range p.Tools {
			tools = append(tools, t.Name)
		}
		for _, g := range p.Guards {
			if !slices.Contains(tools, g.Tool) {
				r.Error(g.Node, codes.Tool, "phase %s has no tool %q in its tackle", p.Name, g.Tool)
				r.Suggest(g.Tool, func() []string { return tools })
			}
		}
	}
}
