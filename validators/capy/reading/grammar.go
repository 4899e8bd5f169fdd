package reading

import "bytes"

// A link is what joins a label to its value.
type link uint8

const (
	noLink link = iota
	equal       // = ≈ →
	colon       // : is was of at
	direct      // nothing: E[IVPS] $198.34
	inside      // parentheses: IVPS ($198.34)
	atEnd       // the text ends behind the label: a cell of a table
)

// How far a label's words may reach, in tokens.
const (
	farRight = 22
	farLeft  = 14
	nearLeft = 6
	glosses  = 2
	unknowns = 8 // words between a label and its verb that the vocabulary has not
)

// labelAt reads a label at token i and gives the token behind it.
func (c *cutter) labelAt(i int) (*label, int) {
	for n := c.tokens[i].term.label; n > 0; {
		l := &lex().labels[n-1]
		if end := c.matches(l, i); end > 0 {
			return l, end
		}
		n = l.next
	}
	return nil, i
}

func (c *cutter) matches(l *label, i int) int {
	if i+len(l.words) > len(c.tokens) {
		return 0
	}
	first := &c.tokens[i]
	if l.exact != "" && string(c.text[first.from:first.to]) != l.exact {
		return 0
	}
	for j, w := range l.words[1:] {
		k := &c.tokens[i+1+j]
		if w == "/" && k.sign == slashSign || c.same(k, w) {
			continue
		}
		return 0
	}
	end := i + len(l.words)
	if l.exact == "g" && !c.growth(i, end) {
		return 0
	}
	return end
}

// growth tells the g of g = 2.1%, g: 2.1%, g 2.1% and a cell from the last letter of
// e.g. and from grams.
func (c *cutter) growth(i, end int) bool {
	if from := c.tokens[i].from; from > 0 && c.text[from-1] == '.' {
		return false
	}
	if end == len(c.tokens) {
		return i == 0
	}
	s := c.tokens[end].sign
	if s == closeSign { // 永续增长率 (g): 2.1%
		return i > 0 && c.tokens[i-1].sign == openSign && (end+1 == len(c.tokens) || c.tokens[end+1].sign == colonSign || c.tokens[end+1].sign == equalSign)
	}
	if s == openSign && end+1 < len(c.tokens) && c.tokens[end+1].char >= 0x80 {
		return true // in words that are not known
	}
	if s == openSign || s == wordSign && c.tokens[end].glued { // g (terminal), g_terminal
		if s == openSign {
			end++
		}
		return c.has("terminal", end, min(end+1, len(c.tokens))) || c.has("perpetual", end, min(end+1, len(c.tokens)))
	}
	return s == equalSign || s == colonSign || s == numberSign && c.numbers[c.tokens[end].index].percent
}

// A path is the way from a label to its value.
//
//	IVPS = $198                     equal
//	IVPS of $198, IVPS: $198        colon
//	IVPS $198.34                    direct
//	IVPS ($198) is                  inside
//	IVPS decreased from $10 to $8   colon, at the $8
//	IVPS is not $5, IVPS exceeds $5 none: it is denied, or bounded
type path struct {
	c     *cutter
	label *label
	q     *qualifiers
	far   int // words on it that the vocabulary has not
	group int // the value in parentheses, -1 without
	limit int // the token at which it ends
	names int // names of the same metric that were passed over
}

// walk starts the way at the token behind the label.
func (p *path) walk(i int) (at int, l link) {
	p.group, p.limit = -1, min(len(p.c.tokens), i+farRight)
	return p.follow(i)
}

// follow goes from the token behind a label to where its value begins.
func (p *path) follow(i int) (at int, l link) {
	c := p.c
	for i < p.limit {
		k := &c.tokens[i]
		if k.glued && k.sign == numberSign {
			if i++; p.ofState(&c.numbers[k.index]) {
				continue
			}
			return i - 1, noLink // DR_12
		}
		switch k.sign {
		case closeSign:
			i++
		case openSign:
			end := c.closing(i)
			if end < 0 {
				return i, noLink
			}
			if k.glued && end == i+2 && c.valued(i+1) && p.ofState(&c.numbers[c.tokens[i+1].index]) {
				i = end + 1
				continue
			}
			if !p.bracket(i, end) {
				return i, noLink
			}
			i = end + 1
		case equalSign, arrowSign:
			return i + 1, equal
		case colonSign:
			return i + 1, colon
		case wordSign:
			next, l, done := p.word(i)
			if done {
				return next, l
			}
			i = next
		default:
			return p.sign(i)
		}
	}
	if i >= len(c.tokens) {
		return p.end(i, atEnd)
	}
	return p.end(i, noLink)
}

// ofState takes in the number of a state that is glued to a value of the shares: the 4 of
// E[IVPS]_4.
func (p *path) ofState(n *number) bool {
	if !p.label.metric.PerShare() || n.digits > 0 || n.money || n.percent || n.value < 1 || n.value > 4 {
		return false
	}
	p.q.mark(int8(n.value))
	return true
}

// end is the link where none follows: the value may have been in parentheses.
func (p *path) end(i int, l link) (int, link) {
	if p.group >= 0 {
		return p.group, inside
	}
	return i, l
}

// bracket reads what is in parentheses behind a label: its value, or words
// about it. It is false where they make something else of the label, as in
// P(IVPS < 10).
func (p *path) bracket(i, end int) bool {
	c := p.c
	j := c.lead(i + 1)
	if j < end && c.tokens[j].sign == numberSign && p.group < 0 {
		n := c.numbers[c.tokens[j].index]
		alone := true
		for _, k := range c.tokens[j+1 : end] {
			alone = alone && k.sign != boundSign && k.sign != operatorSign
		}
		if alone && (n.money && p.label.metric.PerShare() || n.percent && p.label.metric != Probability && p.label.metric.Rate() || n.percent && p.label.metric == anyIRR) && (!n.plus || p.label.metric == anyIRR && j+1 == end) {
			p.group = j
			return true
		}
	}
	for j := i + 1; j < end && p.label.metric == Probability; j++ {
		if k := &c.tokens[j]; k.sign == boundSign || k.sign == barSign || k.sign == wordSign && k.term.label > 0 && !c.same(k, "p") && !c.same(k, "posterior") {
			return false
		}
	}
	p.q.take(c, i+1, end)
	return true
}

// sign goes on behind a sign that is no word.
func (p *path) sign(i int) (int, link) {
	c, k := p.c, &p.c.tokens[i]
	m := p.label.metric
	next := token{sign: otherSign}
	j := c.lead(i + 1)
	if j < len(c.tokens) {
		next = c.tokens[j]
	}
	number := next.sign == numberSign && (c.numbers[next.index].money && m.PerShare() || c.numbers[next.index].percent && (m.Rate() || m == anyIRR) || m == anyX && c.numbers[next.index].digits > 0 && !c.minus(i, j))
	switch k.sign {
	case numberSign:
		n := c.numbers[k.index]
		if p.far == 0 && c.set(i) {
			return i, colon
		}
		if near := p.far == 0 && !c.same2(i-1, "by"); near && (m.PerShare() && (n.money || n.digits == 2) || (m == anyIRR || m == PIRR || m == EIRR || m == DR || m == Growth) && n.percent) {
			return i, direct
		}
		if p.label.exact != "" && (m.ofScenario(n) || n.percent) && (m == Probability || m == Magnitude) && c.opens(i-1) {
			return i, direct
		}
		if m.kernel() && p.far < unknowns && n.digits == 0 && !n.money && !n.percent {
			p.far++
			return p.follow(i + 1)
		}
	case dashSign, barSign:
		if number || k.char >= 0x80 && next.sign == numberSign && m.ofScenario(c.numbers[next.index]) {
			return i + 1, colon
		}
	case commaSign:
		if number && m.kernel() && p.far == 0 {
			return i + 1, direct
		}
		if next.sign == wordSign && m.kernel() && (c.same(&next, "which") || c.same(&next, "that")) {
			return p.follow(j + 1)
		}
		if next.term.sense&(linking|joining) != 0 && m.kernel() && p.far == 0 { // the value, IVPS, is
			return p.follow(j)
		}
		if end := c.aside(i); end > 0 && m.kernel() && p.far == 0 {
			p.q.take(c, i+1, end)
			return p.follow(end + 1)
		}
	case otherSign:
		if number && (k.char == '@' || k.char == '#' || k.char == '.') {
			return i + 1, colon
		}
		if k.char == '%' || k.char == '^' {
			return p.follow(i + 1)
		}
	}
	return p.end(i, noLink)
}

// set says that a tab or a tilde joins the number at token i to what is before it.
func (c *cutter) set(i int) bool {
	if i == 0 {
		return false
	}
	gap := c.text[c.tokens[i-1].to:c.tokens[i].from]
	return len(gap) > 0 && (bytes.IndexByte(gap, '\t') >= 0 || bytes.Count(gap, []byte{'~'}) == 1)
}

// opens says that the token at i begins a line, or a part of one: P 0.30, M -2.40.
func (c *cutter) opens(i int) bool {
	if i <= 0 {
		return i == 0
	}
	switch c.tokens[i-1].sign {
	case commaSign, stopSign, colonSign, barSign, openSign, dashSign:
		return true
	}
	return false
}

// minus says that the sign at token i is one of arithmetic before the number at token j:
// X_REFINE - 1.0 = 0.6.
func (c *cutter) minus(i, j int) bool {
	k := &c.tokens[i]
	return k.sign != dashSign && k.sign != otherSign || bytes.HasPrefix(c.text[k.from:], []byte("−")) || j+1 < len(c.tokens) && (c.tokens[j+1].sign == equalSign || c.tokens[j+1].sign == operatorSign || c.tokens[j+1].sign == barSign)
}

// ofScenario says that a number behind a dash may be a P or an M: 0.35, -12%, $1.10.
func (m Metric) ofScenario(n number) bool {
	return m == Probability && n.digits > 0 || m == Magnitude && (n.digits > 0 || n.percent || n.money)
}

// aside finds the comma that closes a few words behind the one at token i, where
// the sentence goes on with is, or comes to: E[IRR], as computed, is 14.2%. It is 0
// where they deny, bound or compare, or have a number or a name.
func (c *cutter) aside(i int) int {
	for j := i + 1; j < min(len(c.tokens)-1, i+2+glosses*2); j++ {
		k := &c.tokens[j]
		switch {
		case k.sign == commaSign && j > i+1 && c.tokens[j+1].is(linking):
			return j
		case k.sign != wordSign || k.term.label > 0 || k.is(denying|bounding|turning|supposing):
			return 0
		}
	}
	return 0
}

// word goes on behind a word; done says that the way ends here.
func (p *path) word(i int) (next int, l link, done bool) {
	c, k := p.c, &p.c.tokens[i]
	m := p.label.metric
	kernel := m.kernel()
	stop := func() (int, link, bool) {
		at, l := p.end(i, noLink)
		return at, l, true
	}
	switch s := k.term.sense; {
	case k.is(denying) || k.is(bounding) && !k.glued, k.is(turning):
		return stop()
	case k.is(moving) && kernel:
		if to := c.movesTo(i + 1); to > 0 {
			p.q.marks |= Moved
			return to, colon, true
		}
		if k.is(changing) {
			p.q.marks |= Change
		}
		return i + 1, noLink, false
	case s&linking != 0:
		if p.group >= 0 {
			return p.group, inside, true
		}
		if at := c.lead(i + 1); c.valued(at) {
			return at, colon, true
		}
		if at := i + 1; !kernel || at >= len(c.tokens) || c.tokens[at].sign == commaSign {
			return i + 1, colon, true
		}
		return i + 1, noLink, false
	case s&joining != 0:
		if at := c.lead(i + 1); c.valued(at) && (p.far == 0 || p.label.shares) {
			return at, colon, true
		}
		if !kernel {
			return i + 1, colon, true
		}
		return i + 1, noLink, false
	}
	if other, end := c.labelAt(i); other != nil && other.metric != Magnitude && other.metric != Probability {
		if same := other.metric == m || m.PerShare() && (other.metric.PerShare() || other.loose); same && p.names < glosses {
			p.names++
			return end, noLink, false
		} else if same {
			return stop()
		}
		if k.term.sense&(neutral|changing|casual) == 0 {
			return stop()
		}
	}
	known := k.term.sense & (neutral | casual | changing | foreign | past | fresh | expecting | supposing | lead | sharing)
	switch {
	case k.is(thing) && known == 0:
		return stop()
	case known != 0 || m == anyX && c.multiplier(k) || (m == CR || m == Tau) && k.glued:
		p.q.take(c, i, i+1)
	case c.same(k, "x") || (c.same(k, "terminal") || c.same(k, "perpetual")) && (m == ROIC || m == Growth) || k.from > 0 && c.same(k, "irr"):
	case !kernel || p.far >= unknowns || k.glued:
		return stop()
	default:
		p.far++
	}
	return i + 1, noLink, false
}

func (c *cutter) multiplier(k *token) bool {
	switch string(c.lower(k)) {
	case "multiplier", "risk", "factor", "systematic", "average", "avg", "averaged", "mean":
		return true
	}
	return false
}
