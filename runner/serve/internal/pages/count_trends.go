package pages

import (
	"cmp"
	"math"
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
	Spans []span // one behind the other, without a gap
	Whole span
}

// A span is what a scope came to in a stretch of days.
type span struct {
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
func (s span) Retries() float64 { return over(float64(s.Again), s.N) }

// Seconds is how long one took on average, NaN of none.
func (s span) Seconds() float64 { return over(s.Took.Seconds(), s.N) }

func over(sum float64, n int) float64 {
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// A TrendReport is a scope with its parts: cascades of all, phases and gates of one.
type TrendReport struct {
	Trend
	Parts []Trend // the most frequent first, at most 100
	More  int     // parts that are left out
	// Capped reports whether the filter's limit left out older runs.
	Capped bool
}

// maxParts is how many parts a report has at most.
const maxParts = 100

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

func (s *span) try(a *journal.Attempt, again bool) {
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

func (s *span) verdict(v *journal.Judgement) {
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

func (s *span) plus(o span) {
	s.N, s.Passed, s.Again, s.Errors = s.N+o.N, s.Passed.Plus(o.Passed), s.Again+o.Again, s.Errors+o.Errors
	s.CostUSD, s.Took = s.CostUSD+o.CostUSD, s.Took+o.Took
}

// compare puts cascades with more runs first, then phases before their gates.
func compare(a, b Trend) int {
	if a.Phase == "" && b.Phase == "" {
		return cmp.Or(cmp.Compare(b.Whole.N, a.Whole.N), strings.Compare(a.Cascade, b.Cascade))
	}
	return cmp.Or(strings.Compare(a.Cascade, b.Cascade), strings.Compare(a.Phase, b.Phase), strings.Compare(a.Gate, b.Gate), strings.Compare(a.Moment, b.Moment))
}
