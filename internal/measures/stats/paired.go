package stats

import "fmt"

// Paired counts rows of two batches by success.
type Paired struct {
	Both    int `json:"both"`
	Neither int `json:"neither"`
	Gained  int `json:"gained"` // only in the second
	Lost    int `json:"lost"`   // only in the first
}

// Add adds a row.
func (p *Paired) Add(first, second bool) {
	switch {
	case first && second:
		p.Both++
	case first:
		p.Lost++
	case second:
		p.Gained++
	default:
		p.Neither++
	}
}

// Before returns the rate of the first batch.
func (p Paired) Before() Rate { return Rate{p.Both + p.Lost, p.n()} }

// After returns the rate of the second batch.
func (p Paired) After() Rate { return Rate{p.Both + p.Gained, p.n()} }

func (p Paired) n() int { return p.Both + p.Neither + p.Gained + p.Lost }

// Differs reports whether the batches differ by McNemar's exact test: the exact interval of the
// gained share of rows with a change excludes one half.
func (p Paired) Differs(confidence float64) bool {
	return !Rate{p.Gained, p.Gained + p.Lost}.Interval(confidence).Holds(0.5)
}

// String returns "80.0 % to 92.0 %: 7 rows gained, 1 lost, no difference beyond chance".
func (p Paired) String() string {
	words := "no difference beyond chance"
	if p.Differs(Confidence) {
		words = "a difference"
	}
	return fmt.Sprintf("%s to %s: %d rows gained, %d lost, %s", Percent(p.Before().Value()), Percent(p.After().Value()), p.Gained, p.Lost, words)
}
