package measure

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mathext"
)

// Confidence is the confidence of every interval that names no other.
const Confidence = 0.95

// A Rate is how many of how many: K of N. Of nothing it is unknown.
type Rate struct {
	K int `json:"k"`
	N int `json:"n"`
}

// An Interval is where a number lies with some confidence, both ends included.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Bounded tells whether the interval has an upper end: of too few tries there is
// none.
func (i Interval) Bounded() bool { return i.High < math.MaxFloat64 }

// MarshalJSON writes the upper end that there is not as null.
func (i Interval) MarshalJSON() ([]byte, error) {
	if !i.Bounded() {
		return json.Marshal(map[string]any{"low": i.Low, "high": nil})
	}
	type plain Interval
	return json.Marshal(plain(i))
}

// Add counts one more, among the K where it is a hit.
func (r *Rate) Add(hit bool) {
	if r.N++; hit {
		r.K++
	}
}

// Plus is both counts together.
func (r Rate) Plus(s Rate) Rate { return Rate{r.K + s.K, r.N + s.N} }

// Known tells whether the rate is of anything.
func (r Rate) Known() bool { return r.N > 0 }

// Valid tells whether there can be such a count.
func (r Rate) Valid() bool { return 0 <= r.K && r.K <= r.N }

// Value is K of N as a share, and NaN of nothing.
func (r Rate) Value() float64 {
	if r.N == 0 {
		return math.NaN()
	}
	return float64(r.K) / float64(r.N)
}

// Interval is the exact two-sided interval of Clopper and Pearson: with the
// confidence at least, whatever the true rate is. Of an unknown rate it is all
// from 0 to 1.
func (r Rate) Interval(confidence float64) Interval {
	tail := (1 - confidence) / 2
	return Interval{r.low(tail), r.high(tail)}
}

// Upper is the exact one-sided bound: the true rate is at most so much with the
// confidence. With none of n it is 1-(1-confidence)^(1/n).
func (r Rate) Upper(confidence float64) float64 { return r.high(1 - confidence) }

func (r Rate) low(tail float64) float64 {
	if r.K <= 0 {
		return 0
	}
	return mathext.InvRegIncBeta(float64(r.K), float64(r.N-r.K+1), tail)
}

func (r Rate) high(tail float64) float64 {
	switch {
	case r.K >= r.N:
		return 1
	case r.K == 0: // in closed form, which is exact for any n
		return -math.Expm1(math.Log(tail) / float64(r.N))
	}
	return mathext.InvRegIncBeta(float64(r.K+1), float64(r.N-r.K), 1-tail)
}

// String is "37 of 40, 92.5 % (79.6-98.4)", the interval being that of
// [Confidence]; of nothing it is "unknown (0 of 0)".
func (r Rate) String() string {
	if !r.Known() {
		return "unknown (0 of 0)"
	}
	return fmt.Sprintf("%d of %d, %s (%s)", r.K, r.N, Percent(r.Value()), r.Interval(Confidence))
}

// String is the interval in percent, without the sign: "79.6-98.4".
func (i Interval) String() string { return digits(i.Low) + "-" + digits(i.High) }

// Holds tells whether the number lies in the interval.
func (i Interval) Holds(v float64) bool { return i.Low <= v && v <= i.High }

// Percent is a share in percent with one digit behind the point, and with more
// where it would read as nothing or all and is neither: "92.5 %", "0.004 %".
// What is no number is "unknown".
func Percent(share float64) string {
	if math.IsNaN(share) {
		return "unknown"
	}
	return digits(share) + " %"
}

func digits(share float64) string {
	for places := 1; ; places++ {
		text := strconv.FormatFloat(100*share, 'f', places, 64)
		shown, _ := strconv.ParseFloat(text, 64)
		if share <= 0 || share >= 1 || shown != 0 && shown != 100 || places == 9 {
			return text
		}
	}
}

// MarshalJSON writes the count with the share and its interval of [Confidence],
// which are null where the rate is unknown. Only k and n are read back.
func (r Rate) MarshalJSON() ([]byte, error) { return r.json(r.Interval) }

func (r Rate) json(interval func(confidence float64) Interval) ([]byte, error) {
	type told struct {
		K    int      `json:"k"`
		N    int      `json:"n"`
		Rate *float64 `json:"rate"`
		Low  *float64 `json:"low"`
		High *float64 `json:"high"`
	}
	t := told{K: r.K, N: r.N}
	if r.Known() {
		v, i := r.Value(), interval(Confidence)
		t.Rate, t.Low, t.High = rounded(v), rounded(i.Low), rounded(i.High)
	}
	return json.Marshal(t)
}

// rounded keeps six digits behind the point, so that the same counts make the
// same bytes on every machine.
func rounded(v float64) *float64 {
	v = math.Round(v*1e6) / 1e6
	return &v
}
