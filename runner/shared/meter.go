// Package shared is what the parallel branches of a run have in common: a meter of
// what they spend, and a merge of what they have written. It is pure but for the
// meter's lock.
package shared

import (
	"sync"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/model"
)

// A Meter holds what a run has spent and lets no call begin that its budget
// forbids. The parallel branches of a run share it. A nested cascade's meter
// spends its parent's too.
type Meter struct {
	parent *Meter
	budget cascades.Budget

	mu      sync.Mutex
	usage   model.Usage
	pending int
}

// NewMeter makes a meter with a budget, of which usage is spent already; what it
// spends parent spends too, which may be nil.
func NewMeter(parent *Meter, budget cascades.Budget, usage model.Usage) *Meter {
	return &Meter{parent: parent, budget: budget, usage: usage}
}

// Begin reserves one call, or says which bound forbids it.
func (m *Meter) Begin() (bound string) {
	if m == nil {
		return ""
	}
	m.mu.Lock()
	switch b := m.budget; {
	case b.MaxCalls > 0 && m.usage.Calls >= b.MaxCalls-m.pending:
		bound = "max_calls"
	case b.MaxTokens > 0 && m.usage.Tokens() >= b.MaxTokens:
		bound = "max_tokens"
	case b.MaxCostUSD > 0 && m.usage.CostUSD >= b.MaxCostUSD:
		bound = "max_cost_usd"
	default:
		m.pending++
	}
	m.mu.Unlock()
	if bound != "" {
		return bound
	}
	if bound = m.parent.Begin(); bound != "" {
		m.end(model.Usage{})
	}
	return bound
}

// end gives back the reservation and notes what the call has spent.
func (m *Meter) end(u model.Usage) {
	m.mu.Lock()
	m.pending--
	m.usage = m.usage.Add(u)
	m.mu.Unlock()
}

// Spent ends a call that was made.
func (m *Meter) Spent(u model.Usage) {
	for ; m != nil; m = m.parent {
		m.end(u)
	}
}

// Total is what was spent so far.
func (m *Meter) Total() model.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.usage
}
