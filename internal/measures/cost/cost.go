// Package cost computes the cost of an accepted output of a phase, and estimates the cost with
// other settings: fewer attempts, other fallback models, or an end after a repeated reason.
//
// The input is the stored attempts of a cascade's runs ([Builder.Add], in the order of the runs).
// The output is a [Result]. For each phase it has the share of attempts that are accepted after
// earlier rejections, by number, model, gate and reason.
//
// Fewer attempts are computed by cutting the stored runs. Other fallback models are combined from
// the results of each model at each attempt. This assumes that the author of the rejected text does
// not matter. Combinations that no run has tried are not estimated.
package cost

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/measures/stats"
)

// A Result is the cost of accepted outputs.
type Result struct {
	CascadeID  string   `json:"cascade_id"`
	Runs       int      `json:"runs"`
	Unfinished int      `json:"unfinished"` // outputs that have not ended
	Shared     int      `json:"shared"`     // outputs that share a text with another run
	Phases     []*Phase `json:"phases"`
}

// A Phase is the cost of its accepted outputs.
type Phase struct {
	Phase        string     `json:"phase"`
	Current      Option     `json:"current"`
	ByAttempt    []Step     `json:"by_attempt"`
	ByModel      []Step     `json:"by_model"`
	ByGate       []After    `json:"by_gate"`
	ByReason     []After    `json:"by_reason"`
	Fresh        stats.Rate `json:"after_new_reason"`  // of attempts after a new reason
	Again        stats.Rate `json:"after_same_reason"` // of attempts after a repeated reason
	Alternatives []Option   `json:"alternatives"`
	Advice       *Option    `json:"advice"`      // nil if the runs show no cheaper way
	Tested       int        `json:"tested_runs"` // runs in which advice was searched
	Released     string     `json:"released"`    // the bad released texts, in words; may be ""
}

// An Option is the cost of the runs with some settings.
type Option struct {
	Name     string          `json:"name"`
	Attempts int             `json:"attempts,omitempty"` // maximum number in a conversation; 0 for other settings
	Accepted stats.Rate      `json:"accepted"`           // for fallback models, the expected number
	Price    Price           `json:"price"`
	Interval *stats.Interval `json:"interval"`        // of the money, or of the calls without money; nil for fallback models
	Saving   float64         `json:"saving"`          // share of the present price: 0.2 is a fifth
	Saves    *stats.Interval `json:"saving_interval"` // 95 % interval of the saving of an advice
	Check    *Check          `json:"check"`           // nil if there are too few runs
}

// A Price is the cost of one accepted output, with the cost of other outputs.
type Price struct {
	CostUSD float64 `json:"cost_usd"`
	Calls   float64 `json:"model_calls"`
	Seconds float64 `json:"seconds"`
	Input   float64 `json:"input_tokens"`
	Cached  float64 `json:"cached_tokens"` // part of Input
}

// of returns the number for comparisons: the money if there is any, or else the calls.
func (p Price) of(money bool) float64 {
	if money {
		return p.CostUSD
	}
	return p.Calls
}

// A Check compares the first half of the runs with the second.
type Check struct {
	Predicted float64 `json:"predicted"`
	Actual    float64 `json:"actual"`
	Error     float64 `json:"error"` // 0.1 is 10 % too much

	// Expected is the 95 % interval of Actual by chance alone; nil if it is unknown.
	Expected *stats.Interval `json:"expected"`
}

// A Step is the share of accepted attempts after earlier rejections, by number and model.
type Step struct {
	Attempt  int        `json:"attempt"`
	Model    string     `json:"model,omitempty"`
	Accepted stats.Rate `json:"accepted"`
	Price    Price      `json:"price"` // of one attempt
}

// After is the share of attempts that are accepted after a rejection.
type After struct {
	Gate   string     `json:"gate"`
	Reason string     `json:"reason,omitempty"` // without its numbers
	Next   stats.Rate `json:"next"`             // after a new reason
	Again  stats.Rate `json:"again"`            // after a repeated reason
}

// phase returns the result of one phase.
func (t *tally) phase(name string) *Phase {
	p := &Phase{Phase: name}
	for _, made := range t.outputs {
		for _, tried := range made.tries {
			for i, o := range tried.attempts[:len(tried.attempts)-1] {
				t.after(p, tried.attempts, i, o)
			}
		}
	}
	h := seen(t.outputs)
	p.ByAttempt, p.ByModel = h.byAttempt(), h.byModel()
	p.ByGate, p.ByReason = sorted(t.gates), sorted(t.reasons)
	t.options(p, h)
	return p
}

// after counts the attempt after the i-th one.
func (t *tally) after(p *Phase, attempts []attempt, i int, o attempt) {
	again := i > 0 && attempts[i-1].reason == o.reason
	next := attempts[i+1].accepted
	g, r := t.gates[o.gate], t.reasons[[2]string{o.gate, o.reason}]
	if g == nil {
		g = &After{Gate: o.gate}
		t.gates[o.gate] = g
	}
	if r == nil {
		r = &After{Gate: o.gate, Reason: o.reason}
		t.reasons[[2]string{o.gate, o.reason}] = r
	}
	if again {
		p.Again.Add(next)
		g.Again.Add(next)
		r.Again.Add(next)
	} else {
		p.Fresh.Add(next)
		g.Next.Add(next)
		r.Next.Add(next)
	}
}

// sorted returns the list, the most frequent first.
func sorted[K comparable](all map[K]*After) []After {
	list := make([]After, 0, len(all))
	for _, a := range all {
		list = append(list, *a)
	}
	slices.SortFunc(list, func(a, b After) int {
		return cmp.Or(cmp.Compare(b.Next.N+b.Again.N, a.Next.N+a.Again.N), strings.Compare(a.Gate, b.Gate), strings.Compare(a.Reason, b.Reason))
	})
	return list
}
