package batch

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed61713e19/capstan/internal/measures/stats"
)

// A Mean is the mean of a stream of numbers.
type Mean struct {
	N          int
	mean, sum2 float64 // Welford's algorithm
	ones, none int     // counts of 1 and of 0
}

// Add adds a number.
func (m *Mean) Add(v float64) {
	m.N++
	d := v - m.mean
	m.mean += d / float64(m.N)
	m.sum2 += d * (v - m.mean)
	switch v {
	case 1:
		m.ones++
	case 0:
		m.none++
	}
}

// An Estimate is a mean with its interval of [stats.Confidence]. Without numbers, the mean is
// unknown. The interval is unknown for one number, or for a few equal numbers.
type Estimate struct {
	Value float64
	stats.Interval
	N int
}

// Estimate returns the mean. If all shares are 0 or 1, the interval is exact (Clopper and Pearson).
// Otherwise it is Student's interval of independent rows.
func (m *Mean) Estimate(shares bool) Estimate {
	e := Estimate{Value: m.mean, N: m.N, Interval: stats.Interval{Low: math.Inf(-1), High: math.Inf(1)}}
	switch {
	case m.N == 0:
		e.Value = math.NaN()
	case shares && m.ones+m.none == m.N:
		e.Interval = stats.Rate{K: m.ones, N: m.N}.Interval(stats.Confidence)
	case m.informative():
		half := stats.Student(m.N, stats.Confidence) * math.Sqrt(m.sum2/float64(m.N-1)/float64(m.N))
		e.Interval = stats.Interval{Low: m.mean - half, High: m.mean + half}
	}
	return e
}

// informative reports whether Student's interval is meaningful. The width is 0 for equal numbers,
// which are informative if there are at least six of them.
func (m *Mean) informative() bool {
	return m.sum2 > 0 || (stats.Rate{K: m.N, N: m.N}).Interval(stats.Confidence).Low > 0.5
}

// clamped limits the interval of a share to 0 and 1.
func (e Estimate) clamped() Estimate {
	e.Low, e.High = max(e.Low, 0), min(e.High, 1)
	return e
}

// Differs reports whether the interval excludes 0.
func (e Estimate) Differs() bool { return e.N > 1 && !e.Holds(0) }

// MarshalJSON writes value, low, high and n. Unknown numbers are null.
func (e Estimate) MarshalJSON() ([]byte, error) {
	rounded := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		v = math.Round(v*1e6) / 1e6
		return &v
	}
	return json.Marshal(struct {
		Value *float64 `json:"value"`
		Low   *float64 `json:"low"`
		High  *float64 `json:"high"`
		N     int      `json:"n"`
	}{rounded(e.Value), rounded(e.Low), rounded(e.High), e.N})
}

// Share returns the estimate of a share in percent.
func (e Estimate) Share() string {
	e = e.clamped()
	if math.IsNaN(e.Value) {
		return "unknown"
	}
	return fmt.Sprintf("%s (%s)", stats.Percent(e.Value), e.Interval)
}
