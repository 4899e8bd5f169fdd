package batch

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed61713e19/capstan/runner/measure"
)

// A Mean is the mean of so many numbers, which it does not keep.
type Mean struct {
	N          int
	mean, sum2 float64 // Welford's
	ones, none int     // that are 1, and 0
}

// Add takes one more.
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

// An Estimate is a mean and where it lies with the confidence of
// [measure.Confidence]. It is unknown where N is 0, and its interval where that is
// 1, or where there are few and all the same.
type Estimate struct {
	Value float64
	measure.Interval
	N int
}

// Estimate tells the mean. Of shares that are all 0 or 1 the interval is exact
// (Clopper and Pearson); of others it is Student's, of the mean of rows that do
// not hang together, and unknown where they are alike and too few to tell.
func (m *Mean) Estimate(shares bool) Estimate {
	e := Estimate{Value: m.mean, N: m.N, Interval: measure.Interval{Low: math.Inf(-1), High: math.Inf(1)}}
	switch {
	case m.N == 0:
		e.Value = math.NaN()
	case shares && m.ones+m.none == m.N:
		e.Interval = measure.Rate{K: m.ones, N: m.N}.Interval(measure.Confidence)
	case m.telling():
		half := measure.Student(m.N, measure.Confidence) * math.Sqrt(m.sum2/float64(m.N-1)/float64(m.N))
		e.Interval = measure.Interval{Low: m.mean - half, High: m.mean + half}
	}
	return e
}

// telling tells whether Student's interval says where the mean lies: of numbers that
// are all the same it has no width, which only so many of them bear out that chance
// would hardly put them all on one side.
func (m *Mean) telling() bool {
	return m.sum2 > 0 || (measure.Rate{K: m.N, N: m.N}).Interval(measure.Confidence).Low > 0.5
}

// within keeps a share's interval between 0 and 1.
func (e Estimate) within() Estimate {
	e.Low, e.High = max(e.Low, 0), min(e.High, 1)
	return e
}

// Differs tells whether the interval leaves out 0.
func (e Estimate) Differs() bool { return e.N > 1 && !e.Holds(0) }

// MarshalJSON writes value, low, high and n; null is what is not known.
func (e Estimate) MarshalJSON() ([]byte, error) {
	told := func(v float64) *float64 {
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
	}{told(e.Value), told(e.Low), told(e.High), e.N})
}

// Share writes the estimate of a share, in percent.
func (e Estimate) Share() string {
	e = e.within()
	if math.IsNaN(e.Value) {
		return "unknown"
	}
	return fmt.Sprintf("%s (%s)", measure.Percent(e.Value), e.Interval)
}
