package pages

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A Scope selects all runs, those of a cascade, a phase, or a gate. A gate without a phase
// means the gate in all phases.
type Scope struct{ Cascade, Phase, Gate, Moment string }

type Trend struct {
	Scope
	Spans []span // without gaps
	Whole span
}

// A span has the counts of a scope in some days.
type span struct {
	From, Until time.Time
	// N is the number of runs, of visits of a phase, or of verdicts of a gate.
	N int
	// Passed is the rate of succeeded runs, accepted attempts or passed verdicts.
	Passed stats.Rate
	// Again is the number of repeated attempts, or of a gate's failed verdicts.
	Again   int
	Errors  int // failed runs and attempts, checks without a verdict
	CostUSD float64
	Took    time.Duration // the sum of the times of models, tools and gates
}

// Retries returns the average number of retries, NaN without runs.
func (s span) Retries() float64 { return over(float64(s.Again), s.N) }

// Seconds returns the average time, NaN without runs.
func (s span) Seconds() float64 { return over(s.Took.Seconds(), s.N) }

func over(sum float64, n int) float64 {
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// A TrendReport is the trend of a scope and of its parts: cascades, or phases and gates.
type TrendReport struct {
	Trend
	Parts []Trend // the most frequent first
	More  int     // parts that are left out
	// Capped reports whether the limit of the filter left out older runs.
	Capped bool
}

const maxParts = 100

// sums reports whether the scope is the sum of scopes such as o.
func (s Scope) sums(o Scope) bool {
	if s.Gate == "" {
		return s == Scope{} && o.Phase == ""
	}
	return o.Gate == s.Gate && (s.Moment == "" || s.Moment == o.Moment) && (s.Cascade == "" || s.Cascade == o.Cascade) && (s.Phase == "" || s.Phase == o.Phase)
}

// has reports whether o is a part of the scope.
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

// compare orders cascades by runs, and phases before their gates.
func compare(a, b Trend) int {
	if a.Phase == "" && b.Phase == "" {
		return cmp.Or(cmp.Compare(b.Whole.N, a.Whole.N), strings.Compare(a.Cascade, b.Cascade))
	}
	return cmp.Or(strings.Compare(a.Cascade, b.Cascade), strings.Compare(a.Phase, b.Phase), strings.Compare(a.Gate, b.Gate), strings.Compare(a.Moment, b.Moment))
}
