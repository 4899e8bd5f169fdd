package capy

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// boundsCheck is check 4: the numbers are within their bounds. What is out of
// range is a warning; what cannot be is an issue.
func (r *run) boundsCheck(f *findings) {
	told := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(r.policy.Bounds)) {
		b := r.policy.Bounds[name]
		if len(b.Stages) > 0 && !slices.Contains(b.Stages, r.stage.Name) {
			continue
		}
		switch m := metrics[name]; m {
		case probability:
			r.chances.within(f, b)
		case probabilitySum:
			r.chances.sums(f, b)
		default:
			for _, s := range r.ledger.list {
				if s.metric == m && !s.absent && r.bounded(s) {
					r.judge(f, b, s, told)
				}
			}
		}
	}
}

// bounded says whether a statement is one that bounds are for: of what a list
// holds, one may be a state in which the company is worth nothing.
func (r *run) bounded(s statement) bool { return !s.hush && !s.listed }

// judge holds one statement to its bound; each value is told of once.
func (r *run) judge(f *findings, b Bound, s statement, told map[string]bool) {
	key := fmt.Sprint(s.metric, s.value, s.percent)
	if told[key] {
		return
	}
	v, other, sure := reading(s)
	if !sure && r.verdict(b, v) != r.verdict(b, other) {
		told[key] = true
		f.warn(s.at, "%s of %s could be %s or %s: say which, with a percent sign", s.metric, trimFloat(s.value), show(s.metric, v), show(s.metric, other))
		return
	}
	severity, why := b.check(s.metric, v)
	if severity == "" && b.Below != "" {
		severity, why = r.below(b, s, v)
	}
	if severity == "" {
		return
	}
	told[key] = true
	if severity == Fail {
		f.fail(s.at, "%s (%s)", why, r.ledger.quote(s))
		return
	}
	f.warn(s.at, "%s (%s)", why, r.ledger.quote(s))
}

func (r *run) verdict(b Bound, v float64) string {
	severity, _ := b.check(dr, v)
	return severity
}

// reading is a statement's value in the bound's unit: percent, for a rate. A
// bare number that could be a fraction or a percentage has another reading.
func reading(s statement) (v, other float64, sure bool) {
	v = s.value
	if !s.metric.rate() || s.percent {
		return v, v, true
	}
	size := math.Abs(v)
	switch s.metric {
	case roic:
		if size > 5 {
			return v, v, true
		}
		return 100 * v, v, size <= 2
	case eirr, pirr, probability:
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
func (b Bound) check(m metric, v float64) (severity, why string) {
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
func (r *run) below(b Bound, s statement, v float64) (severity, why string) {
	top := metrics[b.Below]
	var over *statement
	for i := range r.ledger.list {
		t := &r.ledger.list[i]
		if t.metric != top || t.absent || !r.bounded(*t) || r.quotes(*t) != r.quotes(s) {
			continue
		}
		if over == nil || nearer(s, *t, *over) {
			over = t
		}
	}
	if over == nil {
		return "", ""
	}
	limit, _, _ := reading(*over)
	if v < limit-epsilon {
		return "", ""
	}
	why = fmt.Sprintf("%s is %s, not below the %s of %s on line %d", s.metric, show(s.metric, v), top, show(top, limit), over.at.line)
	if !s.percent && s.value < 1 && (over.percent || over.value >= 1) && s.value < limit {
		return Warn, why + ", unless it is " + show(s.metric, s.value)
	}
	return Fail, why
}

// nearer says whether a stands nearer to s than b does.
func nearer(s, a, b statement) bool {
	if same := s.group != 0; same && (a.group == s.group) != (b.group == s.group) {
		return a.group == s.group
	}
	distance := func(t statement) int32 {
		d := t.at.line - s.at.line
		if d < 0 {
			d = -d
		}
		return d + int32(t.at.source-s.at.source)*1_000_000
	}
	return distance(a) < distance(b)
}

// show writes a value in the unit of its metric.
func show(m metric, v float64) string {
	text := trimFloat(v)
	if m.inPercent() {
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
