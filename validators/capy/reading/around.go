package reading

// A hit is a label with its value, and the tokens where they stand.
type hit struct {
	label *label
	value amount
	link  link
	left  int // where its clause begins
	first int // the label, or the value in front of it
	end   int // behind the label
	from  int // where the way to the value has led
}

// around takes in the words around a label and its value.
func (q *qualifiers) around(c *cutter, h hit, exp bool) {
	m := h.label.metric
	q.marks |= c.aslant(h.value, m, h.link)
	if exp && (c.has("s4", h.first-1, h.first) || c.has("s4", h.end, h.from)) {
		q.marks |= Fourth
	}
	which, near := q.which, qualifiers{}
	near.take(c, max(h.left, h.first-nearLeft), h.first)
	q.join(near)
	if m == anyX && which != None {
		q.which = which
	}
	if !h.value.became {
		q.states(c, h.left, h.first)
	}
	if q.marks&Moved == 0 && h.link != noLink && h.link != atEnd {
		q.states(c, h.end, h.from)
	}
	if h.label.exact == "g" && c.early(h.left, h.first) {
		q.marks |= Case
	}
}

// leads says that the words before the colon at token i make what follows one case of
// many, as those of a heading do: Worst case: IVPS = -$0.40.
func (c *cutter) leads(from, i int) bool {
	for j := max(from, i-nearLeft); j < i; j++ {
		if k := &c.tokens[j]; k.is(casual) && (headings[string(c.lower(k))] || telling[string(c.lower(k))]) {
			return true
		}
	}
	return false
}

// aslant is the mark of a value that may be no more than a change, or is at most a
// hint: IVPS -$0.80, IVPS: $0.80 per point, DR 12.7%.
func (c *cutter) aslant(v amount, m Metric, l link) Mark {
	switch {
	case m.PerShare() && (l == direct && v.value < 0 || c.perOther(v.next)):
		return Change
	case l == direct && (m == DR || m == Growth):
		if v.next < len(c.tokens) && c.tokens[v.next].is(casual|changing|bounding|thing) {
			return Change // 1% higher
		}
		return Bare
	}
	return 0
}

// has says that a word is one of the tokens from up to to.
func (c *cutter) has(w string, from, to int) bool {
	for i := max(from, 0); i < to; i++ {
		if c.same(&c.tokens[i], w) {
			return true
		}
	}
	return false
}

// leftOf is where the clause begins that a label at token i ends.
func (c *cutter) leftOf(i, sentence int) int {
	for j := i - 1; j >= max(sentence, i-farLeft); j-- {
		k := &c.tokens[j]
		switch k.sign {
		case equalSign, commaSign, arrowSign, operatorSign, colonSign, boundSign:
			return j + 1
		case numberSign:
			if n := c.numbers[k.index]; n.money || n.percent || n.digits > 0 || n.value > 4 && !n.year() {
				return j + 1
			}
		case wordSign:
			switch string(c.lower(k)) {
			case "with":
				if j+glosses >= i && !c.amounts(max(sentence, i-farLeft), j) {
					continue // BASE T2 left us with an IVPS
				}
				return j + 1
			case "to":
				if !c.same2(j+1, "be") {
					return j + 1
				}
			case "and", "vs", "versus":
				return j + 1
			}
		}
	}
	return max(sentence, i-farLeft)
}

// possessed is where the words begin that say whose value it is: those of the whole
// sentence, where the value is theirs.
func (c *cutter) possessed(left, first, sentence int) int {
	if first > 0 && (c.same(&c.tokens[first-1], "their") || c.same(&c.tokens[first-1], "its")) {
		return max(sentence, first-farLeft)
	}
	return left
}

// early says that the words before a g make it one of some years, or of something.
func (c *cutter) early(from, to int) bool {
	found := false
	for i := max(from, 0); i < to; i++ {
		switch string(c.lower(&c.tokens[i])) {
		case "terminal", "perpetual", "perpetuity", "long":
			return false
		case "revenue", "revenues", "sales", "cagr", "stage", "phase", "earnings", "ebitda", "eps", "fcf", "dividend", "dividends", "volume", "initial", "early", "explicit", "gdp":
			found = true
		}
	}
	return found
}
