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

// derivationCheck is check 6: X_final is the mean of X_T1 and X_REFINE, and a
// divergence is flagged.
func (r *run) derivationCheck(f *findings) {
	t1, ok1 := r.xValue(f, reading.XT1)
	refine, ok2 := r.xValue(f, reading.XRefine)
	finals := r.xValues(reading.XFinal)
	if len(finals) == 0 {
		f.fail(r.doc.Last, "X_final is not documented with a value")
	}
	if !ok1 || !ok2 {
		return
	}
	mean := (t1.Value + refine.Value) / 2
	told := map[float64]bool{}
	for _, s := range finals {
		tolerance := math.Max(0.005, half(s.Digits)) + epsilon
		if math.Abs(s.Value-mean) <= tolerance || told[s.Value] {
			continue
		}
		told[s.Value] = true
		f.fail(s.At, "X_final is %s, but the mean of X_T1 %s and X_REFINE %s is %s", trimFloat(s.Value), trimFloat(t1.Value), trimFloat(refine.Value), trimFloat(mean))
	}
	gap := math.Abs(refine.Value - t1.Value)
	if gap <= divergence+epsilon {
		return
	}
	if r.flagged() {
		f.note = fmt.Sprintf("X divergence %s, flagged", trimFloat(gap))
		return
	}
	f.warn(refine.At, "X_REFINE %s is %s from X_T1 %s, more than %s, and the text does not flag the divergence", trimFloat(refine.Value), trimFloat(gap), trimFloat(t1.Value), trimFloat(divergence))
}

// xValue gives the one value of an X: JSON's before the prose's, the main
// before another that is called X_final inside it.
func (r *run) xValue(f *findings, m reading.Metric) (reading.Statement, bool) {
	list := r.xValues(m)
	if len(list) == 0 {
		f.fail(r.doc.Last, "%s is not documented with a value", m)
		return reading.Statement{}, false
	}
	best := list[0]
	rank := func(s reading.Statement) int {
		switch {
		case s.Form == reading.JSON && !s.Has(reading.Inner):
			return 2
		case s.Form != reading.JSON:
			return 1
		}
		return 0
	}
	for _, s := range list[1:] {
		if rank(s) > rank(best) {
			best = s
		}
	}
	return best, true
}

// xValues gives the statements of an X. X_final inside X_REFINE is X_final
// only where there is no other.
func (r *run) xValues(m reading.Metric) []reading.Statement {
	var list, inner []reading.Statement
	for _, s := range r.doc.Statements {
		switch {
		case s.Has(reading.Absent) || s.Hushed():
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
// or behind the word, or in a line of prose with it.
func (r *run) flagged() bool {
	for _, e := range r.extra(topicDivergence) {
		t := r.doc.Line(e)
		if e.Form == reading.JSON {
			t = r.doc.Body(e)
		}
		t = bytes.ToLower(t[:min(len(t), 2000)])
		if e.Form == reading.JSON {
			t = bytes.ReplaceAll(bytes.ReplaceAll(t, []byte(`"`), nil), []byte(": "), []byte(":"))
		}
		if raises(t) {
			return true
		}
	}
	return false
}

// raises says whether a text about the divergence, in lower case, flags it.
func raises(t []byte) bool {
	in := func(word string) bool { return bytes.Contains(t, []byte(word)) }
	return !slices.ContainsFunc([]string{"no material", "not material", "immaterial", "no divergence", "no significant", "not flagged", "no flag", "does not exceed", "not exceed", "no disagreement", "within tolerance", "within threshold", "below threshold", "< 0.3", "≤ 0.3", "should be flagged", "must be flagged", "flag if", "flagged if", "if |", "flag needed", "flag required: no", "flag:false", "flagged:false", "flag:no", "exceeded:false", "exceeds_threshold:false", "material:false", "flagged:no"}, in) &&
		slices.ContainsFunc([]string{"flag", "exceed", "> 0.3", ">0.3", "≥ 0.3", "material", "significant", "warn", "⚠", "greater than", "above the threshold", "above threshold", "over the threshold", "beyond", "breach", "large divergence", "notable", "divergent", "alert"}, in)
}
