package checks

import (
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/wards"
)

// waits reports wards in shadow mode whose cascade asks a person.
func waits(c *Cascade, r *findings.Report) {
	for _, w := range c.Wards {
		if w.Waits != "" && (w.Mode == wards.Shadow || w.Promoted) {
			r.Error(w.Node, codes.Conflict, "a ward in shadow waits for nobody, and phase %s of %s asks a person", w.Waits, w.File)
		}
	}
}
