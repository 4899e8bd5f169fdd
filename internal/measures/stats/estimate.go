package stats

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed61713e19/capstan/internal/measures/stats/internal/sequential"
)

// A Stratum counts the labelled texts whose draws have one weight, see [Draw.Weight].
type Stratum struct {
	Weight float64   `json:"weight" jsonschema:"of a draw: 1 for a random one"`
	Texts  Confusion `json:"texts"`
}

// A Tally counts labelled texts by the weights of their draws, the largest weight first. Its rates
// are estimates for the texts from which the draws were made.
type Tally []Stratum

// Add counts one text. A text without a weight is not counted.
func (t *Tally) Add(weight float64, good, passed bool) {
	if weight <= 0 {
		return
	}
	i, found := slices.BinarySearchFunc(*t, weight, func(s Stratum, w float64) int { return cmp.Compare(w, s.Weight) })
	if !found {
		*t = slices.Insert(*t, i, Stratum{Weight: weight})
	}
	(*t)[i].Texts.Add(good, passed)
}

// Texts returns the counts of all weights together.
func (t Tally) Texts() (all Confusion) {
	for _, s := range t {
		all = all.Plus(s.Texts)
	}
	return all
}

// Random returns the counts of the random draws.
func (t Tally) Random() Confusion {
	if len(t) > 0 && t[0].Weight == 1 {
		return t[0].Texts
	}
	return Confusion{}
}

// Valid reports whether the counts and the weights are possible.
func (t Tally) Valid() bool {
	return !slices.ContainsFunc(t, func(s Stratum) bool {
		n := s.Texts
		return min(n.GoodPassed, n.GoodRefused, n.BadPassed, n.BadRefused) < 0 || !(s.Weight > 0 && s.Weight <= 1)
	})
}

// FalsePass returns the share of bad texts that the gate passed.
func (t Tally) FalsePass() Estimate { return t.of(Confusion.FalsePass) }

// FalseBlock returns the share of good texts that the gate refused.
func (t Tally) FalseBlock() Estimate { return t.of(Confusion.FalseBlock) }

// BadReleased returns the share of bad texts among those that passed.
func (t Tally) BadReleased() Estimate {
	return t.of(func(c Confusion) Rate { return Rate{c.BadPassed, c.BadPassed + c.GoodPassed} })
}

func (t Tally) of(rate func(Confusion) Rate) (e Estimate) {
	for _, s := range t {
		if r := rate(s.Texts); r.Known() {
			e.K, e.N = e.K+r.K, e.N+r.N
			e.counts = append(e.counts, sequential.Count{Weight: s.Weight, K: r.K, N: r.N})
		}
	}
	return e
}

// An Estimate is a rate from labels: K of the N texts that people labelled, with an interval that
// holds at every look. Draws that are not random are weighted.
type Estimate struct {
	K, N   int
	counts []sequential.Count
}

// Known reports whether there are texts.
func (e Estimate) Known() bool { return e.N > 0 }

// Weighted reports whether a text was not drawn at random.
func (e Estimate) Weighted() bool {
	return slices.ContainsFunc(e.counts, func(c sequential.Count) bool { return c.Weight != 1 })
}

// Value returns the share, or NaN without texts.
func (e Estimate) Value() float64 {
	var hits, all float64
	for _, c := range e.counts {
		hits, all = hits+c.Weight*float64(c.K), all+c.Weight*float64(c.N)
	}
	return hits / all
}

// Interval returns where the share lies, with the confidence, at every look.
func (e Estimate) Interval(confidence float64) Interval {
	low, high := sequential.Interval(e.counts, confidence)
	return Interval{low, high}
}

// Upper returns the one-sided bound: with the confidence, the share is at most the bound at every
// look.
func (e Estimate) Upper(confidence float64) float64 { return sequential.Upper(e.counts, confidence) }

// mostLabels is the largest number that [Estimate.More] returns.
const mostLabels = 10_000

// More returns the number of further random draws without a hit after which
// [Estimate.Upper] is within the limit. Its maximum is 10,000.
func (e Estimate) More(limit, confidence float64) int {
	return sequential.More(e.counts, limit, confidence, mostLabels)
}

// String returns "70 of 262, 26.7 % (17.9-37.2)" with the interval of [Confidence], or
// "unknown".
func (e Estimate) String() string {
	if !e.Known() {
		return "unknown"
	}
	weighted := ""
	if e.Weighted() {
		weighted = " weighted"
	}
	return fmt.Sprintf("%d of %d, %s%s (%s)", e.K, e.N, Percent(e.Value()), weighted, e.Interval(Confidence))
}

// MarshalJSON writes the count with the share and its interval of [Confidence],
// which are null where the share is unknown.
func (e Estimate) MarshalJSON() ([]byte, error) {
	return marshal(Rate{e.K, e.N}, e.Value(), e.Interval(Confidence))
}
