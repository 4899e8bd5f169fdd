package checks

import (
	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/templates"
)

// A List is the list of a phase with each. Reads contains the variables in the list.
type List struct {
	Node  *yaml.Node
	Reads []templates.Name
}

// lists warns about lists that are the text of a phase.
func lists(c *Cascade, r *findings.Report) {
	texts, returned := map[string]bool{}, map[string]bool{}
	for _, p := range c.Phases {
		texts[p.Name] = p.IsText
		for _, s := range p.Subs {
			returned[s.ID] = s.Returns || returned[s.ID]
		}
	}
	for _, l := range c.Lists {
		for _, n := range l.Reads {
			if len(n.Path) == 2 && n.Path[0] == "outputs" && texts[n.Path[1]] && !returned[n.Path[1]] {
				r.Warn(l.Node, codes.Type, "in must be a list, and phase %s gives a text: with an output_schema it gives a list", n.Path[1])
			}
		}
	}
}
