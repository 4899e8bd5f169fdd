package checks

import (
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// formRules reports rules that have no effect for the form of their phase.
func formRules(c *Cascade, r *findings.Report) {
	for _, p := range c.Phases {
		i := p.form()
		if i < 0 || forms[i].key == "tool" && p.Call == nil { // the tool has an error, so the kind of phase is unknown
			continue
		}
		for _, key := range forms[i].rules {
			if n := p.Rules[key]; n != nil {
				r.Error(n, codes.Conflict, "%s means nothing here: phase %s %s", key, p.Name, forms[i].does)
			}
		}
	}
}
