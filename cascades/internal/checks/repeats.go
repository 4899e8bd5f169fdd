package checks

import (
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// repeats warns about phases that repeat a call of their tool with the same arguments.
func repeats(c *Cascade, r *findings.Report) {
	for _, p := range c.Phases {
		if p.Call != nil && p.Call.Repeats {
			r.Warn(p.Call.Node, codes.Feedback,
				"a retry ward calls the tool of phase %s again, and its inputs read neither validation_error nor attempt: it gets the same arguments", p.Name)
		}
	}
}
