// Package parallel supports the parallel branches of a run. A [Meter] counts
// and limits their costs, and a [Merge] joins their changes. Begin with
// [Meter.Begin].
package parallel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/model"
)

// A Meter counts the costs of a run and prevents calls that exceed its budget.
// The parallel branches of a run share it. The meter of a nested cascade also
// charges its parent.
type Meter struct {
	parent *Meter
	budget cascades.Budget

	mu      sync.Mutex
	usage   model.Usage
	pending int
	retries map[string]int         // calls reserved for retries, by path
	earlier map[string]EarlierCall // calls of earlier starts that this start has not reached
	ahead   model.Usage            // their total cost
}

// An EarlierCall is a call of an earlier start of the run.
type EarlierCall struct {
	Usage model.Usage
	Again bool // the call is repeated, because its answer was missing or unusable
}

// NewMeter returns a meter with a budget and the usage so far. It charges
// parent too, which may be nil.
func NewMeter(parent *Meter, budget cascades.Budget, usage model.Usage) *Meter {
	return &Meter{parent: parent, budget: budget, usage: usage}
}

// AddEarlier adds the calls of earlier starts below a path, by their paths.
// They count as spent even if this start does not reach them. No limit prevents
// reading their answers again.
func (m *Meter) AddEarlier(under string, calls map[string]EarlierCall) {
	if len(calls) == 0 {
		return
	}
	m.earlier = map[string]EarlierCall{}
	for at, call := range calls { // no copy of all: many nested cascades have few calls
		if strings.HasPrefix(at, under) {
			m.earlier[at] = call
		}
	}
	for _, at := range slices.Sorted(maps.Keys(m.earlier)) { // sorted, because the sum of floats depends on the order
		m.ahead = m.ahead.Add(m.earlier[at].Usage)
	}
}

// A Limit is an exhausted part of a budget: its key and a description of the
// usage. The zero Limit means that the call may begin.
type Limit struct {
	Key, Reached string
}

// Begin reserves the call at a path, or returns the limit that prevents it.
func (m *Meter) Begin(at string) (bound Limit) {
	if m == nil {
		return Limit{}
	}
	m.mu.Lock()
	if made, found := m.earlier[at]; found && !made.Again {
		m.settle(at)
	} else {
		bound = m.limit()
	}
	if bound == (Limit{}) {
		m.pending++
	}
	m.mu.Unlock()
	if bound != (Limit{}) {
		return bound
	}
	if bound = m.parent.Begin(at); bound != (Limit{}) {
		m.mu.Lock()
		m.pending--
		m.mu.Unlock()
	}
	return bound
}

// BeginRetry reserves one more call for the request at a path whose answer is
// missing, or returns the limit that prevents it.
func (m *Meter) BeginRetry(at string) (bound Limit) {
	if m == nil {
		return Limit{}
	}
	m.mu.Lock()
	if bound = m.limit(); bound == (Limit{}) {
		m.reserve(at, 1)
	}
	m.mu.Unlock()
	if bound != (Limit{}) {
		return bound
	}
	if bound = m.parent.BeginRetry(at); bound != (Limit{}) {
		m.mu.Lock()
		m.reserve(at, -1)
		m.mu.Unlock()
	}
	return bound
}

func (m *Meter) reserve(at string, n int) {
	if m.retries == nil {
		m.retries = map[string]int{}
	}
	m.retries[at] += n
	m.pending += n
}

// Remaining returns how many calls the running request at a path may make in
// total. It returns 0 if max_calls sets no limit.
func (m *Meter) Remaining() (calls int) {
	for ; m != nil; m = m.parent {
		m.mu.Lock()
		if most := m.budget.MaxCalls; most > 0 {
			left := max(most-m.usage.Add(m.ahead).Calls-m.pending+1, 1)
			if calls == 0 || left < calls {
				calls = left
			}
		}
		m.mu.Unlock()
	}
	return calls
}

// limit returns the limit that prevents another call. The description does not
// depend on the number of parallel calls.
func (m *Meter) limit() Limit {
	all := m.usage.Add(m.ahead)
	switch b := m.budget; {
	case b.MaxCalls > 0 && all.Calls >= b.MaxCalls-m.pending:
		return Limit{"max_calls", fmt.Sprintf("%d of %[1]d calls used", b.MaxCalls)}
	case b.MaxTokens > 0 && all.Tokens() >= b.MaxTokens:
		return Limit{"max_tokens", fmt.Sprintf("all %d tokens used", b.MaxTokens)}
	case b.MaxCostUSD > 0 && all.CostUSD >= b.MaxCostUSD:
		return Limit{"max_cost_usd", fmt.Sprintf("all of $%v used", b.MaxCostUSD)}
	}
	return Limit{}
}

// settle removes a call from the earlier ones, because its cost is now charged
// with its answer.
func (m *Meter) settle(at string) {
	made, ahead := m.earlier[at]
	if !ahead {
		return
	}
	delete(m.earlier, at)
	if m.ahead = m.ahead.Less(made.Usage); len(m.earlier) == 0 {
		m.ahead = model.Usage{}
	}
}

// End charges the cost of a call and returns its reservations.
func (m *Meter) End(at string, u model.Usage) {
	for ; m != nil; m = m.parent {
		m.mu.Lock()
		m.pending -= 1 + m.retries[at]
		delete(m.retries, at)
		m.settle(at)
		m.usage = m.usage.Add(u)
		m.mu.Unlock()
	}
}

// Total returns the cost so far.
func (m *Meter) Total() model.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.usage.Add(m.ahead)
}
