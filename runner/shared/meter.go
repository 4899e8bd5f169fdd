// Package shared is what the parallel branches of a run have in common: a meter of
// what they spend, and a merge of what they have written. It is pure but for the
// meter's lock.
package shared

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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
	again   map[string]int  // calls that are reserved for a request which is sent again, by path
	made    map[string]Made // see Meter.Made: those that this start has not come to
	ahead   model.Usage     // what they have spent
}

// Made is a call that earlier starts of a run have made.
type Made struct {
	Usage model.Usage
	Again bool // it is made again, as its answer did not come or was of no use
}

// NewMeter makes a meter with a budget, of which usage is spent already; what it
// spends parent spends too, which may be nil.
func NewMeter(parent *Meter, budget cascades.Budget, usage model.Usage) *Meter {
	return &Meter{parent: parent, budget: budget, usage: usage}
}

// Made tells of the calls below a path that earlier starts of the run have made, by
// their paths: they are spent whether this start comes to them or not, and no bound
// forbids to hear their answers again.
func (m *Meter) Made(under string, calls map[string]Made) {
	if len(calls) == 0 {
		return
	}
	m.made = map[string]Made{}
	for at, call := range calls { // no copy of all: each of many cascades within a run may have few
		if strings.HasPrefix(at, under) {
			m.made[at] = call
		}
	}
	for _, at := range slices.Sorted(maps.Keys(m.made)) { // a sum of costs hangs on the order
		m.ahead = m.ahead.Add(m.made[at].Usage)
	}
}

// A Limit is what a budget allows: its key and, in words, how much of it is used.
// The zero Limit forbids nothing.
type Limit struct {
	Key, Reached string
}

// Begin reserves the call at a path, or returns the limit that forbids it.
func (m *Meter) Begin(at string) (bound Limit) {
	if m == nil {
		return Limit{}
	}
	m.mu.Lock()
	if made, came := m.made[at]; came && !made.Again {
		m.come(at)
	} else {
		bound = m.bound()
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

// Again reserves one more call for the request at a path, whose answer did not come,
// or returns the limit that forbids it.
func (m *Meter) Again(at string) (bound Limit) {
	if m == nil {
		return Limit{}
	}
	m.mu.Lock()
	if bound = m.bound(); bound == (Limit{}) {
		m.reserve(at, 1)
	}
	m.mu.Unlock()
	if bound != (Limit{}) {
		return bound
	}
	if bound = m.parent.Again(at); bound != (Limit{}) {
		m.mu.Lock()
		m.reserve(at, -1)
		m.mu.Unlock()
	}
	return bound
}

func (m *Meter) reserve(at string, n int) {
	if m.again == nil {
		m.again = map[string]int{}
	}
	m.again[at] += n
	m.pending += n
}

// Left returns how many calls the request at a path, which has begun, may make in all:
// 0 if max_calls sets no limit.
func (m *Meter) Left() (calls int) {
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

// bound returns the limit that forbids another call. Its words are the same however
// many calls run in parallel.
func (m *Meter) bound() Limit {
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

// come takes a call from those ahead: what it has spent is told with its answer.
func (m *Meter) come(at string) {
	made, ahead := m.made[at]
	if !ahead {
		return
	}
	delete(m.made, at)
	if m.ahead = m.ahead.Less(made.Usage); len(m.made) == 0 {
		m.ahead = model.Usage{}
	}
}

// Spent ends a call that was made, and gives back its reservations.
func (m *Meter) Spent(at string, u model.Usage) {
	for ; m != nil; m = m.parent {
		m.mu.Lock()
		m.pending -= 1 + m.again[at]
		delete(m.again, at)
		m.come(at)
		m.usage = m.usage.Add(u)
		m.mu.Unlock()
	}
}

// Total is what was spent so far.
func (m *Meter) Total() model.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.usage.Add(m.ahead)
}
