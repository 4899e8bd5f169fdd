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

// A Variable is a variable that a template reads although its place has no such variable.
type Variable struct {
	Name  string
	Known []string // the variables of the place
	At    syntax.Position
}

// variables reports unknown variables. For the name of an input or a phase, it suggests where
// to read the value.
func variables(c *Cascade, r *findings.Report) {
	for _, v := range c.Variables {
		w, _ := windlass.Find("variable", v.Name)
		r.ErrorAt(v.At, codes.Variable, "template: no variable is called %q here; %s", v.Name, cmp.Or(w.Advice, "there are "+reader.Alternatives(v.Known)))
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
