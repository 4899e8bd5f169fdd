package parallel

import (
	"math"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/model"
)

// Pending calls count too, even beside the largest number.
func TestMeterCountsPending(t *testing.T) {
	m := &Meter{budget: cascades.Budget{MaxCalls: math.MaxInt}, pending: 1}
	if got := m.Begin("p"); got != (Limit{}) {
		t.Errorf("nothing is spent: %q", got)
	}
	m.usage.Calls = math.MaxInt
	if got := m.Begin("p"); got.Key != "max_calls" {
		t.Errorf("all is spent: %q", got)
	}
}

// An exhausted budget stays exhausted, whatever cost a model reports.
func TestMeterDoesNotWrap(t *testing.T) {
	for bound, b := range map[string]cascades.Budget{
		"max_calls":    {MaxCalls: 10},
		"max_tokens":   {MaxTokens: 10},
		"max_cost_usd": {MaxCostUSD: 10},
	} {
		for _, then := range []model.Usage{
			{Calls: math.MaxInt, InputTokens: math.MaxInt, OutputTokens: math.MaxInt, CostUSD: math.Inf(1)},
			{Calls: -100, InputTokens: math.MinInt, OutputTokens: -100, CostUSD: -100},
			{CostUSD: math.NaN()},
			{InputTokens: math.MaxInt, OutputTokens: 1},
		} {
			m := &Meter{budget: b, parent: &Meter{budget: b}}
			for _, u := range []model.Usage{{Calls: 10, InputTokens: 5, OutputTokens: 5, CostUSD: 10}, then, then} {
				m.mu.Lock()
				m.pending++ // as begin does, which then lets no other call through
				m.mu.Unlock()
				m.parent.pending++
				m.End("p", u)
			}
			if got := m.Begin("p"); got.Key != bound {
				t.Errorf("%s: after %+v: %q", bound, then, got)
			}
			if got := m.parent.Begin("p"); got.Key != bound {
				t.Errorf("%s, of the parent: after %+v: %q", bound, then, got)
			}
			if u := m.Total(); u.Calls < 10 || u.Tokens() < 10 || !(u.CostUSD >= 10) {
				t.Errorf("%+v", u)
			}
		}
	}
}
