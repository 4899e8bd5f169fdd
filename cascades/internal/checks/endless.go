package checks

import (
	"strings"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/reports"
)

// endless warns about loops without an exit.
func endless(c *Cascade, r *findings.Report) {
	visits := c.flow().ToEnd()
	var circle []string
	var at syntax.Position
	for i, s := range c.Steps {
		if c.flow().Circle[i] && visits[i] == 0 {
			if circle = append(circle, s.Name); len(circle) == 1 {
				at = s.Position
			}
		}
	}
	if len(circle) > 0 {
		r.WarnAt(at, codes.Endless,
			"no way leads out of the circle of %s: the run goes on until its budget ends it", reports.Fit(strings.Join(circle, ", "), 200))
	}
}
