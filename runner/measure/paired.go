package measure

import "fmt"

// Paired counts rows that were done in two ways, by which of them succeeded.
type Paired struct {
	Both    int `json:"both"`
	Neither int `json:"neither"`
	Gained  int `json:"gained"` // by the second alone
	Lost    int `json:"lost"`   // by the first alone
}

// Add counts one row.
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

// Before is the first way's rate, After the second's.
func (p Paired) Before() Rate { return Rate{p.Both + p.Lost, p.n()} }

// After is the second way's rate.
func (p Paired) After() Rate { return Rate{p.Both + p.Gained, p.n()} }

func (p Paired) n() int { return p.Both + p.Neither + p.Gained + p.Lost }

// Differs tells whether the two ways differ: whether the exact interval of the
// share that the second won of the rows that only one of them won leaves out one
// half (the exact test of McNemar). Rows on which both did the same say nothing
// of it.
func (p Paired) Differs(confidence float64) bool {
	return !Rate{p.Gained, p.Gained + p.Lost}.Interval(confidence).Holds(0.5)
}

// String is "80.0 % to 92.0 %: 7 rows gained, 1 lost, no difference beyond chance".
func (p Paired) String() string {
	words := "no difference beyond chance"
	if p.Differs(Confidence) {
		words = "a difference"
	}
	return fmt.Sprintf("%s to %s: %d rows gained, %d lost, %s", Percent(p.Before().Value()), Percent(p.After().Value()), p.Gained, p.Lost, words)
}
