package capy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/reports"
)

// A limit is a condition for the number of a value, with its severity: 1 for a warning,
// 2 for a failure.
type limit struct {
	severity int
	operator string
	number   float64
	value    string // the name of the value whose number it is, "" for a number
}

// operators report whether a number is within a limit.
var operators = map[string]func(x, limit float64) bool{
	">":  func(x, limit float64) bool { return x > limit },
	">=": func(x, limit float64) bool { return x >= limit },
	"<=": func(x, limit float64) bool { return x <= limit },
	"<":  func(x, limit float64) bool { return x < limit },
}

var (
	wants = map[string]string{">": "more than", ">=": "at least", "<=": "at most", "<": "less than"}
	sides = map[string]string{">=": "lower", "<=": "upper"}
)

// boundsCheck is check 4. It compares the numbers of the policy's values with their
// limits.
func (r *run) boundsCheck(f *findings) {
	for _, name := range sortedKeys(r.policy.Values) {
		v := r.policy.Values[name]
		if !r.applies(v) {
			continue
		}
		var reported []string // the same number in other places is no further finding
		for _, one := range r.of(name) {
			if !one.counts() || one.figure.To != nil || name == "p" && one.scenario == 0 || r.stale(one) {
				continue
			}
			if seen := fmt.Sprint(v.amounts(one.figure)); !slices.Contains(reported, seen) && r.inRange(f, v, one) {
				reported = append(reported, seen)
			}
		}
	}
	if sum := r.policy.Values["p_sum"]; r.applies(sum) && sum.Unit != "" {
		r.sums(f, sum)
	}
	r.sidecarValues(f)
}

// counts reports whether a fact is a number under a whole label. Facts about other cases
// and facts in comments do not count.
func (one *fact) counts() bool { return one.figure != nil && one.whole && !one.aside && !one.hidden }

// stale reports whether a fact in the output of a T2 is of T1.
func (r *run) stale(one *fact) bool {
	return strings.HasSuffix(r.stage.Name, "_T2") && slices.Contains(one.states, "1") && slices.Contains(one.states, "turn")
}

// A fault is how bad a number is, see [limit], and why.
type fault struct {
	severity int
	message  string
}

// inRange checks one number, in each of the units that it may have. It returns whether
// there is a finding.
func (r *run) inRange(f *findings, v value, one *fact) bool {
	amounts := v.amounts(one.figure)
	faults := make([]fault, len(amounts))
	for i, x := range amounts {
		faults[i] = r.fault(v, one, x)
	}
	slices.SortStableFunc(faults, func(a, b fault) int { return b.severity - a.severity })
	shown := reports.Fit(one.content, 60)
	if one.form == inKey {
		shown = fmt.Sprintf("%q: %s", one.of().label, shown)
	}
	switch {
	case len(faults) == 0 || faults[0].severity == 0:
		return false
	case faults[0].severity > faults[len(faults)-1].severity:
		f.warn(one.place, "%s could be %s or %s (%s)", v.Title, v.shown(amounts[0]), v.shown(amounts[1]), shown)
	case faults[0].severity == 2:
		f.fail(one.place, "%s (%s)", faults[0].message, shown)
	default:
		f.warn(one.place, "%s (%s)", faults[0].message, shown)
	}
	return true
}

// fault compares a number with the limits of its value, the worst first.
func (r *run) fault(v value, one *fact, x float64) fault {
	for _, l := range v.limits {
		limit, of := l.number, ""
		if l.value != "" {
			other := r.beside(l.value, one)
			if other == nil {
				continue
			}
			under := r.policy.Values[l.value]
			limit = under.amounts(other.figure)[0]
			of = fmt.Sprintf("the %s of %s on line %d", under.Title, v.shown(limit), other.line())
		} else {
			of = v.shown(limit)
		}
		switch side := sides[l.operator]; {
		case operators[l.operator](x, limit):
		case l.severity == 1 && side == "lower":
			return fault{1, fmt.Sprintf("%s at %s, below the lower bound of %s", v.Title, v.shown(x), of)}
		case l.severity == 1 && side == "upper":
			return fault{1, fmt.Sprintf("%s at %s, above the upper bound of %s", v.Title, v.shown(x), of)}
		default:
			return fault{l.severity, fmt.Sprintf("%s is %s: want %s %s", v.Title, v.shown(x), wants[l.operator], of)}
		}
	}
	for _, l := range v.limits {
		if l.severity == 1 && v.Near > 0 && math.Abs(x-l.number) <= v.Near+1e-9 {
			return fault{1, fmt.Sprintf("%s at %s, near the %s bound of %s", v.Title, v.shown(x), sides[l.operator], v.shown(l.number))}
		}
	}
	return fault{}
}

// amounts returns the number in the unit of the value. It returns two numbers
// if the text leaves open whether it is a fraction or a percentage, and none if
// a percentage cannot have that unit.
func (v value) amounts(n *reading.Value) []float64 {
	switch size := math.Abs(n.Value); {
	case v.Unit != "percent" && n.Percent:
		return nil
	case v.Unit != "percent" || n.Percent:
		return []float64{n.Value}
	case len(v.Doubt) == 2 && size > v.Doubt[0] && size < v.Doubt[1]:
		return []float64{percent(n.Value), n.Value}
	case size <= 1.5:
		return []float64{percent(n.Value)}
	}
	return []float64{n.Value}
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

// beside returns the fact of another value in the same object, else the first one of the
// text, nil if there is none.
func (r *run) beside(name string, one *fact) *fact {
	facts, ok := r.limits[name]
	if !ok {
		v := r.policy.Values[name]
		facts = map[object]*fact{}
		r.limits[name] = facts
		for _, other := range r.of(name) {
			if !other.counts() || len(v.amounts(other.figure)) == 0 {
				continue
			}
			for _, in := range []object{{}, other.object()} {
				if facts[in] == nil {
					facts[in] = other
				}
			}
		}
	}
	if near := facts[one.object()]; near != nil {
		return near
	}
	return facts[object{}]
}

// An object is an object of a JSON document; the zero value is no object.
type object struct {
	doc *document
	at  int
}

// object returns the JSON object that has the fact as a member.
func (one *fact) object() object {
	if one.form != inKey {
		return object{}
	}
	return object{one.doc, one.of().parent}
}

// A tally is a list of probabilities.
type tally struct {
	place
	parts []*reading.Value
	rows  []object // the row or object of each
}

// sums checks the sums of the joint states, or without those of the scenarios.
func (r *run) sums(f *findings, v value) {
	joint := r.joint()
	for _, t := range joint {
		for _, part := range t.parts {
			r.inRange(f, r.policy.Values["p"], &fact{place: t.place, figure: part, content: strconv.FormatFloat(part.Value, 'f', -1, 64)})
		}
		r.outside(f, v, t, "joint states")
	}
	if len(joint) > 0 {
		return
	}
	t, seen := &tally{}, map[int]bool{}
	for _, one := range r.of("p") {
		if one.figure != nil && one.whole && one.scenario > 0 && !seen[one.scenario] {
			seen[one.scenario], t.place, t.parts = true, one.place, append(t.parts, one.figure)
		}
	}
	if len(t.parts) > 1 {
		r.outside(f, v, t, "scenarios")
	}
}

// outside reports a sum that is not in the range of the value.
func (r *run) outside(f *findings, v value, t *tally, of string) {
	sum := 0.0
	for _, n := range t.parts {
		sum += value{Unit: "percent"}.amounts(n)[0] / 100
	}
	sum = math.Round(sum*1e6) / 1e6
	if r.fault(v, &fact{}, sum).severity > 0 {
		f.warn(t.place, "The probabilities of the %d %s sum to %s: want %s", len(t.parts), of, v.shown(sum), strings.Join(v.Warn, ", "))
	}
}

// joint returns the probabilities of joint states: those in tables whose first column names
// states, and in arrays of objects with a state.
func (r *run) joint() []*tally {
	var list []*tally
	in := map[object]*tally{}
	for i := range r.facts {
		one := &r.facts[i]
		table, row := one.state()
		if table == (object{}) || one.figure == nil || one.value != "p" && one.value != "jpd" {
			continue
		}
		t := in[table]
		if t == nil {
			t = &tally{place: place{table.doc, table.at}}
			in[table], list = t, append(list, t)
		}
		if n := len(t.rows); n == 0 || t.rows[n-1] != row {
			t.rows, t.parts = append(t.rows, row), append(t.parts, one.figure)
		} else if strings.Contains(strings.ToLower(one.of().label), "final") {
			t.parts[n-1] = one.figure
		}
	}
	return slices.DeleteFunc(list, func(t *tally) bool { return len(t.parts) < 2 })
}

// state returns the row or object of a fact and the table or array around it, if the row is
// that of a state.
func (one *fact) state() (table, row object) {
	p, d := one.of(), one.doc
	switch {
	case one.form == inCell && p.level > 0 && strings.Contains(strings.ToLower(p.header[0].Text), "state"):
		if !strings.EqualFold(strings.TrimSpace(p.label), "total") {
			return object{d, p.header[0].Start}, object{d, p.offset}
		}
	case one.form == inKey && p.json == '0' && p.parent >= 0 && d.parts[p.parent].parent >= 0:
		around := &d.parts[p.parent]
		for c := p.parent + 1; c < around.end && d.parts[around.parent].json == '['; c = d.parts[c].end {
			if key := strings.ToLower(d.parts[c].label); key == "state" || key == "state_id" || key == "states" {
				return object{d, d.parts[around.parent].offset}, object{d, around.offset}
			}
		}
	}
	return object{}, object{}
}

// sidecarValues compares the needed values of the text with those of its sidecars.
func (r *run) sidecarValues(f *findings) {
	for _, name := range r.stage.Needs {
		v, ok := r.policy.Values[name]
		if _, part := r.policy.Needs[name]; !ok || part {
			continue
		}
		var own, others []*fact
		for _, one := range r.of(name) {
			switch {
			case !one.counts() || r.earlier(one) || len(v.amounts(one.figure)) == 0:
			case one.doc == r.text && len(own) < maxFindings:
				own = append(own, one)
			case one.doc != r.text:
				others = append(others, one)
			}
		}
		for _, mine := range own {
			amount := v.amounts(mine.figure)[0]
			same := func(other *fact) bool { return math.Abs(amount-v.amounts(other.figure)[0]) <= v.half(mine.figure) }
			if len(others) > 0 && !slices.ContainsFunc(others, same) {
				last := others[len(others)-1]
				f.warn(mine.place, "The text states %s as %s, its sidecar as %s (%s)", v.Title, v.shown(amount), v.shown(v.amounts(last.figure)[0]), last.location())
				break
			}
		}
	}
}

// half returns half of the last digit that is shown, in the unit of the value.
func (v value) half(n *reading.Value) float64 {
	h := 0.5*math.Pow10(-n.Decimals) + 1e-9
	if v.Unit == "percent" && !n.Percent && math.Abs(n.Value) <= 1.5 {
		h *= 100
	}
	return h
}
