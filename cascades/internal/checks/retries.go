package checks

import (
	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/wards"
)

// A Ward is a ward of a phase.
type Ward struct {
	Node     *yaml.Node
	ModeNode *yaml.Node
	Moment   wards.Moment
	Mode     wards.Mode
	Promoted bool   // the ward has promote_when and may run in shadow
	Waits    string // phase of File that asks a person; "" for none
	File     string // file of the cascade that the ward runs
}

// retries reports pre-wards with the mode retry.
func retries(c *Cascade, r *findings.Report) {
	for _, w := range c.Wards {
		if w.Moment == wards.Pre && w.Mode == wards.Retry {
			r.Error(w.ModeNode, codes.Value, "a pre-ward cannot retry: there is nothing to do again; use blocking, advisory or shadow")
		}
	}
}
