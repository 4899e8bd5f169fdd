package checks

import (
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// visits warns if the shortest route to an end has more phases than max_phases allows.
func visits(c *Cascade, r *findings.Report) {
	if len(c.Steps) == 0 { // a file of hooks
		return
	}
	if n := c.flow().ToEnd()[0]; n > c.MaxPhases {
		r.WarnAt(c.Steps[0].Position, codes.Visits, "even the shortest way to an end visits %d phases, and max_phases is %d", n, c.MaxPhases)
	}
}
