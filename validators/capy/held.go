package capy

import (
	"math"
	"slices"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// compared are the metrics that a text and its sidecars must agree on.
var compared = []reading.Metric{reading.IVPS, reading.EIVPS, reading.EIRR, reading.PIRR, reading.DR, reading.Growth}

// heldAgainstSidecars holds the results that the text states to those of its
// sidecars: prose that was written before the kernel ran again is a warning.
func (r *run) heldAgainstSidecars(f *findings) {
	if len(r.texts) == 0 {
		return
	}
	for _, m := range compared {
		told := map[float64]bool{}
		given := r.inSidecars(m)
		var theirs *reading.Statement
		for i := range r.doc.Statements {
			if s := &r.doc.Statements[i]; s.Metric == m && s.At.Source > 0 && s.Form == reading.JSON && r.result(*s) && theirs == nil {
				theirs = s
			}
		}
		if theirs == nil {
			continue
		}
		for _, s := range r.doc.Statements {
			if s.Metric != m || s.At.Source > 0 || !r.result(s) || told[s.Value] || len(told) >= maxKnown || given.has(s) {
				continue
			}
			told[s.Value] = true
			f.warn(s.At, "The text states %s as %s, its sidecar as %s (%s)", m, amount(s), amount(*theirs), r.doc.Location(theirs.At))
		}
	}
}

// result says whether a statement is this stage's own result.
func (r *run) result(s reading.Statement) bool {
	return r.bounded(s) && !s.Has(reading.Range|reading.Bare) && !r.stage.quotes(s)
}

// Values are numbers in the unit of their metric's bound.
type values []float64

// inSidecars gives the values that the sidecars have of a metric, of whatever
// state or case, each once.
func (r *run) inSidecars(m reading.Metric) values {
	var list values
	for _, s := range r.doc.Statements {
		if s.At.Source == 0 || s.Form != reading.JSON || s.Has(reading.Absent) || s.Metric != m && !(s.Metric.PerShare() && m.PerShare()) || len(list) >= maxKnown {
			continue
		}
		if v, _, _ := inPercent(s); !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// has says whether a statement is one of the values, to the last digit shown
// or two in a thousand.
func (list values) has(s reading.Statement) bool {
	v, _, _ := inPercent(s)
	near := half(s.Digits)
	if v != s.Value {
		near *= 100
	}
	return slices.ContainsFunc(list, func(w float64) bool {
		return math.Abs(v-w) <= math.Max(near, 0.002*math.Abs(w))+epsilon
	})
}
