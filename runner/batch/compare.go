package batch

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed61713e19/capstan/runner/measure"
)

// Shares are the sums over the runs of one row.
type Shares struct {
	Runs, Accepted, First int
	Known, Right          int // of a row that expects something; accepted, and that
	Calls, CostUSD        float64
}

// Add takes one run of the row.
func (s *Shares) Add(o *Outcome) {
	s.Runs++
	if o.Accepted() {
		s.Accepted++
	}
	if o.first {
		s.First++
	}
	if o.expects {
		s.Known++
	}
	if o.Expected != nil && *o.Expected && o.Accepted() {
		s.Right++
	}
	s.Calls, s.CostUSD = s.Calls+float64(o.Usage.Calls), s.CostUSD+o.Usage.CostUSD
}

func (s Shares) plus(t Shares) Shares {
	return Shares{
		s.Runs + t.Runs, s.Accepted + t.Accepted, s.First + t.First, s.Known + t.Known, s.Right + t.Right,
		s.Calls + t.Calls, s.CostUSD + t.CostUSD,
	}
}

// A Comparison holds a batch against an earlier one, row by row. Of rows that were
// done once in both, a difference is one by the exact test of McNemar; of others,
// and of calls and cost, where Student's interval of the mean difference of the
// rows leaves out 0. All else is chance as far as these rows tell. Time is not
// compared: both batches ran at another hour.
type Comparison struct {
	Batch    string  `json:"batch"`    // the earlier one
	Rows     int     `json:"rows"`     // that both have
	Unpaired int     `json:"unpaired"` // that one alone has, which count for nothing here
	Changes  []Delta `json:"changes"`
}

// A Delta is how one number changed from the baseline.
type Delta struct {
	What    string          `json:"what"`
	Before  float64         `json:"before"`
	After   float64         `json:"after"`
	Change  Estimate        `json:"change"` // a row, after less before
	Test    string          `json:"test"`   // mcnemar or student
	Paired  *measure.Paired `json:"paired,omitempty"`
	Differs bool            `json:"differs"`

	before, after Mean
	change        Mean
	unit          string
}

// newComparison makes one with nothing in it.
func newComparison(batch string) *Comparison {
	c := &Comparison{Batch: batch}
	for _, what := range []struct{ name, unit string }{
		{"accepted", "%"}, {"first_try", "%"}, {"right", "%"}, {"calls", ""}, {"cost_usd", "$"},
	} {
		c.Changes = append(c.Changes, Delta{What: what.name, unit: what.unit, Paired: &measure.Paired{}})
	}
	return c
}

// Row takes a row that both have; was is what it came to in the baseline.
func (c *Comparison) Row(was, now Shares) {
	if was.Runs == 0 || now.Runs == 0 {
		c.Unpaired++
		return
	}
	c.Rows++
	for i := range c.Changes {
		c.Changes[i].row(was, now)
	}
}

func (d *Delta) row(was, now Shares) {
	pair := func(s Shares) (sum float64, of int, once bool) {
		switch d.What {
		case "accepted":
			return float64(s.Accepted), s.Runs, s.Runs == 1
		case "first_try":
			return float64(s.First), s.Runs, s.Runs == 1
		case "right":
			return float64(s.Right), s.Known, s.Known == 1
		case "calls":
			return s.Calls, s.Runs, false
		default:
			return s.CostUSD, s.Runs, false
		}
	}
	a, ofA, onceA := pair(was)
	b, ofB, onceB := pair(now)
	if ofA == 0 || ofB == 0 {
		return
	}
	if d.Paired != nil && onceA && onceB {
		d.Paired.Add(a == 1, b == 1)
	} else {
		d.Paired = nil
	}
	a, b = a/float64(ofA), b/float64(ofB)
	d.before.Add(a)
	d.after.Add(b)
	d.change.Add(b - a)
}

// Done makes the numbers of what was added.
func (c *Comparison) Done() *Comparison {
	var known []Delta
	for _, d := range c.Changes {
		if d.change.N == 0 {
			continue
		}
		d.Before, d.After, d.Change = d.before.mean, d.after.mean, d.change.Estimate(false)
		if d.unit == "%" && !math.IsInf(d.Change.Low, 0) {
			d.Change.Low, d.Change.High = max(d.Change.Low, -1), min(d.Change.High, 1)
		}
		d.Test, d.Differs = "student", d.Change.Differs()
		if d.Paired != nil {
			d.Test, d.Differs = "mcnemar", d.Paired.Differs(measure.Confidence)
		}
		known = append(known, d)
	}
	c.Changes = known
	return c
}

// Text is the comparison for a person, ending in a newline.
func (c *Comparison) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "against %s, by row: %d rows in both", c.Batch, c.Rows)
	if c.Unpaired > 0 {
		fmt.Fprintf(&b, ", %d in one alone", c.Unpaired)
	}
	b.WriteString("\n")
	for _, d := range c.Changes {
		fmt.Fprintf(&b, "  %s: %s\n", strings.ReplaceAll(d.What, "_", " "), d.String())
	}
	return b.String()
}

// String tells the change in one line.
func (d *Delta) String() string {
	if d.Paired != nil {
		return d.Paired.String() + " (McNemar, exact)"
	}
	words := "no difference beyond chance"
	if d.Differs {
		words = "a difference"
	}
	show := func(v float64) string {
		switch d.unit {
		case "%":
			return measure.Percent(v)
		case "$":
			return fmt.Sprintf("$%.4f", v)
		}
		return fmt.Sprintf("%.2f", v)
	}
	said := fmt.Sprintf("%s to %s", show(d.Before), show(d.After))
	if !math.IsInf(d.Change.Low, 0) {
		said += fmt.Sprintf(", a change between %s and %s per row", strings.TrimSuffix(show(d.Change.Low), " %"), show(d.Change.High))
	}
	return said + ": " + words + " (Student, paired)"
}
