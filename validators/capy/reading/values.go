package reading

// An amount is a value as a text gives it: a number, or a range of two.
type amount struct {
	number
	upper  float64
	ranged bool
	sole   bool // all that a key of JSON has: no year
	moved  bool // to it from another
	became bool // by the word: a state named before is the other's
	next   int  // the token behind it
}

// maxParts bounds the parts of an equation chain that are looked at.
const maxParts = 12

// value reads the value at token i: a number, a range, the last of an equation
// chain, or the last of a change from one to another. A formula without a
// result is none.
func (c *cutter) value(i int, l link) (v amount, ok bool) {
	moved, became := false, false
	for range maxParts {
		i = c.lead(i)
		if c.same2(i, "between") || c.same2(i, "from") {
			i = c.lead(i + 1)
		}
		if c.valued(i) {
			n := amount{number: c.numbers[c.tokens[i].index], moved: moved, became: became, next: i + 1}
			if i+1 < len(c.tokens) && c.tokens[i+1].glued && c.tokens[i+1].sign == wordSign {
				return v, ok // 20-year
			}
			at := c.gloss(n.next)
			switch next := c.follows(at); next {
			case finish:
				return n, true
			case span:
				j := c.lead(at + 1)
				m := c.numbers[c.tokens[j].index]
				n.upper, n.ranged, n.next = m.value, true, j+1
				n.percent, n.money, n.scaled = n.percent || m.percent, n.money || m.money, n.scaled || m.scaled
				n.digits = max(n.digits, m.digits)
				return n, true
			case chain:
				v, ok = n, true
				moved, became = moved || c.tokens[at].sign != equalSign, became || c.tokens[at].sign == wordSign
				i = at + 1
				continue
			case change:
				v, ok, moved = n, true, true
				i = c.movesTo(at + 1)
				continue
			}
		}
		next := c.nextEqual(i)
		if next < 0 || l != equal && c.variable(i, next) {
			return v, ok
		}
		i = next + 1
	}
	return v, ok
}

// enclosed reads a value in brackets of its own behind a link: $14 of IVPS: [$14], and
// -3.2% of E[IRR]: (3.2%), which is accounting's way to write a negative where there
// can be one.
func (c *cutter) enclosed(i int, l link, m Metric) (amount, bool) {
	if i = c.lead(i); i < len(c.tokens) && c.tokens[i].sign == otherSign && moneySign(c.text[c.tokens[i].from:]) > 0 {
		i++
	}
	if l != equal && l != colon || i+2 >= len(c.tokens) || c.tokens[i].sign != openSign || !c.valued(i+1) || c.tokens[i+2].sign != closeSign || c.follows(i+3) != finish {
		return amount{}, false
	}
	n := c.numbers[c.tokens[i+1].index]
	if open := &c.tokens[i]; open.char == '(' && m != Probability && m != PIRR && !(open.from > 0 && c.text[open.from-1] == '\\') { // \( of LaTeX
		n.value = -n.value
	}
	return amount{number: n, next: i + 3}, n.money || n.percent || n.digits > 0 // (1) is a note
}

func (c *cutter) same2(i int, w string) bool { return i < len(c.tokens) && c.same(&c.tokens[i], w) }

// What follows a number.
const (
	finish   = iota
	operator // the number is part of a formula
	span     // a range: the other end stands behind the next token
	chain    // an equal sign, an arrow, becomes
	change   // a verb that leads to another: declines to
)

// follows says how a text goes on at token i, behind a number.
func (c *cutter) follows(i int) int {
	if i >= len(c.tokens) {
		return finish
	}
	k := &c.tokens[i]
	behind := c.lead(i + 1)
	switch k.sign {
	case equalSign:
		return chain
	case arrowSign:
		if c.valued(behind) {
			return chain
		}
	case dashSign:
		if c.valued(behind) {
			return c.dash(i)
		}
	case operatorSign:
		if c.parting(i) {
			return finish
		}
		return operator
	case slashSign:
		if i+1 < len(c.tokens) && (c.valued(i+1) && !(k.spaced && c.numbers[c.tokens[i+1].index].money && c.tokens[i+1].spaced) || c.tokens[i+1].sign == openSign) {
			return operator
		}
	case wordSign:
		w := string(c.lower(k))
		if (w == "to" || w == "and" && c.ranging(i) || w == "through") && c.valued(behind) {
			return span
		}
		if (w == "becomes" || w == "became") && c.valued(behind) {
			return chain
		}
		if k.is(moving) && c.movesTo(i+1) > 0 {
			return change
		}
		if w == "x" && i+1 < len(c.tokens) && (c.valued(i+1) || c.tokens[i+1].sign == openSign) {
			return operator
		}
	}
	return finish
}

// ranging says that an "and" at token i joins the ends of a range: between
// $12 and $14.
func (c *cutter) ranging(i int) bool {
	for j := i - 2; j >= max(0, i-4); j-- {
		if c.same(&c.tokens[j], "between") {
			return true
		}
	}
	return false
}

// dash tells a range from a minus: a hyphen between two numbers of money or
// percent, or without spaces, joins a range.
func (c *cutter) dash(i int) int {
	k := &c.tokens[i]
	next := &c.tokens[i+1]
	if i == 0 || !c.valued(i-1) || !c.valued(i+1) {
		return finish
	}
	a, b := c.numbers[c.tokens[i-1].index], c.numbers[next.index]
	if k.char == '-' && k.spaced && next.spaced && !a.money && !b.money && !(a.percent && b.percent) {
		return operator
	}
	return span
}

// gloss skips what may stand between a number and what leads on from it: per
// share, and a parenthesis where an arrow follows.
func (c *cutter) gloss(i int) int {
	for j := i; j < len(c.tokens) && j < i+3; j++ {
		k := &c.tokens[j]
		if !(k.is(sharing) || c.same(k, "per") || c.same(k, "a") || k.sign == slashSign && c.same2(j+1, "share")) {
			break
		}
		if k.is(sharing) && j+1 < len(c.tokens) {
			i = j + 1
		}
	}
	if i < len(c.tokens) && c.tokens[i].sign == openSign {
		if end := c.closing(i); end > 0 && end+1 < len(c.tokens) && (c.tokens[end+1].sign == arrowSign || c.tokens[end+1].is(moving)) {
			return end + 1
		}
	}
	return i
}

// nextEqual finds where the next part of an equation chain begins, within the
// clause.
func (c *cutter) nextEqual(i int) int {
	for ; i < len(c.tokens); i++ {
		switch k := &c.tokens[i]; k.sign {
		case equalSign:
			return i
		case arrowSign:
			if j := c.lead(i + 1); c.valued(j) && c.amounts(j, j+1) {
				return i
			}
		case stopSign, barSign, boundSign:
			return -1
		case commaSign:
			if i+1 < len(c.tokens) && c.tokens[i+1].sign == wordSign {
				return -1
			}
		}
	}
	return -1
}

// variable says that the tokens are the name of something else.
func (c *cutter) variable(from, to int) bool {
	for i := from; i < to; i++ {
		if s := c.tokens[i].sign; s != wordSign && s != openSign && s != closeSign {
			return false
		}
	}
	return to > from
}

// perShare says that what stands at token i makes a value one per share.
func (c *cutter) perShare(i int) bool {
	for j := i; j < min(len(c.tokens), i+4); j++ {
		k := &c.tokens[j]
		if k.is(sharing) || c.same(k, "each") || c.same(k, "sh") || c.same(k, "adr") || c.same(k, "ads") || c.same(k, "unit") {
			return true
		}
		if !c.same(k, "per") && !c.same(k, "a") && !c.same(k, "diluted") && !c.same(k, "ordinary") && !c.same(k, "common") && !c.same(k, "fully") && !c.same(k, "basic") && !c.same(k, "class") && k.sign != slashSign && k.sign != closeSign {
			return false
		}
	}
	return false
}

// perOther says that a value is one per something else than a share, a barrel or a
// point, and not per our model.
func (c *cutter) perOther(i int) bool {
	if !c.same2(i, "per") || i+1 >= len(c.tokens) || c.perShare(i) {
		return false
	}
	k := &c.tokens[i+1]
	return k.sign == numberSign || k.sign == wordSign && (!k.is(neutral) || c.same(k, "point") || c.same(k, "percent")) && !isUpper(c.text[k.from])
}

// fits says whether an amount can be of a label's metric.
func (v amount) fits(l *label) bool {
	switch m := l.metric; {
	case v.plus && m.PerShare():
		return false // a change
	case v.points && m != Magnitude:
		return (m.Rate() || m == anyIRR) && !v.plus && !v.ranged && !v.word && v.value >= 0 // else a change
	case m.PerShare():
		return !v.percent && !v.scaled && (v.money || v.digits > 0 || !v.word && !v.ranged && !v.year())
	case m == Revenue:
		return !v.percent
	case m == SSE || m == JPD:
		return !v.scaled && !v.money && (!v.word || v.digits > 0 || v.percent)
	case m == anyX:
		return !v.percent && !v.money && (!v.scaled || v.times) && !v.ranged
	case m == CR || m == Tau:
		return !v.money && !v.scaled
	case m == Magnitude:
		return true
	case m == Probability:
		return !v.money && !v.scaled && (v.percent || v.digits > 0 || !v.word)
	case m == anyIRR || m == PIRR:
		return !v.money && !v.scaled && (v.percent || v.digits > 0 || !v.word && !v.year())
	}
	return !v.money && !v.scaled && !v.ranged && (v.percent || v.digits > 0 || !v.word && !v.year())
}

// behind gives an amount as one that follows a link: its plus is then no more than
// its sign, unless it is of money and follows nothing. A thousand percent is no rate of
// these, nor an X: their comma is a decimal one.
func (v amount) behind(l link, m Metric) amount {
	if v.grouped && (m == anyX || v.percent && (m == DR || m == Growth || m == Probability || m == PIRR)) {
		v.value, v.digits = v.value/1000, 3
	}
	v.plus = v.plus && (v.ranged || v.points || m.PerShare() && l != equal && l != colon)
	return v
}

// year says that a value is one of a calendar.
func (v amount) year() bool { return !v.sole && v.number.year() }

// year says that a number is one of a calendar.
func (n number) year() bool {
	return !n.money && n.digits == 0 && n.value >= 1900 && n.value <= 2100
}
