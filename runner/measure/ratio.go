package measure

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Ratio is what a success takes on average: all that was spent, on what failed
// too, over how often it succeeded.
type Ratio struct {
	n, hits              int
	spent, squares, both float64
}

// Add counts one try.
func (r *Ratio) Add(spent float64, hit bool) {
	r.n++
	r.spent, r.squares = r.spent+spent, r.squares+spent*spent
	if hit {
		r.hits++
		r.both += spent
	}
}

// Value is the ratio, NaN where nothing succeeded.
func (r *Ratio) Value() float64 {
	if r.hits == 0 {
		return math.NaN()
	}
	return r.spent / float64(r.hits)
}

// Interval is about where the ratio lies with the confidence, by the variance of
// the logarithm of a ratio of means (the delta method): it wants some thirty tries
// at least, and of seldom and dear ones many more. Where nothing succeeded it is
// all from 0 on.
func (r *Ratio) Interval(confidence float64) Interval {
	if r.hits == 0 || r.n < 2 {
		return Interval{0, math.MaxFloat64}
	}
	v := r.Value()
	left := r.squares - 2*v*r.both + v*v*float64(r.hits)
	n := float64(r.n)
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(1 - (1-confidence)/2)
	half := t * math.Sqrt(max(left, 0)*n/(n-1)) / float64(r.hits)
	if v == 0 {
		return Interval{}
	}
	return Interval{v * math.Exp(-half/v), v * math.Exp(half/v)}
}
