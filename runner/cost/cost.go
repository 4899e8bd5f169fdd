// Package cost tells what an accepted output of a phase costs, and would cost with
// another budget, another ladder of models, or an earlier end of what leads
// nowhere.
//
// In come the kept attempts of a cascade's runs ([Builder.Add], in the order of
// the runs); out comes a [Report] of each phase: how often an attempt is accepted
// where those before it were not, by its number, by the model that wrote, by the
// gate that said no and by the reason, one that comes twice in a row told apart;
// what an accepted output costs as it stands; and what the same runs would have
// cost otherwise.
//
// A shorter budget, or giving up on a reason that comes again, is what was kept cut
// shorter: nothing is supposed of it. A ladder is put together of models as they
// did at the same attempt of other tries, so that it supposes that whose no came
// before does not matter; a model at an attempt at which it was hardly ever seen
// is in none. Nothing is said of what no run has tried. The first half of the runs
// chooses an advice, and the second half must show that it saves.
package cost

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/measure"
)

// A Report tells what accepted outputs cost.
type Report struct {
	CascadeID  string   `json:"cascade_id"`
	Runs       int      `json:"runs"`
	Unfinished int      `json:"unfinished"` // outputs that are not over, and are left out
	Shared     int      `json:"shared"`     // outputs of which another run had a text, and that are left out too
	Phases     []*Phase `json:"phases"`
}

// A Phase is what its accepted outputs cost.
type Phase struct {
	Phase     string       `json:"phase"`
	Now       Option       `json:"now"`
	ByAttempt []Step       `json:"by_attempt"`
	ByRung    []Step       `json:"by_rung"`
	ByGate    []After      `json:"by_gate"`
	ByReason  []After      `json:"by_reason"`
	Fresh     measure.Rate `json:"after_new_reason"`  // accepted next, after a reason that was not that of the attempt before
	Again     measure.Rate `json:"after_same_reason"` // accepted next, after one that was
	Others    []Option     `json:"others"`
	Advice    *Option      `json:"advice"`      // nil where the runs show no cheaper way
	Tested    int          `json:"tested_runs"` // that advice was looked for in
	Released  string       `json:"released"`    // the bad among the released texts, in words; "" if nobody has asked
}

// An Option is what the runs cost in one way of doing them.
type Option struct {
	Name     string            `json:"name"`
	Attempts int               `json:"attempts,omitempty"` // of a conversation at most; 0 where the name says otherwise
	Accepted measure.Rate      `json:"accepted"`           // of the outputs; of a ladder, as it is expected of as many
	Price    Price             `json:"price"`
	Around   *measure.Interval `json:"interval"` // of its money, or of its calls where there is none; nil of a ladder
	Saving   float64           `json:"saving"`   // of the price as it stands: 0.2 is a fifth
	Saves    *measure.Interval `json:"saves"`    // of an advice, where its saving lies by 95 % confidence
	Check    *Check            `json:"check"`    // nil where there are too few runs
}

// A Price is what one accepted output takes, what was not accepted included.
type Price struct {
	CostUSD float64 `json:"cost_usd"`
	Calls   float64 `json:"model_calls"`
	Seconds float64 `json:"seconds"`
	Input   float64 `json:"input_tokens"`
	Cached  float64 `json:"cached_tokens"` // of Input, read from the cache of the endpoint
}

// of is the number that options are compared by: money where there is any, else
// calls.
func (p Price) of(money bool) float64 {
	if money {
		return p.CostUSD
	}
	return p.Calls
}

// A Check holds what the first half of the runs says against the second.
type Check struct {
	Predicted float64 `json:"predicted"`
	Came      float64 `json:"came"`
	Error     float64 `json:"error"` // of what came: 0.1 is a tenth too much

	// Expected is where it comes to in 95 cases of 100, by the chance of both
	// halves alone; nil where that is not known, as of a ladder.
	Expected *measure.Interval `json:"expected"`
}

// A Step is how often an attempt of a number, by a model where one is named, was
// accepted where those before it were not, and what one takes.
type Step struct {
	Attempt  int          `json:"attempt"`
	Model    string       `json:"model,omitempty"`
	Accepted measure.Rate `json:"accepted"`
	Price    Price        `json:"price"` // of one attempt
}

// After is how often the next attempt was accepted after a no.
type After struct {
	Gate   string       `json:"gate"`
	Reason string       `json:"reason,omitempty"` // without its numbers
	Next   measure.Rate `json:"next"`             // where the attempt before did not fail for the same
	Again  measure.Rate `json:"again"`            // where it did
}

// phase makes the report of one phase.
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
	p.ByAttempt, p.ByRung = h.byAttempt(), h.byRung()
	p.ByGate, p.ByReason = sorted(t.gates), sorted(t.reasons)
	t.options(p, h)
	return p
}

// after counts what came after the i-th attempt, which was refused.
func (t *tally) after(p *Phase, attempts []one, i int, o one) {
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

// sorted lists what came after noes, the most frequent first.
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
