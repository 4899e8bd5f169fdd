package batch

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/reports"
)

// RowSums are the sums of the runs of one row.
type RowSums struct {
	Runs, Accepted, First int
	Known, Right          int // runs with an expectation, and those accepted and right
	Calls, CostUSD        float64
}

// Add adds one run of the row.
func (s *RowSums) Add(o *Outcome) {
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

func (s RowSums) plus(t RowSums) RowSums {
	return RowSums{
		s.Runs + t.Runs, s.Accepted + t.Accepted, s.First + t.First, s.Known + t.Known, s.Right + t.Right,
		s.Calls + t.Calls, s.CostUSD + t.CostUSD,
	}
}

// A Comparison compares a batch with an earlier one, row by row. If both ran each row once,
// McNemar's exact test decides whether a share differs. Otherwise, and for calls and cost,
// Student's interval of the mean difference must exclude 0. Time is not compared.
type Comparison struct {
	Batch    string  `json:"batch"`    // the earlier one
	Rows     int     `json:"rows"`     // in both batches
	Unpaired int     `json:"unpaired"` // rows in one batch, which do not count
	Changes  []Delta `json:"changes"`
}

// A Delta is the change of one number.
type Delta struct {
	Measure string        `json:"measure"`
	Before  float64       `json:"before"`
	After   float64       `json:"after"`
	Change  Estimate      `json:"change"` // per row, after minus before
	Test    string        `json:"test"`   // mcnemar or student
	Paired  *stats.Paired `json:"paired,omitempty"`
	Differs bool          `json:"differs"`

	before, after Mean
	change        Mean
	unit          string
}

// newComparison returns a comparison without rows.
func newComparison(batch string) *Comparison {
	c := &Comparison{Batch: batch}
	for _, one := range []struct{ name, unit string }{
		{"accepted", "%"}, {"first_try", "%"}, {"right", "%"}, {"calls", ""}, {"cost_usd", "$"},
	} {
		c.Changes = append(c.Changes, Delta{Measure: one.name, unit: one.unit, Paired: &stats.Paired{}})
	}
	return c
}

// Row adds a row of both batches.
func (c *Comparison) Row(earlier, now RowSums) {
	if earlier.Runs == 0 || now.Runs == 0 {
		c.Unpaired++
		return
	}
	c.Rows++
	for i := range c.Changes {
		c.Changes[i].row(earlier, now)
	}
}

func (d *Delta) row(earlier, now RowSums) {
	pair := func(s RowSums) (sum float64, of int, once bool) {
		switch d.Measure {
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
	a, ofA, onceA := pair(earlier)
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

// Done computes the numbers.
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
			d.Test, d.Differs = "mcnemar", d.Paired.Differs(stats.Confidence)
		}
		known = append(known, d)
	}
	c.Changes = known
	return c
}

// describe adds the comparison to a text.
func (c *Comparison) describe(t *reports.Text) {
	alone := ""
	if c.Unpaired > 0 {
		alone = fmt.Sprintf(", %d in one alone", c.Unpaired)
	}
	t.Line("against %s, by row: %d rows in both%s", c.Batch, c.Rows, alone)
	for _, d := range c.Changes {
		t.Line("  %s: %s", strings.ReplaceAll(d.Measure, "_", " "), d.String())
	}
}

// String returns the change in one line.
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
			return stats.Percent(v)
		case "$":
			return fmt.Sprintf("$%.4f", v)
		}
		return fmt.Sprintf("%.2f", v)
	}
	written := fmt.Sprintf("%s to %s", show(d.Before), show(d.After))
	if !math.IsInf(d.Change.Low, 0) {
		written += fmt.Sprintf(", a change between %s and %s per row", strings.TrimSuffix(show(d.Change.Low), " %"), show(d.Change.High))
	}
	return written + ": " + words + " (Student, paired)"
}
