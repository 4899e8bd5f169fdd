package capy

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// boundsCheck is check 4: the numbers are within their bounds. What is out of
// range is a warning; what cannot be is an issue.
func (r *run) boundsCheck(f *findings) {
	told := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(r.policy.Bounds)) {
		b := r.policy.Bounds[name]
		if !r.applies(name) {
			continue
		}
		switch m := reading.MetricOf(name); m {
		case reading.Probability:
			r.within(f, b)
		case reading.ProbabilitySum:
			r.sums(f, b)
		default:
			for _, s := range r.doc.Statements {
				if s.Metric == m && r.bounded(s) {
					r.judge(f, b, s, told)
				}
			}
		}
	}
	r.heldAgainstSidecars(f)
}

// bounded says whether a statement is one that bounds are for: a number stated
// as the result, in this turn. Of what a list holds, one may be a state in which
// the company is worth nothing.
func (r *run) bounded(s reading.Statement) bool {
	return !s.Hushed() && !s.Has(reading.Listed|reading.Absent|reading.Loose) && !r.stage.stale(s)
}

// judge holds one statement to its bound; each value is told of once.
func (r *run) judge(f *findings, b Bound, s reading.Statement, told map[string]bool) {
	key := fmt.Sprint(s.Metric, s.Value, s.Has(reading.Percent))
	if told[key] {
		return
	}
	v, other, sure := inPercent(s)
	if !sure && r.verdict(b, v) != r.verdict(b, other) {
		told[key] = true
		f.warn(s.At, "%s of %s could be %s or %s: say which, with a percent sign", s.Metric, trimFloat(s.Value), show(s.Metric, v), show(s.Metric, other))
		return
	}
	severity, why := "", ""
	if !s.Has(reading.Bare) { // of a DR 17% in passing nobody says that it is used
		severity, why = b.check(s.Metric, v)
	}
	if severity == "" && b.Below != "" {
		severity, why = r.below(b, s, v)
	}
	if severity == "" {
		return
	}
	told[key] = true
	if severity == Fail {
		f.fail(s.At, "%s (%s)", why, r.doc.Quote(s))
		return
	}
	f.warn(s.At, "%s (%s)", why, r.doc.Quote(s))
}

func (r *run) verdict(b Bound, v float64) string {
	severity, _ := b.check(reading.DR, v)
	return severity
}

// inPercent is a statement's value in the bound's unit: percent, for a rate. A
// bare number that could be a fraction or a percentage has another reading.
func inPercent(s reading.Statement) (v, other float64, sure bool) {
	v = s.Value
	if !s.Metric.Rate() || s.Has(reading.Percent) {
		return v, v, true
	}
	size := math.Abs(v)
	switch s.Metric {
	case reading.ROIC:
		if size > 5 {
			return v, v, true
		}
		return 100 * v, v, size <= 2
	case reading.EIRR, reading.PIRR, reading.Probability:
		if size > 5 {
			return v, v, true
		}
		return 100 * v, v, size <= 1
	}
	if size >= 1 {
		return v, v, true
	}
	return 100 * v, v, true
}

// epsilon is what arithmetic on shown numbers may be off by.
const epsilon = 1e-9

// check holds a value to the bound, and says in a sentence what is wrong.
func (b Bound) check(m reading.Metric, v float64) (severity, why string) {
	is := func(limit *float64, hit func(limit float64) bool) bool { return limit != nil && hit(*limit) }
	shown := show(m, v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Fail, fmt.Sprintf("%s is no number", m)
	case is(b.FailAtMost, func(l float64) bool { return v <= l }):
		return Fail, fmt.Sprintf("%s is %s, which cannot be: want more than %s", m, shown, show(m, *b.FailAtMost))
	case is(b.FailBelow, func(l float64) bool { return v < l-epsilon }):
		return Fail, fmt.Sprintf("%s is %s, which cannot be: want no less than %s", m, shown, show(m, *b.FailBelow))
	case is(b.FailAbove, func(l float64) bool { return v > l+epsilon }):
		return Fail, fmt.Sprintf("%s is %s, which cannot be: want no more than %s", m, shown, show(m, *b.FailAbove))
	case is(b.WarnAtMost, func(l float64) bool { return v <= l }):
		return Warn, fmt.Sprintf("%s is %s: want more than %s", m, shown, show(m, *b.WarnAtMost))
	case is(b.WarnBelow, func(l float64) bool { return v < l-epsilon }):
		return Warn, fmt.Sprintf("%s at %s, below the lower bound of %s", m, shown, show(m, *b.WarnBelow))
	case is(b.WarnAbove, func(l float64) bool { return v > l+epsilon }):
		return Warn, fmt.Sprintf("%s at %s, above the upper bound of %s", m, shown, show(m, *b.WarnAbove))
	case b.Near > 0 && is(b.WarnBelow, func(l float64) bool { return v-l <= b.Near+epsilon }):
		return Warn, fmt.Sprintf("%s at %s, near the lower bound of %s", m, shown, show(m, *b.WarnBelow))
	case b.Near > 0 && is(b.WarnAbove, func(l float64) bool { return l-v <= b.Near+epsilon }):
		return Warn, fmt.Sprintf("%s at %s, near the upper bound of %s", m, shown, show(m, *b.WarnAbove))
	}
	return "", ""
}

// below holds a value to another that it must stay under: g to the DR of the
// same object or table, or else the nearest.
func (r *run) below(b Bound, s reading.Statement, v float64) (severity, why string) {
	top := reading.MetricOf(b.Below)
	var over *reading.Statement
	for i := range r.doc.Statements {
		t := &r.doc.Statements[i]
		if t.Metric != top || !r.bounded(*t) || t.Has(reading.Bare) && t.At != s.At || r.stage.quotes(*t) != r.stage.quotes(s) {
			continue
		}
		if over == nil || nearer(s, *t, *over) {
			over = t
		}
	}
	if over == nil {
		return "", ""
	}
	limit, _, _ := inPercent(*over)
	if v < limit-epsilon {
		return "", ""
	}
	why = fmt.Sprintf("%s is %s, not below the %s of %s on line %d", s.Metric, show(s.Metric, v), top, show(top, limit), over.At.Line)
	if !s.Has(reading.Percent) && s.Value < 1 && (over.Has(reading.Percent) || over.Value >= 1) && s.Value < limit {
		return Warn, why + ", unless it is " + show(s.Metric, s.Value)
	}
	if s.Has(reading.Bare) || over.Has(reading.Bare) {
		return Warn, why
	}
	return Fail, why
}

// nearer says whether a stands nearer to s than b does.
func nearer(s, a, b reading.Statement) bool {
	if same := s.Group != 0; same && (a.Group == s.Group) != (b.Group == s.Group) {
		return a.Group == s.Group
	}
	distance := func(t reading.Statement) int32 {
		d := t.At.Line - s.At.Line
		if d < 0 {
			d = -d
		}
		return d + int32(t.At.Source-s.At.Source)*1_000_000
	}
	return distance(a) < distance(b)
}

// show writes a value in the unit of its metric.
func show(m reading.Metric, v float64) string {
	text := trimFloat(v)
	if m.Rate() {
		text += "%"
	}
	return text
}

// trimFloat writes a number as people do: no more than four digits behind the
// point.
func trimFloat(v float64) string {
	if math.Abs(v) >= 1e15 {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	text := strconv.FormatFloat(v, 'f', 4, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
