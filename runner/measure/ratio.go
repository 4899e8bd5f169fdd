package measure

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// A Ratio is what a success takes on average: all that was spent, on what failed
// too, over how often it succeeded.
type Ratio struct {
	n, hits              int
	spent, squares, both float64
	dearest              float64
}

// Add counts one try.
func (r *Ratio) Add(spent float64, hit bool) {
	r.n++
	r.spent, r.squares, r.dearest = r.spent+spent, r.squares+spent*spent, max(r.dearest, spent)
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
// the logarithm of a ratio of means (the delta method), and one failure more as dear
// as the dearest try, since of seldom ones a few tries have too few. It wants some
// thirty tries at least, and where those are seldom and dear it holds less often
// than it says. Where nothing succeeded it is all from 0 on.
func (r *Ratio) Interval(confidence float64) Interval {
	if r.hits == 0 || r.n < 2 {
		return Interval{0, math.MaxFloat64}
	}
	v := r.Value()
	left := r.squares - 2*v*r.both + v*v*float64(r.hits) + r.dearest*r.dearest
	n := float64(r.n)
	half := Student(r.n, confidence) * math.Sqrt(max(left, 0)*n/(n-1)) / float64(r.hits)
	if v == 0 {
		return Interval{}
	}
	return Interval{v * math.Exp(-half/v), v * math.Exp(half/v)}
}

// Ahead is where a [Ratio] of tries to come lies, of which v is that of the tries
// so far and i its interval: both vary by chance, those to come the more the fewer
// they are. Share is how many tries there were for each that comes.
func (i Interval) Ahead(v, share float64) Interval {
	if v <= 0 || i.High <= v || !i.Bounded() {
		return i
	}
	half := math.Log(i.High/v) * math.Sqrt(1+share)
	return Interval{v * math.Exp(-half), v * math.Exp(half)}
}

// Student is how many standard errors the mean of n numbers, two at least, lies off
// at most with the confidence: the quantile of Student's distribution. It is asked as
// one of the beta distribution's, for the package that has it by name (gonum's distuv)
// brings twenty others, of matrices and of optimization, into the program.
func Student(n int, confidence float64) float64 {
	nu := float64(n - 1)
	t := mathext.InvRegIncBeta(nu/2, 0.5, 1-confidence)
	return math.Sqrt(nu * (1 - t) / t)
}
