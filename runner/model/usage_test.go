package model_test

import (
	"math"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
)

// A sum has at least the value of each part, whatever an endpoint reports.
func TestUsageDoesNotWrap(t *testing.T) {
	odd := []int{0, 1, -1, 12, math.MaxInt, math.MaxInt - 1, math.MinInt}
	costs := []float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64}
	for _, a := range odd {
		for _, b := range odd {
			for _, cost := range costs {
				u := model.Usage{Calls: a, InputTokens: a, OutputTokens: b, Cached: a, CacheWrite: b, Reasoning: b, CostUSD: cost}
				v := model.Usage{Calls: b, InputTokens: b, OutputTokens: a, Cached: b, CacheWrite: a, Reasoning: a, CostUSD: 3}
				s := u.Add(v)
				for _, n := range []int{s.Calls, s.InputTokens, s.OutputTokens, s.Cached, s.CacheWrite, s.Reasoning, s.Tokens()} {
					if n < max(a, 0) || n < max(b, 0) || n < 0 {
						t.Fatalf("%+v and %+v are %+v", u, v, s)
					}
				}
				if !(s.CostUSD >= 3) || math.IsInf(s.CostUSD, 0) {
					t.Errorf("%v dollars and 3 are %v", cost, s.CostUSD)
				}
			}
		}
	}
}

func TestUsageLess(t *testing.T) {
	a := model.Usage{Calls: 1, InputTokens: 20, OutputTokens: 3, Cached: 4, CacheWrite: 3, Reasoning: 2, CostUSD: 0.25}
	b := model.Usage{Calls: 2, InputTokens: 5, OutputTokens: 5, Cached: 1, CacheWrite: 9, Reasoning: 5, CostUSD: 0.5, Estimated: true}
	if got, want := a.Add(b).Less(b), (model.Usage{Calls: 1, InputTokens: 20, OutputTokens: 3, Cached: 4, CacheWrite: 3, Reasoning: 2, CostUSD: 0.25, Estimated: true}); got != want {
		t.Errorf("got %+v", got)
	}
	if got := a.Less(b); got.Calls != 0 || got.OutputTokens != 0 || got.CostUSD != 0 || got.InputTokens != 15 {
		t.Errorf("got %+v", got)
	}
}

func TestEstimateTokens(t *testing.T) {
	for bytes, want := range map[int]int{0: 0, 1: 1, 4: 1, 5: 2, 400: 100, math.MaxInt: math.MaxInt/4 + 1} {
		if got := model.EstimateTokens(bytes); got != want {
			t.Errorf("%d bytes: got %d", bytes, got)
		}
	}
}

func TestPriceCost(t *testing.T) {
	read, written := 1.0, 12.0
	for _, test := range []struct {
		price model.Price
		usage model.Usage
		usd   float64
	}{
		{model.Price{Input: 10, Output: 20}, model.Usage{InputTokens: 1_000_000, Cached: 500_000, CacheWrite: 100_000, OutputTokens: 1_000_000}, 30},
		{model.Price{Input: 10, Cached: &read, CacheWrite: &written, Output: 20},
			model.Usage{InputTokens: 1_000_000, Cached: 500_000, CacheWrite: 100_000, OutputTokens: 1_000_000, Reasoning: 900_000}, 0.5 + 1.2 + 4 + 20},
		{model.Price{Input: 10, CacheWrite: &written}, model.Usage{InputTokens: 1_000_000, Cached: 900_000, CacheWrite: 900_000}, 9 + 1.2},
		{model.Price{Input: 10, Cached: &read}, model.Usage{InputTokens: -5, Cached: 5, CacheWrite: -5, OutputTokens: -1}, 0},
	} {
		if usd := test.price.Cost(test.usage); math.Abs(usd-test.usd) > 1e-9 {
			t.Errorf("%+v: got %v, want %v", test.usage, usd, test.usd)
		}
	}
}
