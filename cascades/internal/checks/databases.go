package checks

import (
	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A Database is a database of the file.
type Database struct {
	Node  *yaml.Node // key of the database
	Name  string
	Asked bool // a phase uses it
}

// databases warns about databases that no phase uses.
func databases(c *Cascade, r *findings.Report) {
	for _, d := range c.Databases {
		if !d.Asked {
			r.Warn(d.Node, codes.Unused,
				"no phase uses database %s: add %s to the tackle of a phase, or make it the tool of one", d.Name, tool.SQLQuery)
		}
	}
}
