package capy

import (
	"bytes"
	"fmt"
	"math"
)

// divergence is how far X_REFINE may be from X_T1 without being flagged.
const divergence = 0.3

// derivationCheck is check 6: X_final is the mean of X_T1 and X_REFINE, and a
// divergence is flagged.
func (r *run) derivationCheck(f *findings) {
	t1, ok1 := r.xValue(f, xT1)
	refine, ok2 := r.xValue(f, xRefine)
	finals := r.xValues(xFinal)
	if len(finals) == 0 {
		f.fail(r.doc.last, "X_final is not documented with a value")
	}
	if !ok1 || !ok2 {
		return
	}
	mean := (t1.value + refine.value) / 2
	told := map[float64]bool{}
	for _, s := range finals {
		tolerance := math.Max(0.005, number{digits: s.digits}.half()) + epsilon
		if math.Abs(s.value-mean) <= tolerance || told[s.value] {
			continue
		}
		told[s.value] = true
		f.fail(s.at, "X_final is %s, but the mean of X_T1 %s and X_REFINE %s is %s", trimFloat(s.value), trimFloat(t1.value), trimFloat(refine.value), trimFloat(mean))
	}
	gap := math.Abs(refine.value - t1.value)
	if gap <= divergence+epsilon {
		return
	}
	if r.flags.raised {
		f.note = fmt.Sprintf("X divergence %s, flagged", trimFloat(gap))
		return
	}
	f.warn(refine.at, "X_REFINE %s is %s from X_T1 %s, more than %s, and the text does not flag the divergence", trimFloat(refine.value), trimFloat(gap), trimFloat(t1.value), trimFloat(divergence))
}

// xValue gives the one value of an X: JSON's before the prose's, the main
// before another that is called X_final inside it.
func (r *run) xValue(f *findings, m metric) (statement, bool) {
	list := r.xValues(m)
	if len(list) == 0 {
		f.fail(r.doc.last, "%s is not documented with a value", m)
		return statement{}, false
	}
	best := list[0]
	rank := func(s statement) int {
		switch {
		case s.json && !s.second:
			return 2
		case !s.json:
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
func (r *run) xValues(m metric) []statement {
	var list, inner []statement
	for _, s := range r.ledger.list {
		switch {
		case s.absent || s.hush:
		case s.metric == m:
			list = append(list, s)
		case m == xFinal && s.metric == xRefine && s.second:
			inner = append(inner, s)
		}
	}
	if len(list) == 0 {
		return inner
	}
	return list
}

// Flags looks for a divergence of X being flagged.
type flags struct {
	raised bool
	depth  int // of the JSON container of the divergence, 0 outside
}

func (g *flags) line(l *line) {
	if g.raised {
		return
	}
	t := l.text
	if l.kind == row {
		t = l.raw
	}
	t = t[:min(len(t), 4000)]
	if diverging(t) {
		g.raised = raises(bytes.ToLower(t))
	}
}

// diverging says that a text speaks of a divergence.
func diverging(t []byte) bool {
	for _, part := range []string{"iverg", "IVERG", "isagree", "ISAGREE"} {
		if bytes.Contains(t, []byte(part)) {
			return true
		}
	}
	return false
}

// raises says whether a text about the divergence, in lower case, flags it.
func raises(t []byte) bool {
	for _, no := range []string{"no material", "not material", "immaterial", "no divergence", "no significant", "not flagged", "no flag", "does not exceed", "not exceed", "no disagreement", "within tolerance", "within threshold", "below threshold", "< 0.3", "≤ 0.3", "should be flagged", "must be flagged", "flag if", "flagged if", "if |", "flag needed", "flag required: no"} {
		if bytes.Contains(t, []byte(no)) {
			return false
		}
	}
	for _, yes := range []string{"flag", "exceed", "> 0.3", ">0.3", "≥ 0.3", "material", "significant", "warn", "⚠", "greater than", "above the threshold", "above threshold", "over the threshold", "beyond", "breach", "large divergence", "notable", "divergent", "alert"} {
		if bytes.Contains(t, []byte(yes)) {
			return true
		}
	}
	return false
}

func (g *flags) json(e *event) {
	if g.raised {
		return
	}
	l := tokens(e.key)
	about := l.has("divergence", "diverges", "disagreement")
	switch e.kind {
	case opens:
		if about && g.depth == 0 {
			g.depth = e.depth + 1
		}
	case closes:
		if g.depth > 0 && e.depth < g.depth {
			g.depth = 0
		}
	case scalar:
		if !about && g.depth == 0 {
			g.sentence(e.value)
			return
		}
		if l.has("threshold", "limit", "formula", "rule") {
			return
		}
		v := bytes.ToLower(bytes.Trim(e.value[:min(len(e.value), 400)], `"`))
		flagged := l.has("flag", "flagged", "exceeds", "exceeded", "material")
		switch {
		case flagged && (string(v) == "true" || bytes.HasPrefix(v, []byte("yes"))):
			g.raised = true
		case len(e.value) > 0 && e.value[0] == '"':
			g.raised = raises(v) || bytes.Equal(v, []byte("fail")) || bytes.HasPrefix(v, []byte("review"))
		}
	}
}

// sentence looks at a string that speaks of a divergence.
func (g *flags) sentence(v []byte) {
	if len(v) < 12 || v[0] != '"' {
		return
	}
	if v = v[:min(len(v), 2000)]; diverging(v) {
		g.raised = raises(bytes.ToLower(v))
	}
}
