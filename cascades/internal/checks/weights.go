package checks

import (
	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// A Weight is the estimated number of tokens that every request of a phase contains.
type Weight struct {
	Node   *yaml.Node // mapping of the token_budget
	Phase  string
	What   string // counted texts, for messages
	Tokens int
	Room   int // maximum number of tokens of a request
}

// weights warns about texts that exceed the token_budget.
func weights(c *Cascade, r *findings.Report) {
	for _, w := range c.Weights {
		if w.Tokens > w.Room {
			r.Warn(w.Node, codes.TokenBudget,
				"token_budget: %s of phase %s, as they stand, weigh about %d tokens (estimated), and %d may be sent", w.What, w.Phase, w.Tokens, w.Room)
		}
	}
}
