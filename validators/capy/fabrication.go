package capy

import (
	"math"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// fabricationCheck is check 5: a stage states no value that only the kernel
// computes.
func (r *run) fabricationCheck(f *findings) {
	known := r.known()
	told := map[int32]bool{} // containers that have been reported whole
	for _, s := range r.doc.Statements {
		if s = r.meant(s); s.Has(reading.Absent) || s.Hushed() || !r.stage.forbids(s) || r.stage.quotes(s) || s.Value == 0 {
			continue
		}
		if equalsAny(s, r.prior) || s.State <= 0 && !s.Has(reading.Fresh) && equalsAny(s, known) {
			continue
		}
		if (s.Metric == reading.SSE || s.Metric == reading.JPD) && s.Group != 0 {
			if told[s.Group] {
				continue
			}
			told[s.Group] = true
		}
		f.fail(s.At, "%s states %s as %s, which only the kernel may compute: %s", r.stage.Name, s.Metric, amount(s), r.doc.Quote(s))
	}
	if r.stage.forbids(reading.Statement{Metric: reading.JPD}) {
		for _, t := range r.doc.Tallies {
			if t.N == 0 {
				continue // of placeholders
			}
			f.fail(t.At, "%s states the probabilities of %d joint states, which only the kernel may compute", r.stage.Name, t.N)
		}
	}
	if len(f.fails) > 0 {
		f.note = "Computed values stated"
	}
}

// known are the values that the text itself says are an earlier stage's:
// without a label they may be named again.
func (r *run) known() []float64 {
	var list []float64
	for _, s := range r.doc.Statements {
		if !s.Has(reading.Absent) && r.stage.quotes(s) && s.State != reading.AnyT2 && (s.Metric.PerShare() || s.Metric == reading.EIRR) && len(list) < maxKnown {
			list = append(list, s.Value)
		}
	}
	return list
}

// maxKnown bounds how many earlier values are remembered.
const maxKnown = 200

// forbids says whether the stage's row forbids a statement.
func (s Stage) forbids(a reading.Statement) bool {
	for _, b := range s.Forbids {
		if reading.MetricOf(b.Value) != a.Metric {
			continue
		}
		own := a.Has(reading.Fresh) || a.Has(reading.Moved) && a.Metric == reading.EIVPS
		if b.State == 0 || int(a.State) == b.State || a.State == 0 && own && !a.Has(reading.Loose) && b.State > 3 {
			return true
		}
	}
	return false
}

// meant gives an E[IVPS] as a stage means it that must not state the one of State 4:
// S4 is that state there, and one of no state is what the E[IVPS] moves to where the
// stage was told the earlier ones.
func (r *run) meant(s reading.Statement) reading.Statement {
	if s.Metric != reading.EIVPS || !r.stage.forbids(reading.Statement{Metric: s.Metric, State: 4}) || r.stage.forbids(reading.Statement{Metric: s.Metric}) {
		return s
	}
	if s.Has(reading.Fourth) && s.State == 0 {
		s.State, s.Marks = 4, s.Marks&^reading.Case
	}
	if len(r.prior) > 0 {
		s.Marks |= reading.Moved
	}
	return s
}

// equalsAny says whether a value is one of the known ones, to the last digit
// shown. Of a range both ends must be.
func equalsAny(s reading.Statement, known []float64) bool {
	if s.Has(reading.Range) {
		low, high := s, s
		low.Marks &^= reading.Range
		high.Marks &^= reading.Range
		high.Value = s.Upper
		return equalsAny(low, known) && equalsAny(high, known)
	}
	half := half(s.Digits) + epsilon
	for _, k := range known {
		if math.Abs(s.Value-k) <= half || s.Has(reading.Percent) && math.Abs(s.Value-100*k) <= half {
			return true
		}
		if s.Digits > 4 && math.Abs(s.Value-k) <= 0.005 {
			return true // the other one was rounded to cents
		}
	}
	return false
}

// half is half of the last digit shown.
func half(digits int8) float64 { return 0.5 * math.Pow10(-int(digits)) }

func amount(s reading.Statement) string {
	text := trimFloat(s.Value)
	if s.Has(reading.Range) {
		text += " to " + trimFloat(s.Upper)
	}
	if s.Has(reading.Percent) {
		text += "%"
	}
	return text
}
