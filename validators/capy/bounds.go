package capy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// boundsCheck is check 4: the numbers of the policy's values are in their ranges.
func (r *run) boundsCheck(f *findings) {
	for _, name := range sortedKeys(r.policy.Values) {
		v := r.policy.Values[name]
		if !r.applies(v) {
			continue
		}
		var reported []string // the same number in other places is no further finding
		for _, one := range r.of(name) {
			if !one.counts() || one.figure.To != nil || name == "p" && one.scenario == 0 || stale(r.stage.Name, one) {
				continue
			}
			if seen := fmt.Sprint(v.amounts(one)); !slices.Contains(reported, seen) && r.inRange(f, v, one) {
				reported = append(reported, seen)
			}
		}
	}
	if sum := r.policy.Values["p_sum"]; r.applies(sum) && sum.Unit != "" {
		r.sums(f, sum)
	}
	r.sidecarValues(f)
}

// counts reports whether a fact is a number under a whole label, of the case itself and
// not in a comment.
func (one *fact) counts() bool { return one.figure != nil && one.whole && !one.aside && !one.hidden }

// stale reports whether a fact in the output of a T2 is of T1.
func stale(stage string, one *fact) bool {
	return strings.HasSuffix(stage, "_T2") && slices.Contains(one.states, "1") && slices.Contains(one.states, "turn")
}

// A fault is how bad a number is, 0 for in range, and why.
type fault struct {
	severity int // 1 for a warning, 2 for a failure
	message  string
}

// inRange checks one number, in each of the units that it may have. It returns whether
// there is a finding.
func (r *run) inRange(f *findings, v value, one *fact) bool {
	amounts := v.amounts(one)
	var worst, best fault
	for i, x := range amounts {
		this := v.check(x)
		if v.Under != "" {
			if at, limit := r.limit(v.Under, one); this.severity < 2 && at != nil && x >= limit {
				under := r.policy.Values[v.Under].Title
				text := fmt.Sprintf("%s is %s, not below the %s of %s on line %d", v.Title, v.shown(x), under, v.shown(limit), at.line())
				this = fault{2, text}
			}
		}
		if i == 0 || this.severity > worst.severity {
			worst = this
		}
		if i == 0 || this.severity < best.severity {
			best = this
		}
	}
	said := clip(one.said, 60)
	if one.form == inKey {
		said = fmt.Sprintf("%q: %s", one.doc.nodes[one.node].key, said)
	}
	switch {
	case worst.severity == 0:
	case best.severity < worst.severity && len(amounts) > 1:
		f.warn(one.place, "%s could be %s or %s (%s)", v.Title, v.shown(amounts[0]), v.shown(amounts[1]), said)
	case worst.severity == 2:
		f.fail(one.place, "%s (%s)", worst.message, said)
	default:
		f.warn(one.place, "%s (%s)", worst.message, said)
	}
	return worst.severity > 0
}

// amounts returns the number in the unit of the value; two if it could be a fraction or a
// percentage.
func (v value) amounts(one *fact) []float64 {
	x := one.figure.Value
	if v.Unit != "percent" {
		if one.figure.Percent {
			return nil
		}
		return []float64{x}
	}
	size := math.Abs(x)
	switch {
	case one.figure.Percent:
		return []float64{x}
	case len(v.Doubt) == 2 && size > v.Doubt[0] && size < v.Doubt[1]:
		return []float64{percent(x), x}
	case size <= 1.5:
		return []float64{percent(x)}
	}
	return []float64{x}
}

// percent returns a fraction as a percentage, without the noise of binary fractions.
func percent(x float64) float64 { return math.Round(x*1e9) / 1e7 }

func (v value) shown(x float64) string {
	text := strconv.FormatFloat(math.Round(x*1e4)/1e4, 'f', -1, 64)
	if v.Unit == "percent" {
		return text + "%"
	}
	return text
}

// check compares a number with the ranges of its value.
func (v value) check(x float64) fault {
	over := func(limit *float64) bool { return limit != nil && x > *limit }
	under := func(limit *float64) bool { return limit != nil && x < *limit }
	atMost := func(limit *float64) bool { return limit != nil && x <= *limit }
	near := func(limit *float64) bool { return limit != nil && v.Near > 0 && math.Abs(x-*limit) <= v.Near+1e-9 }
	switch at := v.Title + " at " + v.shown(x); {
	case atMost(v.FailAt):
		return fault{2, fmt.Sprintf("%s is %s: want more than %s", v.Title, v.shown(x), v.shown(*v.FailAt))}
	case under(v.FailMin):
		return fault{2, fmt.Sprintf("%s is %s: want at least %s", v.Title, v.shown(x), v.shown(*v.FailMin))}
	case over(v.FailMax):
		return fault{2, fmt.Sprintf("%s is %s: want at most %s", v.Title, v.shown(x), v.shown(*v.FailMax))}
	case atMost(v.Above):
		return fault{1, fmt.Sprintf("%s: want more than %s", at, v.shown(*v.Above))}
	case under(v.Min):
		return fault{1, fmt.Sprintf("%s, below the lower bound of %s", at, v.shown(*v.Min))}
	case over(v.Max):
		return fault{1, fmt.Sprintf("%s, above the upper bound of %s", at, v.shown(*v.Max))}
	case near(v.Max):
		return fault{1, fmt.Sprintf("%s, near the upper bound of %s", at, v.shown(*v.Max))}
	case near(v.Min):
		return fault{1, fmt.Sprintf("%s, near the lower bound of %s", at, v.shown(*v.Min))}
	}
	return fault{}
}

// limit returns the value that another must stay below: that of the same object, else the
// first one of the text.
func (r *run) limit(name string, one *fact) (*fact, float64) {
	v := r.policy.Values[name]
	limits, ok := r.limits[name]
	if !ok {
		limits = map[object]*fact{}
		r.limits[name] = limits
		for _, other := range r.of(name) {
			if !other.counts() || len(v.amounts(other)) == 0 {
				continue
			}
			for _, in := range []object{{}, other.object()} {
				if limits[in] == nil {
					limits[in] = other
				}
			}
		}
	}
	found := limits[object{}]
	if near := limits[one.object()]; near != nil {
		found = near
	}
	if found == nil {
		return nil, 0
	}
	return found, v.amounts(found)[0]
}

// An object is an object of a JSON document; the zero value is no object.
type object struct {
	doc  *document
	node int
}

func (one *fact) object() object {
	if one.form != inKey {
		return object{}
	}
	return object{one.doc, one.doc.nodes[one.node].parent}
}

// A tally is the sum of a list of probabilities.
type tally struct {
	place
	sum   float64
	n     int
	parts []*figure
}

// sums checks the sums of the joint states, or without those of the scenarios.
func (r *run) sums(f *findings, v value) {
	joint := r.joint()
	one := r.policy.Values["p"]
	for _, t := range joint {
		for _, part := range t.parts {
			r.inRange(f, one, &fact{place: t.place, figure: part, said: strconv.FormatFloat(part.Value, 'f', -1, 64)})
		}
		if v.check(math.Round(t.sum*1e6)/1e6).severity > 0 {
			v.outside(f, t, "joint states")
		}
	}
	if len(joint) > 0 {
		return
	}
	t, seen := tally{}, map[int]bool{}
	for _, one := range r.of("p") {
		if one.figure != nil && one.whole && one.scenario > 0 && !seen[one.scenario] {
			seen[one.scenario] = true
			t.sum += r.policy.Values["p"].amounts(one)[0] / 100
			t.n, t.place = t.n+1, one.place
		}
	}
	if t.n > 1 && v.check(math.Round(t.sum*1e6)/1e6).severity > 0 {
		v.outside(f, t, "scenarios")
	}
}

// outside reports a sum that is not in the range of the value.
func (v value) outside(f *findings, t tally, of string) {
	f.warn(t.place, "The probabilities of the %d %s sum to %s: want %s to %s", t.n, of, v.shown(t.sum), v.shown(*v.Min), v.shown(*v.Max))
}

// joint returns the lists of joint states: tables whose first column names states, and
// arrays of objects with a state, each with a probability.
func (r *run) joint() []tally {
	var list []tally
	for _, d := range r.docs {
		for i := range d.Tables {
			t := &d.Tables[i]
			header := texts(t.Header)
			column := slices.IndexFunc(header, func(c string) bool { return r.probability(c) })
			if column < 1 || !strings.Contains(strings.ToLower(header[0]), "state") {
				continue
			}
			sum := tally{place: place{d, t.Start}}
			for _, row := range t.Rows {
				if column < len(row) && !strings.EqualFold(strings.TrimSpace(row[0].Text), "total") {
					sum.add(r.number(fold(row[column].Text)))
				}
			}
			list = append(list, sum)
		}
		for i := range d.nodes {
			if sum := (tally{place: place{d, d.nodes[i].offset}}); d.nodes[i].kind == '[' {
				for c := i + 1; c < d.nodes[i].end; c = d.nodes[c].end {
					sum.add(r.stateProbability(d, c))
				}
				list = append(list, sum)
			}
		}
	}
	return slices.DeleteFunc(list, func(t tally) bool { return t.n < 2 })
}

func (t *tally) add(n *figure) {
	if n != nil {
		t.n++
		t.parts = append(t.parts, n)
		t.sum += value{Unit: "percent"}.amounts(&fact{figure: n})[0] / 100
	}
}

// probability reports whether a label is that of a probability.
func (r *run) probability(label string) bool {
	words := tokens(fold(label))
	f, ok := (&reader{vocabulary: r.vocabulary}).label(words, words)
	return ok && (f.value == "p" || f.value == "jpd")
}

// stateProbability returns the probability of an object that is a joint state.
func (r *run) stateProbability(d *document, i int) *figure {
	if d.nodes[i].kind != '{' {
		return nil
	}
	state, found := false, (*figure)(nil)
	for c := i + 1; c < d.nodes[i].end; c = d.nodes[c].end {
		m := &d.nodes[c]
		key := strings.ToLower(m.key)
		if state = state || key == "state" || key == "state_id" || key == "states"; m.kind == '0' && r.probability(m.key) {
			if found == nil || strings.Contains(key, "final") {
				found = r.number(m.text)
			}
		}
	}
	if !state {
		return nil
	}
	return found
}

// sidecarValues compares the needed values of the text with those of its sidecars.
func (r *run) sidecarValues(f *findings) {
	for _, name := range r.stage.Needs {
		v, ok := r.policy.Values[name]
		if _, part := r.policy.Needs[name]; !ok || part {
			continue
		}
		var theirs *fact
		same, compared := false, 0
		own := func(one *fact) bool {
			return one.counts() && !r.earlier(one) && len(v.amounts(one)) > 0
		}
		for _, mine := range r.of(name) {
			if mine.doc != r.text || !own(mine) {
				continue
			}
			if compared++; compared > maxFindings {
				break
			}
			theirs, same = nil, false
			for _, other := range r.of(name) {
				if other.doc != r.text && own(other) {
					theirs = other
					same = same || math.Abs(v.amounts(mine)[0]-v.amounts(other)[0]) <= mine.figure.half(v, mine)
				}
			}
			if theirs != nil && !same {
				ours, other := v.shown(v.amounts(mine)[0]), v.shown(v.amounts(theirs)[0])
				f.warn(mine.place, "The text states %s as %s, its sidecar as %s (%s)", v.Title, ours, other, theirs.location())
				break
			}
		}
	}
}

// half returns half of the last digit that is shown, in the unit of the value.
func (n *figure) half(v value, one *fact) float64 {
	h := 0.5*math.Pow10(-n.decimals) + 1e-9
	if v.Unit == "percent" && !n.Percent && math.Abs(n.Value) <= 1.5 {
		h *= 100
	}
	return h
}
