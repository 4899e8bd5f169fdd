package capy

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// divergence is how far X_REFINE may be from X_T1 without being flagged.
const divergence = 0.3

// A derivation is the three X as the prose has them, or JSON; what one of them
// leaves out is the other's.
type derivation struct {
	t1, refine reading.Statement
	finals     []reading.Statement
}

// derivationCheck is check 6: X_final is the mean of X_T1 and X_REFINE, in the
// prose and in JSON, either X has one value, and a divergence is flagged.
func (r *run) derivationCheck(f *findings) {
	var lists [3][]reading.Statement
	whole := true
	for i, m := range []reading.Metric{reading.XT1, reading.XRefine, reading.XFinal} {
		if lists[i] = r.xValues(m); len(lists[i]) == 0 {
			f.fail(r.doc.Last, "%s is not documented with a value", m)
			whole = false
		}
	}
	if !whole {
		return
	}
	told := map[[2]float64]bool{}
	for _, json := range []bool{false, true} {
		d := derivation{mainX(lists[0], json), mainX(lists[1], json), xOf(lists[2], json)}
		d.averaged(f, told)
		r.diverged(f, d, told)
	}
	r.oneValue(f, lists[0])
	r.oneValue(f, lists[1])
}

// averaged holds each X_final to the mean of the other two.
func (d derivation) averaged(f *findings, told map[[2]float64]bool) {
	mean := (d.t1.Value + d.refine.Value) / 2
	for _, s := range d.finals {
		tolerance := math.Max(0.005, half(s.Digits)) + epsilon
		if key := [2]float64{s.Value, mean}; math.Abs(s.Value-mean) > tolerance && !told[key] {
			told[key] = true
			f.fail(s.At, "X_final is %s, but the mean of X_T1 %s and X_REFINE %s is %s", trimFloat(s.Value), trimFloat(d.t1.Value), trimFloat(d.refine.Value), trimFloat(mean))
		}
	}
}

// diverged wants X_REFINE near X_T1, or the gap flagged.
func (r *run) diverged(f *findings, d derivation, told map[[2]float64]bool) {
	gap := math.Abs(d.refine.Value - d.t1.Value)
	key := [2]float64{-1, gap} // no X_final is below nothing
	switch {
	case gap <= divergence+epsilon || told[key]:
	case r.flagged():
		f.note = fmt.Sprintf("X divergence %s, flagged", trimFloat(gap))
	default:
		told[key] = true
		f.warn(d.refine.At, "X_REFINE %s is %s from X_T1 %s, more than %s, and the text does not flag the divergence", trimFloat(d.refine.Value), trimFloat(gap), trimFloat(d.t1.Value), trimFloat(divergence))
	}
}

// oneValue warns of an X that the text states in two values, of which its mean
// can have been made of one.
func (r *run) oneValue(f *findings, list []reading.Statement) {
	first := mainX(list, false)
	told := map[float64]bool{}
	for _, s := range list {
		near := math.Max(half(first.Digits), half(s.Digits)) + epsilon
		if s.Has(reading.Inner) || s.State == reading.Earlier || math.Abs(s.Value-first.Value) <= near || told[s.Value] {
			continue
		}
		told[s.Value] = true
		f.warn(s.At, "%s is %s here and %s on %s", s.Metric, trimFloat(s.Value), trimFloat(first.Value), r.doc.Location(first.At))
	}
}

// xOf gives the statements that JSON makes, or the prose, of those: all where
// it makes none.
func xOf(list []reading.Statement, json bool) []reading.Statement {
	own := slices.DeleteFunc(slices.Clone(list), func(s reading.Statement) bool { return (s.Form == reading.JSON) != json })
	if len(own) == 0 {
		return list
	}
	return own
}

// mainX gives the one value of an X in JSON, or in the prose: the first, the X
// itself before one that is called X_final inside it.
func mainX(list []reading.Statement, json bool) reading.Statement {
	list = xOf(list, json)
	if i := slices.IndexFunc(list, func(s reading.Statement) bool { return !s.Has(reading.Inner) }); i >= 0 {
		return list[i]
	}
	return list[0]
}

// xValues gives the statements of an X. X_final inside X_REFINE is X_final
// only where there is no other.
func (r *run) xValues(m reading.Metric) []reading.Statement {
	var list, inner []reading.Statement
	for _, s := range r.doc.Statements {
		switch {
		case s.Has(reading.Absent|reading.Range|reading.Unseen) || s.Hushed():
		case s.Metric == m:
			list = append(list, s)
		case m == reading.XFinal && s.Metric == reading.XRefine && s.Has(reading.Inner):
			inner = append(inner, s)
		}
	}
	if len(list) == 0 {
		return inner
	}
	return list
}

// flagged says whether the text flags a divergence of X: in what it says under
// or behind the word, or in a line that names both or their difference.
func (r *run) flagged() bool {
	return slices.ContainsFunc(r.extra(topicDivergence), func(e reading.Entry) bool { return raises(r.saidOf(e), true) }) ||
		slices.ContainsFunc(r.extra(topicXNames), func(e reading.Entry) bool {
			if e.Form == reading.JSON && !bytes.HasPrefix(r.doc.Body(e), []byte(`"`)) {
				return false
			}
			t := r.saidOf(e)
			return compares(t) && raises(t, false)
		})
}

// saidOf is what an entry's line says, or its value in JSON, in lower case.
func (r *run) saidOf(e reading.Entry) []byte {
	if e.Form != reading.JSON {
		t := r.doc.Line(e)
		return bytes.ToLower(t[:min(len(t), maxSaid)])
	}
	t := r.doc.Body(e)
	t = bytes.ToLower(t[:min(len(t), maxSaid)])
	return bytes.ReplaceAll(bytes.ReplaceAll(t, []byte(`"`), nil), []byte(": "), []byte(":"))
}

// maxSaid is how much of a line about the divergence is looked at.
const maxSaid = 2000

// compares says that a line names X_T1 beside X_REFINE, or the difference.
func compares(t []byte) bool {
	return bytes.Contains(t, []byte("t1")) || bytes.Contains(t, []byte("δx"))
}

// raises says whether a text about the divergence, in lower case, flags it. A
// limit alone flags it only in a text that is named for it; elsewhere a number
// must stand before it, 0.4 > 0.3.
func raises(t []byte, named bool) bool {
	in := func(word string) bool { return bytes.Contains(t, []byte(word)) }
	return !slices.ContainsFunc(denials, in) && (slices.ContainsFunc(alarms, in) || slices.ContainsFunc(limits, func(limit string) bool {
		i := bytes.Index(t, []byte(limit))
		before := bytes.TrimRight(t[:max(i, 0)], " |*")
		return i >= 0 && (named || len(before) > 0 && digit(before[len(before)-1]) && !bytes.HasSuffix(before, []byte("t1")))
	}))
}

var (
	denials = []string{"no material", "not material", "immaterial", "no divergence", "no significant", "not flagged", "no flag", "does not exceed", "not exceed", "no disagreement", "within tolerance", "within threshold",
		"below threshold", "< 0.3", "≤ 0.3", "should be flagged", "must be flagged", "flag if", "flagged if", "if |", "flag needed", "flag required: no", "flag:false", "flagged:false", "flag:no", "exceeded:false",
		"exceeds_threshold:false", "material:false", "flagged:no"}
	alarms = []string{"flag", "exceed", "material", "significant", "warn", "⚠", "greater than", "above the threshold", "above threshold", "over the threshold", "beyond", "breach", "large divergence", "notable", "divergent", "alert"}
	limits = []string{"> 0.3", ">0.3", "≥ 0.3"}
)
