package reading

// A heading of several labels gives a value to each: DR / g: 12.7% / 2.1%.
type abreast struct {
	label *label
	q     qualifiers
}

// maxAbreast is how many labels may stand side by side.
const maxAbreast = 4

// whole is the token behind a label before token i, and what belongs to it: the T1 of X_T1,
// the (DR) of Discount Rate (DR).
func (c *cutter) whole(i int) int {
	for i < len(c.tokens) && c.tokens[i].glued && c.tokens[i].sign == wordSign {
		i++
	}
	return c.past(i)
}

// joins says that token i joins a label to another: the / of DR / g.
func (c *cutter) joins(i int) bool {
	return i+1 < len(c.tokens) && (c.tokens[i].sign == slashSign || c.same(&c.tokens[i], "and"))
}

// abreast reads labels that stand side by side, the first of them the tokens from first to
// end, and as many values behind a link. It gives the token behind the last value, or 0.
func (r *reader) abreast(l *label, first, end int, at setting) int {
	c := &r.cutter
	var list [maxAbreast]abreast
	n := 0
	for {
		list[n] = abreast{label: l, q: qualifiers{scenario: at.scenario}}
		behind := c.whole(end)
		list[n].q.take(c, end, behind)
		if n++; n == maxAbreast || !c.joins(behind) {
			end = behind
			break
		}
		if l, end = c.labelAt(behind + 1); l == nil {
			return 0
		}
	}
	if n == 1 || end >= len(c.tokens) || c.tokens[end].sign != colonSign && c.tokens[end].sign != equalSign {
		return 0
	}
	return r.valuesAbreast(list[:n], first, end+1, at)
}

// valuesAbreast reads a value for each label, all of them or none.
func (r *reader) valuesAbreast(list []abreast, first, i int, at setting) int {
	c := &r.cutter
	var values [maxAbreast]amount
	for n := range list {
		if i = c.lead(i); !c.valued(i) {
			return 0
		}
		v := amount{number: c.numbers[c.tokens[i].index], next: i + 1}
		if values[n] = v.behind(colon, list[n].label.metric); !values[n].fits(list[n].label) {
			return 0
		}
		i++
		if n+1 < len(list) && !(i < len(c.tokens) && c.parts(i)) {
			return 0
		}
		i++
	}
	for n, a := range list {
		s := statementOf(values[n], at)
		s.settle(a.label.metric, a.q, at.above)
		s.ofScenario(at)
		r.keep(s, a.label, first, values[n].next, at)
	}
	return i - 1
}
