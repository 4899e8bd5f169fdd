package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Confidence is the default confidence of intervals.
const Confidence = 0.95

// A Rate is K of N. It is unknown if N is 0.
type Rate struct {
	K int `json:"k"`
	N int `json:"n"`
}

// An Interval contains a number with some confidence. Both ends are included.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Bounded reports whether the interval has an upper end.
func (i Interval) Bounded() bool { return i.High < math.MaxFloat64 }

// MarshalJSON writes a missing upper end as null.
func (i Interval) MarshalJSON() ([]byte, error) {
	if !i.Bounded() {
		return json.Marshal(map[string]any{"low": i.Low, "high": nil})
	}
	type plain Interval
	return json.Marshal(plain(i))
}

// Add adds a trial. A hit adds 1 to K.
func (r *Rate) Add(hit bool) {
	if r.N++; hit {
		r.K++
	}
}

// Plus returns the sum of both counts.
func (r Rate) Plus(s Rate) Rate { return Rate{r.K + s.K, r.N + s.N} }

// Known reports whether N is above 0.
func (r Rate) Known() bool { return r.N > 0 }

// Valid reports whether the counts are possible.
func (r Rate) Valid() bool { return 0 <= r.K && r.K <= r.N }

// Value returns the share, or NaN if it is unknown.
func (r Rate) Value() float64 {
	if r.N == 0 {
		return math.NaN()
	}
	return float64(r.K) / float64(r.N)
}

// Interval returns the exact two-sided interval of Clopper and Pearson: its confidence is at
// least as stated, whatever the true rate is. The interval of an unknown rate is 0 to 1.
func (r Rate) Interval(confidence float64) Interval {
	return proportion(float64(r.K), float64(r.N), (1-confidence)/2)
}

// proportion returns the interval of Clopper and Pearson. k and n need not be integers.
func proportion(k, n, tail float64) Interval {
	i := Interval{0, 1}
	if k > 0 {
		i.Low = betaQuantile(k, n-k+1, tail)
	}
	switch {
	case k >= n:
	case k == 0: // the closed form is exact for any n
		i.High = -math.Expm1(math.Log(tail) / n)
	default:
		i.High = betaQuantile(k+1, n-k, 1-tail)
	}
	return i
}

// String returns "37 of 40, 92.5 % (79.6-98.4)" with the interval of [Confidence], or "unknown (0
// of 0)".
func (r Rate) String() string {
	if !r.Known() {
		return "unknown (0 of 0)"
	}
	return r.with(r.Interval(Confidence))
}

// with returns a known rate with an interval.
func (r Rate) with(i Interval) string {
	return fmt.Sprintf("%d of %d, %s (%s)", r.K, r.N, Percent(r.Value()), i)
}

// String returns the interval in percent without the sign: "79.6-98.4".
func (i Interval) String() string { return digits(i.Low) + "-" + digits(i.High) }

// Holds reports whether the interval contains v.
func (i Interval) Holds(v float64) bool { return i.Low <= v && v <= i.High }

// Percent returns a share in percent with one decimal: "92.5 %". It has more decimals if the share
// would look like 0 % or 100 %: "0.004 %". NaN is "unknown".
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

// MarshalJSON writes the count with the share and its interval of [Confidence]. They are null if
// the rate is unknown.
func (r Rate) MarshalJSON() ([]byte, error) { return marshal(r, r.Value(), r.Interval(Confidence)) }

// marshal writes a count with a share and an interval.
func marshal(r Rate, share float64, i Interval) ([]byte, error) {
	plain := struct {
		K    int      `json:"k"`
		N    int      `json:"n"`
		Rate *float64 `json:"rate"`
		Low  *float64 `json:"low"`
		High *float64 `json:"high"`
	}{K: r.K, N: r.N}
	if r.Known() {
		plain.Rate, plain.Low, plain.High = rounded(share), rounded(i.Low), rounded(i.High)
	}
	return json.Marshal(plain)
}

// rounded rounds to six decimals, so that all machines write the same JSON.
func rounded(v float64) *float64 {
	v = math.Round(v*1e6) / 1e6
	return &v
}
