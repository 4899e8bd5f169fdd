package reading

// A setting is what stands around a piece of text.
type setting struct {
	at       Place
	form     Form
	above    qualifiers // of the headings, and of the line that leads a list in
	group    int32
	scenario int8
	kernel   bool // only what the kernel alone may state is kept
}

// prose reads the statements of a line, piece by piece.
func (r *reader) prose(t []byte, at setting) {
	for len(t) > maxPiece {
		n := pieceEnd(t)
		r.piece(t[:n], at)
		t = t[n:]
	}
	r.piece(t, at)
}

// pieceEnd finds a place to cut a long line: behind a sentence, or a word.
func pieceEnd(t []byte) int {
	word := maxPiece
	for i := maxPiece - 1; i > maxPiece/2; i-- {
		if t[i] != ' ' {
			continue
		}
		if t[i-1] == '.' || t[i-1] == ';' {
			return i + 1
		}
		if word == maxPiece {
			word = i + 1
		}
	}
	return word
}

// wanted is the labels that matter in a setting.
func (r *reader) wanted(at setting) wanted {
	switch {
	case at.kernel:
		return ofKernel
	case r.scenario.any:
		return inScenario
	}
	return anywhere
}

func (r *reader) piece(t []byte, at setting) {
	c := &r.cutter
	c.text, c.tokens = nil, c.tokens[:0]
	found := lex().named(t, r.wanted(at))
	r.labelled = r.labelled || found != unnamed
	if found.idle(t) && !(found == ofYears && at.above.marks&baseYear != 0) {
		return
	}
	c.cut(t)
	if c.labels == 0 {
		return
	}
	sentence := 0 // where it begins
	supposed, cased := false, false
	for i := 0; i < len(c.tokens); i++ {
		k := &c.tokens[i]
		switch {
		case k.sign == stopSign || k.sign == barSign:
			sentence, supposed, cased = i+1, false, false
		case k.is(supposing):
			supposed = true
		case k.sign == colonSign:
			cased = cased || c.leads(sentence, i)
		case k.sign == wordSign && k.term.label > 0:
			l, end := c.labelAt(i)
			if l == nil || l.metric == Magnitude && !r.scenario.any {
				continue
			}
			if end < len(c.tokens) && c.tokens[end].sign == wordSign && c.tokens[end].term.label > 0 {
				if next, _ := c.labelAt(end); next != nil && next.metric == l.metric {
					continue // the name behind it says the same
				}
			}
			here := at
			if cased {
				here.above.marks |= Case
			}
			i = max(r.label(l, i, end, sentence, supposed, here), i)
			cased = cased || c.tokens[min(i, len(c.tokens)-1)].sign == colonSign && c.leads(sentence, i)
		}
	}
}

// label reads the statement whose label is the tokens from i to end, and gives
// the last token that belongs to it.
func (r *reader) label(l *label, i, end, sentence int, supposed bool, at setting) int {
	c := &r.cutter
	first, exp := c.expectation(i)
	q := qualifiers{scenario: at.scenario}
	if exp {
		q.marks |= expected
	}
	if l.metric == anyIRR || l.metric == Probability {
		if close := r.hurdle(i); close > 0 {
			l, end = &hurdleLabel, close
		} else if l.metric == Probability && !r.scenario.any {
			return i
		}
	}
	left := c.leftOf(first, sentence)
	if l.metric == anyIRR && c.has("expect", left, first) {
		q.marks |= expected
	}
	if !supposed && c.joins(c.whole(end)) {
		if behind := r.abreast(l, i, end, at); behind > 0 {
			return behind - 1
		}
	}
	if l.metric == anyX {
		q.take(c, max(left, first-nearLeft), first)
	}
	way := path{c: c, label: l, q: &q}
	from, link := way.walk(end)
	if link == noLink && at.scenario > 0 && (l.words[0] == "magnitude" || l.metric == Magnitude && l.exact != "") {
		if n := c.sized(end); n > 0 {
			from, link = n, colon
		}
	}
	if (link == colon || link == equal) && !supposed && c.shared(l, from) {
		near := q
		near.take(c, max(left, first-nearLeft), first)
		if behind := r.series(l, near, first, from, at); behind > 0 {
			return behind - 1
		}
	}
	v, ok := amount{}, false
	if link == noLink || link == atEnd || c.operand(first) {
		if v, ok = r.inFront(l, first, end); !ok || c.operand(first) {
			return end - 1
		}
		q.take(c, v.next, first)
		first = v.next - 1
		left = c.leftOf(first, sentence)
		v.next = end
	} else if v, ok = c.linked(l, from, link); !ok {
		return r.absent(l, first, left, from, link, q, at)
	}
	q.around(c, hit{l, v, link, left, first, end, from}, exp)
	if !v.fits(l) || l.loose && !r.ours(l, v, q, c.possessed(left, first, sentence)) {
		return end - 1
	}
	if supposed {
		q.marks |= Hypothesis
	}
	r.behind(&q, v.next, l.metric)
	s := statementOf(v, at)
	if l.loose && !(l.words[0] == "intrinsic" && c.perShare(v.next)) {
		s.Marks |= Loose
	}
	s.settle(l.metric, q, at.above)
	s.ofScenario(at)
	if s.Metric == Probability || s.Metric == Magnitude {
		r.scenarios(&s, i, v.next)
	}
	r.keep(s, l, first, v.next, at)
	if s.Metric.PerShare() && s.Has(Change) && at.scenario > 0 {
		s.Metric, s.Scenario = Magnitude, at.scenario // the impact on IVPS
		r.keep(s, l, first, v.next, at)
	}
	return max(v.next, end, r.others(l, q, first, v.next, at)) - 1
}

// scenarios finds out whose P or M it is on a line that names several.
func (r *reader) scenarios(s *Statement, from, to int) {
	c := &r.cutter
	if s.Scenario == 0 {
		s.Scenario = nearest(c.text, int(c.tokens[from].from), int(c.tokens[min(to, len(c.tokens)-1)].from))
	}
	if s.Scenario > 0 {
		r.scenarioNamed(s.Scenario, setting{at: s.At})
	}
}

// keep adds a statement that was read from the tokens from up to to.
func (r *reader) keep(s Statement, l *label, from, to int, at setting) {
	c := &r.cutter
	if at.kernel && !l.metric.kernel() || s.Metric == Probability && s.Scenario == 0 || s.Metric == Magnitude && s.Scenario == 0 {
		return
	}
	start, end := int(c.tokens[min(from, len(c.tokens)-1)].from), int(c.tokens[min(to, len(c.tokens))-1].to)
	r.ledger.add(s, c.text, start, end)
}

func statementOf(v amount, at setting) Statement {
	s := Statement{At: at.at, Form: at.form, Group: at.group}
	s.take(v)
	if v.plus || v.ranged && v.value < 0 {
		s.Marks |= Change
	}
	if v.moved {
		s.Marks |= Moved
	}
	return s
}

// absent reads a label whose value is a placeholder.
func (r *reader) absent(l *label, first, left, from int, link link, q qualifiers, at setting) int {
	c := &r.cutter
	at2 := c.lead(from)
	if link == inside || at2 >= len(c.tokens) {
		return from - 1
	}
	if !Placeholder(clause(c.text[c.tokens[at2].from:])) {
		return from - 1
	}
	q.take(c, max(left, first-nearLeft), first)
	s := Statement{At: at.at, Form: at.form, Marks: Absent}
	s.settle(l.metric, q, at.above)
	if !l.loose {
		r.keep(s, l, first, min(len(c.tokens), at2+6), at)
	}
	return from - 1
}

// ofScenario marks a result that is one scenario's.
func (s *Statement) ofScenario(at setting) {
	if at.scenario > 0 && s.Metric == IVPS && s.State == 0 {
		s.Marks |= Case
	}
}

// join takes over what other qualifiers say.
func (q *qualifiers) join(o qualifiers) {
	q.marks |= o.marks
	q.bound = q.bound || o.bound
	if o.denied {
		q.marks |= Case
	}
	q.shares = q.shares || o.shares
	if q.which == None {
		q.which = o.which
	}
	if q.turn == 0 {
		q.turn = o.turn
	}
}

// settle says which metric a statement is of, and whose.
func (s *Statement) settle(m Metric, q, above qualifiers) {
	switch {
	case m == IVPS && q.marks&expected != 0:
		m = EIVPS
	case m == anyIRR && q.marks&expected != 0:
		m = EIRR
	case m == anyIRR, m == Revenue && (q.marks|above.marks)&baseYear == 0:
		m = None
	case m == anyX:
		m = q.which
	}
	if q.state == 0 || q.state == several {
		q.state = above.state
	}
	if q.turn == 0 {
		q.turn = above.turn
	}
	if m == Probability || m == Magnitude || m == CR || m == Tau {
		q.marks &^= Case | Change | Comparison
	}
	s.Metric, s.State, s.Turn, s.Scenario = m, q.state, q.turn, q.scenario
	s.Marks |= q.marks&^(expected|baseYear) | above.marks&(Case|Hypothesis|Comparison|Unseen)
}

// behind takes in the words behind a value, up to those that lead to another.
func (r *reader) behind(q *qualifiers, i int, m Metric) {
	c := &r.cutter
	end := min(len(c.tokens), i+12)
	if i < end && c.tokens[i].sign == openSign {
		if to := c.closing(i); to > 0 {
			end, i = to, i+1
		}
	}
	var o qualifiers
	from := i
	for ; i < end; i++ {
		k := &c.tokens[i]
		if k.is(turning) || c.same(k, "up") || c.same(k, "down") {
			if c.same2(i+1, "our") || c.same2(i+2, "our") {
				q.marks |= Comparison // somebody else's, beside ours
			}
			break
		}
		if k.sign == stopSign || k.sign == commaSign || k.sign == barSign || k.sign == equalSign {
			break
		}
		if k.is(supposing) && m.Rate() || k.is(denying) && (c.same2(i+1, "allowed") || c.same2(i+1, "permitted")) {
			q.marks |= Hypothesis
		}
		if k.sign == wordSign && telling[string(c.lower(k))] {
			o.marks |= Case
		}
	}
	if c.amounts(from, i) {
		return
	}
	q.marks |= o.marks
	if q.state != 0 || from >= len(c.tokens) || !(from > 0 && c.tokens[from-1].sign == openSign || c.owned(from)) {
		return
	}
	o.take(c, from, i)
	if o.state != several {
		q.state = o.state
	}
}

// telling are words behind a value that make it one case of many.
var telling = set("bear", "bull", "hypothetical", "illustrative", "example", "worst", "best", "stress", "downside", "breakeven", "consensus", "pessimistic", "optimistic")

// owned says that a word tells whose the value before it is.
func (c *cutter) owned(i int) bool {
	switch string(c.lower(&c.tokens[i])) {
	case "from", "per", "in", "at", "under", "by", "as":
		return true
	}
	return false
}

// amounts says that the tokens have a number of their own, which their words
// are about.
func (c *cutter) amounts(from, to int) bool {
	for i := from; i < to; i++ {
		if c.tokens[i].sign == numberSign {
			if n := c.numbers[c.tokens[i].index]; n.money || n.percent || n.digits > 0 {
				return true
			}
		}
	}
	return false
}

// clause is the beginning of a text up to the end of its clause.
func clause(t []byte) []byte {
	t = t[:min(len(t), 80)]
	for i, c := range t {
		if c == '|' || c == ';' || c == '\n' || c == ',' || c == '.' && i+1 < len(t) && t[i+1] == ' ' {
			return t[:i]
		}
	}
	return t
}
