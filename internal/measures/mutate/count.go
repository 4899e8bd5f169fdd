package mutate

import (
	"fmt"
)

// A Count is how many of the planted faults were caught. Most kinds of faults are caught always
// or never, so that an interval of the share would hold for no other texts.
type Count struct {
	K int `json:"k"` // caught
	N int `json:"n"` // planted
}

// Add counts one more fault.
func (c *Count) Add(caught bool) {
	if c.N++; caught {
		c.K++
	}
}

// Plus returns the sum of both counts.
func (c Count) Plus(d Count) Count { return Count{c.K + d.K, c.N + d.N} }

// AtLeast reports whether this share of the faults was caught. Without faults it is unknown,
// and AtLeast returns false.
func (c Count) AtLeast(share float64) bool {
	return c.N > 0 && float64(c.K) >= share*float64(c.N)
}

// String returns "37 of 40", and "unknown (0 of 0)" without faults.
func (c Count) String() string {
	if c.N == 0 {
		return "unknown (0 of 0)"
	}
	return fmt.Sprintf("%d of %d", c.K, c.N)
}
