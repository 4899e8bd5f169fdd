package capy

import (
	"fmt"
	"math"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// marginals are the scenarios' own probabilities, every one that is stated.
func (r *run) marginals() []reading.Statement {
	var list []reading.Statement
	for _, s := range r.doc.Statements {
		if s.Metric == reading.Probability && s.Scenario > 0 && !s.Has(reading.Range|reading.Absent) {
			list = append(list, s)
		}
	}
	return list
}

// within holds each probability to 0 and 1.
func (r *run) within(f *findings, b Bound) {
	var bare reading.Tally // those without a percent sign
	list := r.marginals()
	for _, s := range list {
		if !s.Has(reading.Percent) {
			bare.Add(s)
		}
	}
	for _, s := range list {
		chance(f, b, s, &bare)
	}
	for i := range r.doc.Tallies {
		t := &r.doc.Tallies[i]
		for _, s := range t.Bad {
			chance(f, b, s, t)
		}
	}
}

// chance holds one probability to the bound in the unit of its list.
func chance(f *findings, b Bound, s reading.Statement, t *reading.Tally) {
	v := s.Value
	sure := s.Has(reading.Percent) || v < 0 || v > 100
	if !s.Has(reading.Percent) && !t.Percents() {
		v *= 100
		sure = sure || t.Fractions()
	} else {
		sure = true
	}
	severity, why := b.check(reading.Probability, v)
	switch {
	case severity == "":
	case !sure:
		f.warn(s.At, "A probability of %s could be %s or %s: say which, with a percent sign", trimFloat(s.Value), show(reading.Probability, 100*s.Value), show(reading.Probability, s.Value))
	case severity == Fail:
		f.fail(s.At, "%s", why)
	default:
		f.warn(s.At, "%s", why)
	}
}

// sums holds the sum of the joint states to the bound, or, only where there
// are none, of the scenarios' own, which else need not sum to anything.
func (r *run) sums(f *findings, b Bound) {
	var off *reading.Tally
	joint, whole := false, 1
	for i := range r.doc.Tallies {
		t := &r.doc.Tallies[i]
		joint = joint || t.N > 1
		if t.N < 2 || t.Top {
			continue
		}
		if severity, _ := b.check(reading.ProbabilitySum, sumInPercent(t)); severity == "" {
			whole = max(whole, t.N)
		} else if off == nil || t.N > off.N {
			off = t
		}
	}
	if off != nil && off.N >= whole { // fewer are some of those that add up
		sum(f, b, off.At, sumInPercent(off), fmt.Sprintf("the %d joint states", off.N))
		return
	}
	if list := r.firsts(); len(list) > 1 && !joint {
		var t reading.Tally
		for _, s := range list {
			t.Add(s)
		}
		sum(f, b, list[0].At, sumInPercent(&t), fmt.Sprintf("the %d scenarios", len(list)))
	}
}

// firsts are the probabilities of the scenarios that are named, one for each;
// none if one is without.
func (r *run) firsts() []reading.Statement {
	var first [reading.ScenarioCount + 1]*reading.Statement
	list := r.marginals()
	for i := range list {
		s := &list[i]
		if first[s.Scenario] == nil || first[s.Scenario].State == reading.Earlier && s.State != reading.Earlier {
			first[s.Scenario] = s
		}
	}
	var out []reading.Statement
	for n := 1; n < len(first); n++ {
		if first[n] != nil {
			out = append(out, *first[n])
		} else if r.doc.Scenarios[n].Line > 0 {
			return nil
		}
	}
	return out
}

// sumInPercent is a tally's sum in percent; where not all of the states are
// shown, what the list says they come to.
func sumInPercent(t *reading.Tally) float64 {
	v := t.Sum
	if t.Total > 0 && math.Abs(t.Total-v) > 0.06*t.Total {
		v = t.Total
	}
	if t.Percents() || t.Total > 20 {
		return v
	}
	return 100 * v
}

func sum(f *findings, b Bound, at reading.Place, percent float64, what string) {
	severity, _ := b.check(reading.ProbabilitySum, percent)
	shown := trimFloat(math.Round(percent*100) / 10000)
	switch severity {
	case Fail:
		f.fail(at, "The probabilities of %s sum to %s: want %s", what, shown, b.span())
	case Warn:
		f.warn(at, "The probabilities of %s sum to %s: want %s", what, shown, b.span())
	}
}

// span writes the bound of a sum, 0.95 to 1.05.
func (b Bound) span() string {
	low, high := "any", "any"
	if b.WarnBelow != nil {
		low = trimFloat(*b.WarnBelow / 100)
	}
	if b.WarnAbove != nil {
		high = trimFloat(*b.WarnAbove / 100)
	}
	return low + " to " + high
}
