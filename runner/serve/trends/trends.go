// Package trends tells what kept runs came to, day by day: how often they passed,
// how often they tried again, what they cost and how long they took, as a whole and
// for each cascade, or each phase and gate of one.
//
// In come the runs and their attempts, in any order, those of other runs passed
// over; out comes a [Report]. It reads
// no store, knows no page and no clock but the times that it is given. All counts
// stand at the day on which their run began, UTC.
package trends

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/measure"
)

// A Scope is what is looked at: all runs, those of a cascade, a phase of it, or a
// gate there. A gate may be looked at without a phase, over all that have it.
type Scope struct{ Cascade, Phase, Gate, Moment string }

// A Trend is what a scope came to.
type Trend struct {
	Scope
	Spans []Span // one behind the other, without a gap
	Whole Span
}

// A Span is what a scope came to in a stretch of days.
type Span struct {
	From, Until time.Time
	// N is how many there were: runs, or tries of a phase, or verdicts of a gate.
	N int
	// Passed is how many were let out: runs that succeeded of those that ended with
	// an answer or a no; attempts that were accepted; verdicts that were a yes.
	Passed measure.Rate
	// Again is how many attempts came after a first one; of a gate, how often it
	// said no.
	Again   int
	Errors  int // runs and attempts that failed, verdicts that could not be given
	CostUSD float64
	Took    time.Duration // of models, tools and gates, one after the other
}

// Retries is how many further attempts one took on average, NaN of none.
func (s Span) Retries() float64 { return over(float64(s.Again), s.N) }

// Seconds is how long one took on average, NaN of none.
func (s Span) Seconds() float64 { return over(s.Took.Seconds(), s.N) }

func over(sum float64, n int) float64 {
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// A Report is a scope with its parts: cascades of all, phases and gates of one.
type Report struct {
	Trend
	Parts []Trend // the most frequent first, at most 100
	More  int     // parts that are left out
}

// maxParts is how many parts a report has at most.
const maxParts = 100

// Ask counts what the scope came to from since until until. A since that is zero
// begins with the first run. An error is that of the attempts.
func Ask(scope Scope, since, until time.Time, runs []journal.Summary, attempts iter.Seq2[journal.Attempt, error]) (*Report, error) {
	for _, r := range runs {
		if since.IsZero() || r.Started.Before(since) {
			since = r.Started
		}
	}
	c := &counter{scope: scope, cuts: cuts(since, until), found: map[Scope]*Trend{}, runs: map[string]string{}}
	for _, r := range runs {
		c.run(r)
	}
	for a, err := range attempts {
		if err != nil {
			return nil, err
		}
		c.attempt(&a)
	}
	return c.report(), nil
}

// A counter makes a report.
type counter struct {
	scope Scope
	cuts  []time.Time
	found map[Scope]*Trend
	runs  map[string]string // their cascades
}

// of is the span of a scope that a time lies in, nil where none does.
func (c *counter) of(s Scope, at time.Time) *Span {
	i, on := slices.BinarySearchFunc(c.cuts, at, time.Time.Compare)
	if !on {
		i--
	}
	if i < 0 || i >= len(c.cuts)-1 {
		return nil
	}
	t := c.found[s]
	if t == nil {
		t = &Trend{Scope: s, Spans: make([]Span, len(c.cuts)-1)}
		for n := range t.Spans {
			t.Spans[n].From, t.Spans[n].Until = c.cuts[n], c.cuts[n+1]
		}
		c.found[s] = t
	}
	return &t.Spans[i]
}

// add counts something for the scope as a whole, for a part of it, or for both.
func (c *counter) add(at time.Time, s Scope, count func(*Span)) {
	if s == c.scope || c.scope.sums(s) {
		if span := c.of(c.scope, at); span != nil {
			count(span)
		}
	}
	if s != c.scope && c.scope.has(s) {
		if span := c.of(s, at); span != nil {
			count(span)
		}
	}
}

// sums tells whether the scope is the sum of scopes like the other one: all runs of
// those of cascades, a gate anywhere of those in phases.
func (s Scope) sums(o Scope) bool {
	if s.Gate == "" {
		return s == Scope{} && o.Phase == ""
	}
	return o.Gate == s.Gate && (s.Moment == "" || s.Moment == o.Moment) && (s.Cascade == "" || s.Cascade == o.Cascade) && (s.Phase == "" || s.Phase == o.Phase)
}

// has tells whether the other is a part that is told apart.
func (s Scope) has(o Scope) bool {
	if s.Gate != "" || s == (Scope{}) {
		return s.sums(o)
	}
	return o.Phase != "" && s.Cascade == o.Cascade && (s.Phase == "" || s.Phase == o.Phase)
}

// run counts a run as a whole; what it cost and took its attempts tell.
func (c *counter) run(r journal.Summary) {
	c.runs[r.RunID] = r.CascadeID
	c.add(r.Started, Scope{Cascade: r.CascadeID}, func(s *Span) {
		s.N++
		s.CostUSD += r.Usage.CostUSD
		switch r.Status {
		case "succeeded":
			s.Passed.Add(true)
		case "blocked", "exhausted", "over_budget":
			s.Passed.Add(false)
		case "failed":
			s.Errors++
		}
	})
}

// attempt counts one for its run, its phase and the gates that spoke.
func (c *counter) attempt(a *journal.Attempt) {
	cascade, known := c.runs[a.RunID]
	if !known {
		return
	}
	again := a.Number > 1 && !a.Edited
	c.add(a.Started, Scope{Cascade: cascade}, func(s *Span) {
		s.Took += a.Took
		if again {
			s.Again++
		}
	})
	if a.Phase == "" {
		return
	}
	if a.Number > 0 && !a.Edited {
		c.add(a.Started, Scope{Cascade: cascade, Phase: a.Phase}, func(s *Span) { s.try(a, again) })
	}
	for i := range a.Verdicts {
		v := &a.Verdicts[i]
		if v.Valid == nil && !v.Broke {
			continue // it was not asked
		}
		c.add(a.Started, Scope{Cascade: cascade, Phase: a.Phase, Gate: v.Validator, Moment: v.Moment}, func(s *Span) { s.verdict(v) })
	}
}

func (s *Span) try(a *journal.Attempt, again bool) {
	s.CostUSD, s.Took = s.CostUSD+a.Usage.CostUSD, s.Took+a.Took
	if again {
		s.Again++
	} else {
		s.N++
	}
	switch a.Outcome {
	case "succeeded":
		s.Passed.Add(true)
	case "retry", "blocked", "exhausted":
		s.Passed.Add(false)
	case "failed":
		s.Errors++
	}
}

func (s *Span) verdict(v *journal.Judgement) {
	s.N++
	s.CostUSD, s.Took = s.CostUSD+v.Usage.CostUSD, s.Took+v.Took
	switch {
	case v.Valid == nil:
		s.Errors++
	case *v.Valid:
		s.Passed.Add(true)
	default:
		s.Passed.Add(false)
		s.Again++
	}
}

func (s *Span) plus(o Span) {
	s.N, s.Passed, s.Again, s.Errors = s.N+o.N, s.Passed.Plus(o.Passed), s.Again+o.Again, s.Errors+o.Errors
	s.CostUSD, s.Took = s.CostUSD+o.CostUSD, s.Took+o.Took
}

func (c *counter) report() *Report {
	c.of(c.scope, c.cuts[0]) // it is there, also where nothing happened
	r := &Report{}
	for s, t := range c.found {
		t.Whole = Span{From: c.cuts[0], Until: c.cuts[len(c.cuts)-1]}
		for _, span := range t.Spans {
			t.Whole.plus(span)
		}
		if s == c.scope {
			r.Trend = *t
		} else {
			r.Parts = append(r.Parts, *t)
		}
	}
	slices.SortFunc(r.Parts, compare)
	if r.More = max(len(r.Parts)-maxParts, 0); r.More > 0 {
		r.Parts = r.Parts[:maxParts]
	}
	return r
}

// compare puts cascades with more runs first, then phases before their gates.
func compare(a, b Trend) int {
	if a.Phase == "" && b.Phase == "" {
		return cmp.Or(cmp.Compare(b.Whole.N, a.Whole.N), strings.Compare(a.Cascade, b.Cascade))
	}
	return cmp.Or(strings.Compare(a.Cascade, b.Cascade), strings.Compare(a.Phase, b.Phase), strings.Compare(a.Gate, b.Gate), strings.Compare(a.Moment, b.Moment))
}
