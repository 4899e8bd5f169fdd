package reading

// A share is one value of several behind one label, and what its own words say of it: the
// state, the turn, which X, the scenario.
type share struct {
	value    amount
	own      qualifiers
	scenario int8
}

// named says that the words tell a share from the others.
func (s *share) named(m Metric) bool {
	switch m {
	case anyX:
		return s.own.which != None
	case Probability, Magnitude:
		return s.scenario > 0
	}
	return s.own.state != 0 && s.own.state != several || s.own.turn != 0
}

// ownerWords is how many tokens may stand between a share's beginning and its value.
const ownerWords = 8

// series reads shares from token i on, and gives the token behind the last, or 0 where the
// first is none.
//
//	IVPS: State 1: $10; State 2: $12
//	X: T1 = 1.6, REFINE = 1.8
//	P: S1 30%, S2 40%
func (r *reader) series(l *label, q qualifiers, first, i int, at setting) (end int) {
	c := &r.cutter
	for range maxParts {
		s, ok := c.share(l.metric, i)
		if !ok || !s.value.fits(l) {
			return end
		}
		r.own(s, l, q, first, at)
		if end = s.value.next; end >= len(c.tokens) || !c.parts(end) {
			return end
		}
		i = end + 1
	}
	return end
}

// shared says that behind a label no value stands right there, or one that says by itself
// nothing.
func (c *cutter) shared(l *label, i int) bool {
	m := l.metric
	return !l.loose && (m == anyX || m == Probability || m == Magnitude || !c.valued(c.lead(i)))
}

// others is series behind a value: $10 (State 1), $12 (State 2).
func (r *reader) others(l *label, q qualifiers, first, i int, at setting) int {
	c := &r.cutter
	if i = c.past(i); l.loose || i >= len(c.tokens) || !c.parts(i) {
		return 0
	}
	return r.series(l, q, first, i+1, at)
}

// past is the token behind a parenthesis at token i.
func (c *cutter) past(i int) int {
	if i < len(c.tokens) && c.tokens[i].sign == openSign {
		if end := c.closing(i); end > 0 {
			return end + 1
		}
	}
	return i
}

// parts says that the token i parts one share from the next.
func (c *cutter) parts(i int) bool {
	switch k := &c.tokens[i]; k.sign {
	case commaSign, barSign, arrowSign, slashSign:
		return true
	case stopSign:
		return k.char == ';'
	case wordSign:
		return c.same(k, "and")
	}
	return false
}

// own keeps the statement of a share.
func (r *reader) own(s share, l *label, q qualifiers, first int, at setting) {
	q.state, q.turn, q.which = s.own.state, s.own.turn, s.own.which
	if q.marks |= s.own.marks; l.metric == Probability || l.metric == Magnitude {
		q.scenario = s.scenario
	}
	st := statementOf(s.value, at)
	st.settle(l.metric, q, at.above)
	st.ofScenario(at)
	if s.scenario > 0 {
		r.scenarioNamed(s.scenario, at)
	}
	r.keep(st, l, first, s.value.next, at)
}

// share reads the words at token i that say whose a value is, and the value.
func (c *cutter) share(m Metric, i int) (s share, ok bool) {
	from := i
	for ; ; i++ {
		if i >= min(len(c.tokens), from+ownerWords) {
			return s, false
		}
		k := &c.tokens[i]
		if k.sign == numberSign && !c.numbering(i) {
			break
		}
		if n, _ := scenarioAt(c.text, int(k.from)); n > 0 {
			s.scenario = n
		} else if k.sign != numberSign && k.sign != openSign && k.sign != closeSign && k.sign != colonSign && k.sign != equalSign && !(k.sign == wordSign && k.term.label == 0 && k.is(neutral|past|fresh)) {
			return s, false
		}
	}
	s.own.take(c, from, i)
	if s.value, ok = c.value(i, colon); !ok {
		return s, false
	}
	s.value = s.value.behind(colon, m)
	behind := c.gloss(s.value.next)
	s.value.next = c.past(behind)
	s.own.take(c, behind, s.value.next)
	return s, s.named(m)
}

// numbering says that the number at token i is one of a state, a turn or a scenario.
func (c *cutter) numbering(i int) bool {
	n := c.numbers[c.tokens[i].index]
	return i > 0 && n.digits == 0 && !n.money && !n.percent && (c.same(&c.tokens[i-1], "state") || c.same(&c.tokens[i-1], "turn") || c.same(&c.tokens[i-1], "scenario"))
}
