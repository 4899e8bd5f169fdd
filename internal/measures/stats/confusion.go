package stats

import "math"

// A Confusion counts texts by their label and by the verdict of a gate. It also compares two
// people: the labels of one person take the place of the verdicts.
type Confusion struct {
	GoodPassed  int `json:"good_passed"`
	GoodRefused int `json:"good_refused"`
	BadPassed   int `json:"bad_passed"`
	BadRefused  int `json:"bad_refused"`
}

// Add counts one text.
func (c *Confusion) Add(good, passed bool) {
	switch {
	case good && passed:
		c.GoodPassed++
	case good:
		c.GoodRefused++
	case passed:
		c.BadPassed++
	default:
		c.BadRefused++
	}
}

// Plus returns the sum of both counts.
func (c Confusion) Plus(d Confusion) Confusion {
	return Confusion{c.GoodPassed + d.GoodPassed, c.GoodRefused + d.GoodRefused, c.BadPassed + d.BadPassed, c.BadRefused + d.BadRefused}
}

// N returns the number of texts.
func (c Confusion) N() int { return c.GoodPassed + c.GoodRefused + c.BadPassed + c.BadRefused }

// FalsePass returns the share of bad texts that the gate passed.
func (c Confusion) FalsePass() Rate { return Rate{c.BadPassed, c.BadPassed + c.BadRefused} }

// FalseBlock returns the share of good texts that the gate rejected.
func (c Confusion) FalseBlock() Rate { return Rate{c.GoodRefused, c.GoodPassed + c.GoodRefused} }

// Base returns the share of good texts. A kappa depends on it.
func (c Confusion) Base() Rate { return Rate{c.GoodPassed + c.GoodRefused, c.N()} }

// Agreement returns the share of texts with a correct verdict.
func (c Confusion) Agreement() Rate { return Rate{c.GoodPassed + c.BadRefused, c.N()} }

// Kappa returns Cohen's kappa: the agreement beyond chance, from 0 for chance to 1 for full
// agreement. It is NaN without texts, or if the expected agreement is 1.
func (c Confusion) Kappa() float64 {
	n := float64(c.N())
	if n == 0 {
		return math.NaN()
	}
	good, passed := float64(c.GoodPassed+c.GoodRefused)/n, float64(c.GoodPassed+c.BadPassed)/n
	chance := good*passed + (1-good)*(1-passed)
	if chance == 1 {
		return math.NaN()
	}
	return (c.Agreement().Value() - chance) / (1 - chance)
}
