package checks

import (
	"cmp"
	"slices"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/windlass"
)

// A Variable is an unknown variable in a template.
type Variable struct {
	Name  string
	Known []string // variables that the template may read
	At    syntax.Position
}

// variables reports unknown variables. If the name belongs to an input or a phase, it suggests
// input.NAME or outputs.NAME.
func variables(c *Cascade, r *findings.Report) {
	for _, v := range c.Variables {
		w, _ := windlass.Find("variable", v.Name)
		r.ErrorAt(v.At, codes.Variable,
			"template: no variable is called %q here; %s", v.Name, cmp.Or(w.Advice, "there are "+reader.Alternatives(v.Known)))
		r.Suggest(v.Name, func() []string { return v.Known })
		_, phase := c.Lines[v.Name]
		switch {
		case c.Declared[v.Name] && slices.Contains(v.Known, "input"):
			r.Propose("input."+v.Name, false)
		case phase && slices.Contains(v.Known, "outputs"):
			r.Propose("outputs."+v.Name, false)
		default:
			continue
		}
		r.PlaceFix(v.Name)
	}
}
