package checks

import (
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/wards"
)

// moments reports wards for a moment that the phase does not have.
func moments(c *Cascade, r *findings.Report) {
	for _, p := range c.Phases {
		conflict := func(key, format string, args ...any) {
			if n := p.Wards[key]; n != nil {
				r.Error(n, codes.Conflict, format, args...)
			}
		}
		for _, m := range []wards.Moment{wards.Turn, wards.Tool, wards.Result} {
			switch key := string(m); {
			case p.Call != nil, p.Text.Composes:
				conflict(key, "%s wards are for a model; phase %s has none", key, p.Name)
			case m != wards.Turn && len(p.Tools) == 0:
				conflict(key, "%s wards are for tools; phase %s has no tackle", key, p.Name)
			}
		}
		if p.Text.Composes {
			conflict("pre", "pre-wards guard what comes before a text is made; phase %s composes it: use post", p.Name)
		}
	}
}
