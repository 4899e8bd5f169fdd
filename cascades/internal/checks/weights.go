package checks

import (
	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// A Weight is the estimated number of tokens that a phase always sends.
type Weight struct {
	Node   *yaml.Node // the token_budget
	Phase  string
	What   string // the texts that were counted
	Tokens int
	Room   int // that the token_budget leaves
}

// weights warns of texts that do not fit into the token_budget.
func weights(c *Cascade, r *findings.Report) {
	for _, w := range c.Weights {
		if w.Tokens > w.Room {
			r.Warn(w.Node, codes.TokenBudget, "token_budget: %s of phase %s, as they stand, weigh about %d tokens (estimated), and %d may be sent", w.What, w.Phase, w.Tokens, w.Room)
		}
	}
}
