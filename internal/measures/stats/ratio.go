package stats

import "math"

// A Ratio is the average cost of a success, with the cost of failures.
type Ratio struct {
	n, hits              int
	spent, squares, both float64
	dearest              float64
}

// Add adds a trial.
func (r *Ratio) Add(spent float64, hit bool) {
	r.n++
	r.spent, r.squares, r.dearest = r.spent+spent, r.squares+spent*spent, max(r.dearest, spent)
	if hit {
		r.hits++
		r.both += spent
	}
}

// Value returns the ratio, or NaN without a success.
func (r *Ratio) Value() float64 {
	if r.hits == 0 {
		return math.NaN()
	}
	return r.spent / float64(r.hits)
}

// Interval returns an approximate interval of the ratio, from the variance of the logarithm of a
// ratio of means (the delta method). It adds one failure at the highest cost, because rare failures
// may be missing in a small number of trials. It needs about thirty trials. With rare and expensive
// failures, it holds less often than stated. Without a success, it has no upper end.
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

// Ahead returns the interval of the [Ratio] of future trials. v is the ratio so far, and i is its
// interval. share is the number of past trials per future trial.
func (i Interval) Ahead(v, share float64) Interval {
	if v <= 0 || i.High <= v || !i.Bounded() {
		return i
	}
	half := math.Log(i.High/v) * math.Sqrt(1+share)
	return Interval{v * math.Exp(-half), v * math.Exp(half)}
}

// Student returns the number of standard errors by which the mean of n numbers, at least
// two, deviates at most with the confidence: the quantile of Student's distribution.
func Student(n int, confidence float64) float64 {
	nu := float64(n - 1)
	t := betaQuantile(nu/2, 0.5, 1-confidence)
	return math.Sqrt(nu * (1 - t) / t)
}
