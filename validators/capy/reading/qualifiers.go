package reading

// Qualifiers are what the words around a number say of it.
type qualifiers struct {
	marks    Mark
	state    int8
	turn     int8
	scenario int8
	which    Metric // of an X: XT1, XRefine, XFinal
	bound    bool   // at least, above
	denied   bool
	shares   bool // said to be per share
}

// A speech goes through words and finds out the state of the valuation that
// they name: BASE T2, State 3, the prior IVPS.
type speech struct {
	before []byte
	module int8 // of the words before: BASE, and not yet T1 or T2
}

// take takes in the words of the tokens from up to to.
func (q *qualifiers) take(c *cutter, from, to int) {
	var s speech
	for i := from; i < to; i++ {
		k := &c.tokens[i]
		switch k.sign {
		case wordSign:
			said := k.term.sense
			if said&changing != 0 && i > 0 && (c.same(&c.tokens[i-1], "these") || c.same(&c.tokens[i-1], "those")) {
				said &^= changing // with these changes the IVPS is
			}
			q.word(said, c.lower(k))
			if k.glued && c.same(k, "side") && i > 0 && (c.same(&c.tokens[i-1], "sell") || c.same(&c.tokens[i-1], "buy")) {
				q.marks |= Comparison
			}
			s.word(q, c.text[k.from:k.to], c.lower(k))
		case numberSign:
			s.number(q, c.numbers[k.index])
		}
	}
	q.module(s.module)
}

// states takes in only the state that the tokens name.
func (q *qualifiers) states(c *cutter, from, to int) {
	if q.state != 0 {
		return
	}
	var r qualifiers
	base := false
	for i := from; i < to; i++ {
		base = c.tokens[i].sign == wordSign && string(c.lower(&c.tokens[i])) == "base"
	}
	r.take(c, from, to)
	if q.state = r.state; q.state == 0 && base {
		q.state = 1 // Base IVPS, but not a base case's
	}
	if q.turn == 0 {
		q.turn = r.turn
	}
}

// word takes in the sense of one word.
func (q *qualifiers) word(s sense, w []byte) {
	if s&casual != 0 {
		q.marks |= Case
	}
	if s&changing != 0 {
		q.marks |= Change
	}
	if s&supposing != 0 {
		q.marks |= Hypothesis
	}
	if s&foreign != 0 {
		q.marks |= Comparison
	}
	if s&fresh != 0 {
		q.marks |= Fresh
	}
	if s&expecting != 0 {
		q.marks |= expected
	}
	q.bound = q.bound || s&bounding != 0
	q.denied = q.denied || s&denying != 0
	q.shares = q.shares || s&sharing != 0
	switch string(w) {
	case "y0":
		q.marks |= baseYear
	case "t1":
		q.name(XT1)
	case "refine":
		q.name(XRefine)
	case "final", "average", "avg", "averaged":
		q.name(XFinal)
	}
}

// name says which X it is: T1's wins over the rest, else the first word.
func (q *qualifiers) name(which Metric) {
	if q.which == None || which == XT1 {
		q.which = which
	}
}

// title takes in what a heading says of everything under it.
func (q *qualifiers) title(c *cutter, title []byte, level int) {
	*q = qualifiers{}
	c.cut(title[:min(len(title), 300)])
	var s speech
	based, changed := false, false
	for i := range c.tokens {
		switch k := &c.tokens[i]; k.sign {
		case wordSign:
			w := c.lower(k)
			if headings[string(w)] {
				q.marks |= Case
			}
			if k.is(supposing) {
				q.marks |= Hypothesis
			}
			based = based || string(w) == "y0"
			changed = changed || k.is(changing)
			s.word(q, c.text[k.from:k.to], w)
		case numberSign:
			s.number(q, c.numbers[k.index])
		}
	}
	q.module(s.module)
	if level == 1 || q.state == several {
		q.state = 0 // a title names its own stage
	}
	q.marks &= Case | Hypothesis
	if based && !changed {
		q.marks |= baseYear
	}
}

// headings are words of a heading under which no number is the result.
var headings = set("sensitivity", "sensitivities", "tornado", "stress", "peer", "peers", "comparable", "comparables", "comps", "bear", "bull", "reverse", "alternative", "alternatives", "benchmarks", "illustrative", "example")

// word takes one word in, its state or the module that the next word may name
// the turn of.
func (s *speech) word(q *qualifiers, w, lower []byte) {
	before := string(s.before)
	if before == "after" && string(lower) == "the" {
		return
	}
	s.before = lower
	switch before {
	case "post", "after":
		q.module(outcomes[string(lower)])
	case "pre":
		if outcomes[string(lower)] > 0 {
			return
		}
	}
	switch {
	case len(lower) == 6 && string(lower[:5]) == "state" && lower[5] >= '1' && lower[5] <= '4':
		q.mark(int8(lower[5] - '0'))
	case turnWord(lower) > 0:
		s.turned(q, turnWord(lower))
		return
	case string(lower) == "a.7" || string(lower) == "a7":
		q.mark(AnyT2) // a T2's artifact
		return
	case lex().look(lower).sense&past != 0:
		q.mark(Earlier)
	case string(lower) == "turn":
		return
	}
	m := moduleOf(w, lower, false)
	if s.module > 0 && string(lower) == "case" && before != "" {
		s.module = 0 // a base case is a case
		return
	}
	q.module(s.module)
	s.module = m
}

// outcomes are the states that there are after something.
var outcomes = map[string]int8{"enrich": 2, "enrichment": 2, "scenario": 3, "scenarios": 3, "int": 4, "integration": 4, "adjudication": 4}

// number takes in State 1 and Turn 2.
func (s *speech) number(q *qualifiers, n number) {
	before := string(s.before)
	s.before = nil
	if n.money || n.percent || n.digits > 0 || n.value < 1 || n.value > 4 {
		return
	}
	switch before {
	case "state":
		q.mark(int8(n.value))
	case "turn":
		s.turned(q, map[int]int8{1: 1, 2: 3, 3: 4}[int(n.value)])
	}
}

// turnWord is the turn that a word names: 1 T1, 2 REFINE, 3 T2, 4 T3.
func turnWord(w []byte) int8 {
	switch string(w) {
	case "t1":
		return 1
	case "refine":
		return 2
	case "t2":
		return 3
	case "t3":
		return 4
	}
	return 0
}

func (s *speech) turned(q *qualifiers, turn int8) {
	if q.turn == 0 {
		q.turn = turn
	}
	if turn == 3 {
		if s.module == 0 {
			s.module = moduleOf(nil, s.before, true)
		}
		if s.module > 0 {
			q.mark(s.module)
		} else {
			q.mark(AnyT2)
		}
	}
	s.module = 0
}

func (q *qualifiers) module(m int8) {
	if m > 0 {
		q.mark(m)
	}
}

// mark notes a state: Earlier and AnyT2 give way to one that is named, and two that
// are named are several.
func (q *qualifiers) mark(state int8) {
	switch {
	case q.state == 0 || q.state == state:
		q.state = state
	case q.state == Earlier || q.state == AnyT2:
		if state > 0 {
			q.state = state
		}
	case state == Earlier || state == AnyT2:
	default:
		q.state = several
	}
}

// moduleOf is the state that a module's T2 makes. A module is written in
// capitals, or its turn is named.
func moduleOf(w, lower []byte, turn bool) int8 {
	if !turn && !isUpper(w[len(w)-1]) {
		return 0
	}
	switch string(lower) {
	case "base":
		return 1
	case "enrich":
		return 2
	case "scenario":
		return 3
	case "int", "integration":
		return 4
	}
	return 0
}

// step takes in the words of a key, or of a column, that tell an old value from a new
// one.
func (q *qualifiers) step(l *tokenList) {
	switch {
	case l.has("before", "old", "pre", "from"):
		q.mark(Earlier)
	case l.has("after", "new", "post", "to"):
		q.marks |= Fresh
	}
}

// key takes in the tokens of a JSON key.
func (q *qualifiers) key(l *tokenList) {
	for i := range l.n {
		w := string(l.word(i))
		next := ""
		if i+1 < l.n {
			next = string(l.word(i + 1))
		}
		switch {
		case w == "state" && len(next) == 1 && next[0] >= '1' && next[0] <= '4':
			q.mark(int8(next[0] - '0'))
		case len(w) == 6 && w[:5] == "state" && isDigit(w[5]):
			q.mark(int8(w[5] - '0'))
		case w == "t2" && i == 0:
			q.mark(AnyT2)
		case lex().look(l.word(i)).sense&past != 0:
			q.mark(Earlier)
		case w == "base" && (next == "t2" || next == "ivps" || next == "stage" || next == "valuation") || w == "ivps" && next == "base":
			q.mark(1)
		case w == "enrich" || w == "enriched" && next == "ivps":
			q.mark(2)
		case w == "post" || w == "after":
			q.module(outcomes[next])
		case w == "scenario" && (next == "t2" || next == "stage"):
			q.mark(3)
		case w == "int" || w == "integrated":
			q.mark(4)
		}
		if lex().look(l.word(i)).sense&fresh != 0 {
			q.marks |= Fresh
		}
		if w == "expected" {
			q.marks |= expected
		}
	}
	if q.state == several {
		q.state = 0
	}
}
