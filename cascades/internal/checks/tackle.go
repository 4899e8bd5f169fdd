package checks

import (
	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// A Tool is a tool in the tackle of a phase.
type Tool struct {
	Node    *yaml.Node
	Name    string
	Ungated bool // the tool writes, and no enforcing ward checks its calls
}

// tackle warns about tools that write without a check of their calls.
func tackle(c *Cascade, r *findings.Report) {
	for _, p := range c.Phases {
		for _, t := range p.Tools {
			if t.Ungated {
				r.Warn(t.Node, codes.Ungated,
					"tool %s writes, and no blocking or retrying tool ward of phase %s looks at its calls before they act", t.Name, p.Name)
			}
		}
	}
}
