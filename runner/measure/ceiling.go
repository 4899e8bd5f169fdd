package measure

import (
	"encoding/json"
	"math"
)

// A Bound is a number that is no count's quotient, with where it lies. Value is
// NaN where it is not known.
type Bound struct {
	Value float64
	Interval
}

// Released is the share of bad texts among those that a gate lets by, however
// often one tries again: (1-p)f / (p + (1-p)f), p being the share of good first
// tries and f that of bad texts the gate lets by (Stroebl, Kapoor, Narayanan,
// arXiv 2411.17501). Where nothing is let by it is NaN.
func Released(p, f float64) float64 {
	bad := (1 - p) * f
	if p+bad == 0 {
		return math.NaN()
	}
	return bad / (p + bad)
}

// Ceiling is [Released] from two measured rates: the good among first tries, and
// the bad texts that the gate let by. Its interval has the confidence at least:
// each rate's exact interval is taken with half the doubt (Bonferroni), and the
// share falls with the first and rises with the second, so that its ends are at
// theirs. Where either rate is unknown the value is, and the interval is what the
// other still says.
func Ceiling(first, falsePass Rate, confidence float64) Bound {
	half := 1 - (1-confidence)/2
	p, f := first.Interval(half), falsePass.Interval(half)
	b := Bound{Released(first.Value(), falsePass.Value()), Interval{Released(p.High, f.Low), Released(p.Low, f.High)}}
	// At p = 0 and f = 0 nothing is released, of which nothing is said.
	if math.IsNaN(b.Low) {
		b.Low = 0
	}
	if math.IsNaN(b.High) {
		b.High = 1
	}
	return b
}

// String is "6.3 % (3.1-11.8)"; where the value is not known it is "unknown", and
// what can still be said of it.
func (b Bound) String() string {
	if math.IsNaN(b.Value) && b.Low <= 0 && b.High >= 1 {
		return "unknown"
	}
	return Percent(b.Value) + " (" + b.Interval.String() + ")"
}

// MarshalJSON writes value, low and high, the value null where it is not known.
func (b Bound) MarshalJSON() ([]byte, error) {
	type told struct {
		Value *float64 `json:"value"`
		Low   *float64 `json:"low"`
		High  *float64 `json:"high"`
	}
	t := told{Low: rounded(b.Low), High: rounded(b.High)}
	if !math.IsNaN(b.Value) {
		t.Value = rounded(b.Value)
	}
	return json.Marshal(t)
}
