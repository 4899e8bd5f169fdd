package measure

import "math"

// A Confusion counts texts by what is true of them and what a gate said. Two
// people are compared by it too: one's labels are then the truth, and what it
// says of them does not depend on whose.
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

// N is how many texts were counted.
func (c Confusion) N() int { return c.GoodPassed + c.GoodRefused + c.BadPassed + c.BadRefused }

// FalsePass is how many of the bad texts the gate let by.
func (c Confusion) FalsePass() Rate { return Rate{c.BadPassed, c.BadPassed + c.BadRefused} }

// FalseBlock is how many of the good texts the gate refused.
func (c Confusion) FalseBlock() Rate { return Rate{c.GoodRefused, c.GoodPassed + c.GoodRefused} }

// Base is how many of the texts are good: what a kappa has to be read beside.
func (c Confusion) Base() Rate { return Rate{c.GoodPassed + c.GoodRefused, c.N()} }

// Agreement is of how many texts the gate said what is true.
func (c Confusion) Agreement() Rate { return Rate{c.GoodPassed + c.BadRefused, c.N()} }

// Kappa is Cohen's: how much of the agreement that chance would not give is
// there, 1 being all, 0 none of it. It is NaN where chance alone gives all: of no
// texts, or where both always say the same one thing.
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
