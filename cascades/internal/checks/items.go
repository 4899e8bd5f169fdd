package checks

import (
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// items reports phases that ask a person or let a model choose for every item of a list. These
// phases run their items in parallel.
func items(c *Cascade, r *findings.Report) {
	for _, p := range c.Phases {
		if !p.Text.Each {
			continue
		}
		p.conflict(r, "human_input", "human_input cannot stand beside each: put a phase that asks behind %s", p.What)
		if p.Asks {
			r.Error(p.Node, codes.Conflict, "ask_human cannot stand beside each: put a phase that asks behind %s", p.What)
		}
		if p.Chooses {
			p.conflict(r, "handoffs", "the model of an item cannot choose where the run goes: give the handoffs of %s conditions, or name one", p.What)
		}
	}
}
