package checks

import (
	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// An Unread is an input for a nested cascade that neither declares nor reads it.
type Unread struct {
	Node    *yaml.Node
	Name    string
	Cascade string
	Inputs  []string // inputs that the cascade declares
}

// unread warns about inputs that have no effect.
func unread(c *Cascade, r *findings.Report) {
	for _, u := range c.Unread {
		r.Warn(u.Node, codes.Undeclared, "cascade %s has no input %q, and does not read it", u.Cascade, u.Name)
		r.Suggest(u.Name, func() []string { return u.Inputs })
	}
}
