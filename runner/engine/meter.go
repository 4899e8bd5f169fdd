package engine

import (
	"sync"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/model"
)

// A meter holds what a run has spent and lets no call begin that its budget
// forbids. The parallel branches of a run share it. A nested cascade's meter
// spends its parent's too.
type meter struct {
	parent *meter
	budget cascades.Budget

	mu      sync.Mutex
	usage   model.Usage
	pending int
}

// begin reserves one call, or says which bound forbids it.
func (m *meter) begin() (bound string) {
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
	if bound = m.parent.begin(); bound != "" {
		m.end(model.Usage{})
	}
	return bound
}

// end gives back the reservation and notes what the call has spent.
func (m *meter) end(u model.Usage) {
	m.mu.Lock()
	m.pending--
	m.usage = m.usage.Add(u)
	m.mu.Unlock()
}

// spent ends a call that was made.
func (m *meter) spent(u model.Usage) {
	for ; m != nil; m = m.parent {
		m.end(u)
	}
}

func (m *meter) total() model.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.usage
}
