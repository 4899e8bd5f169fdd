// Package shared is what the parallel branches of a run have in common: a meter of
// what they spend, and a merge of what they have written. It is pure but for the
// meter's lock.
package shared

import (
	"maps"
	"slices"
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
	made    map[string]model.Usage // see Made: those that this start has not come to
	ahead   model.Usage            // what they have spent
}

// NewMeter makes a meter with a budget, of which usage is spent already; what it
// spends parent spends too, which may be nil.
func NewMeter(parent *Meter, budget cascades.Budget, usage model.Usage) *Meter {
	return &Meter{parent: parent, budget: budget, usage: usage}
}

// Made tells of the calls that earlier starts of the run have made, by their paths:
// they are spent whether this start comes to them or not, and no bound forbids to
// hear their answers again.
func (m *Meter) Made(calls map[string]model.Usage) {
	m.made = maps.Clone(calls)
	for _, at := range slices.Sorted(maps.Keys(calls)) { // a sum of costs hangs on the order
		m.ahead = m.ahead.Add(calls[at])
	}
}

// again tells whether the call was made already, and takes it from those ahead.
func (m *Meter) again(at string) bool {
	u, made := m.made[at]
	if !made {
		return false
	}
	delete(m.made, at)
	if m.ahead = m.ahead.Less(u); len(m.made) == 0 {
		m.ahead = model.Usage{}
	}
	return true
}

// Begin reserves the call at a path, or says which bound forbids it.
func (m *Meter) Begin(at string) (bound string) {
	if m == nil {
		return ""
	}
	m.mu.Lock()
	again, all := m.again(at), m.usage.Add(m.ahead)
	switch b := m.budget; {
	case again:
		m.pending++
	case b.MaxCalls > 0 && all.Calls >= b.MaxCalls-m.pending:
		bound = "max_calls"
	case b.MaxTokens > 0 && all.Tokens() >= b.MaxTokens:
		bound = "max_tokens"
	case b.MaxCostUSD > 0 && all.CostUSD >= b.MaxCostUSD:
		bound = "max_cost_usd"
	default:
		m.pending++
	}
	m.mu.Unlock()
	if bound != "" {
		return bound
	}
	if bound = m.parent.Begin(at); bound != "" {
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
	return m.usage.Add(m.ahead)
}
