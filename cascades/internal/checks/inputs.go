package checks

import (
	"maps"
	"slices"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
)

// An InputRead is an input that a template reads.
type InputRead struct {
	Name string
	At   func() syntax.Position
}

// inputs warns about inputs that inputs_schema does not declare. Without declared inputs, it
// does nothing.
func inputs(c *Cascade, r *findings.Report) {
	for _, in := range c.InputReads {
		if len(c.Declared) > 0 && !c.Declared[in.Name] {
			r.WarnAt(in.At(), codes.Undeclared, "template: inputs_schema has no %q", in.Name)
			r.Suggest(in.Name, func() []string { return slices.Sorted(maps.Keys(c.Declared)) })
		}
	}
}
