package reading

import "bytes"

// A caption is what a cell that is nothing but a label says.
type caption struct {
	label *label
	q     qualifiers
}

func (p *caption) is(m Metric) bool { return p.label != nil && p.label.metric == m }

// caption reads a cell that is nothing but a label; its label is nil for any
// other.
func (r *reader) caption(cell []byte) caption {
	if len(cell) == 0 || len(cell) > 160 || lex().named(cell, anywhere) == unnamed {
		return caption{}
	}
	c := &r.cutter
	c.cut(cell)
	if c.labels == 0 {
		return caption{}
	}
	for i := range c.tokens {
		if c.tokens[i].sign != wordSign || c.tokens[i].term.label == 0 {
			continue
		}
		l, end := c.labelAt(i)
		if l == nil {
			continue
		}
		first, exp := c.expectation(i)
		var q qualifiers
		if exp {
			q.marks |= expected
		}
		if l.metric == anyIRR || l.metric == Probability {
			if end2 := r.hurdle(i); end2 > 0 {
				l, end = &hurdleLabel, end2
			}
		}
		if l.shares || c.operand(first) || l.metric == Probability || l.metric == Magnitude {
			continue
		}
		q.take(c, 0, first)
		if q.denied {
			return caption{}
		}
		way := path{c: c, label: l, q: &q}
		if at, link := way.walk(end); link != atEnd && !(link == colon && at >= len(c.tokens)) {
			if l.metric == PIRR {
				continue
			}
			return caption{}
		}
		return caption{l, q}
	}
	return caption{}
}

// rows reads the statements of a table's row: a label and its value in the
// cells behind it, a value in the column of a label, or both in one cell.
func (r *reader) rows(l *line, at setting) {
	at.form = Cell
	r.scenario.row(r, l, at)
	first := caption{}
	for i, cell := range l.cells {
		p := caption{}
		r.labelled = false
		if r.prose(cell, at); r.labelled {
			p = r.caption(cell)
		}
		if i == 0 {
			first = p
		}
		switch {
		case p.label != nil && i == 1 && len(l.cells) == 2 && !l.head:
			r.ahead(l, p, at)
		case p.label != nil && !(l.head && !r.valuedCell(l, i+1)):
			r.across(l, i, p, at)
		case !l.head && i < len(l.header) && first.label == nil:
			r.down(l, i, at)
		}
	}
	if l.head {
		r.group++
		r.columns(l)
	}
}

// valuedCell says that a cell of a table's head holds a number: it is no head,
// but a row that stands where one should be.
func (r *reader) valuedCell(l *line, i int) bool {
	if i >= len(l.cells) {
		return false
	}
	v, ok := r.cellValue(l.cells[i])
	return ok && (v.money || v.percent || v.digits > 0)
}

// columns reads the captions of a table's head.
func (r *reader) columns(l *line) {
	r.heads = r.heads[:0]
	r.chanced, r.sole = false, false
	for i, cell := range l.cells {
		p := r.caption(cell)
		r.heads = append(r.heads, p)
		r.chanced = r.chanced || r.scenario.columns[i].p
		r.sole = r.sole || (p.is(DR) || p.is(Growth) || p.is(ROIC)) && r.walker.oneRow()
	}
}

// oneRow says that the table whose head is the present line has one row, so that what it has
// is no case of many.
func (w *walker) oneRow() bool {
	_, t, _ := bytes.Cut(w.text[w.pos:min(len(w.text), w.pos+2*maxPiece)], []byte{'\n'})
	row, t, _ := bytes.Cut(t, []byte{'\n'})
	behind, _, _ := bytes.Cut(t, []byte{'\n'})
	return !w.tags.in && bytes.IndexByte(row, '|') >= 0 && bytes.IndexByte(behind, '|') < 0
}

// across reads the values behind a label: of each column, if the table has a
// head that tells them apart, else the first.
func (r *reader) across(l *line, label int, p caption, at setting) {
	for i := label + 1; i < len(l.cells); i++ {
		cell := l.cells[i]
		q := p.q
		if i < len(l.header) {
			if len(l.header[i]) > 0 && bytes.Equal(l.header[i], l.header[label]) {
				return // Metric | Value | Metric | Value
			}
			q.column(r, l.header[i], p.label.metric)
		}
		v, ok := r.cellValue(cell)
		link := colon
		if i > label+1 {
			link = noLink // one of money may be by how much
		}
		v = v.behind(link, p.label.metric)
		if !ok {
			if i == label+1 && len(trimMarks(cell)) > 0 && Placeholder(cell) {
				s := Statement{At: at.at, Form: Cell, Marks: Absent}
				s.settle(p.label.metric, q, at.above)
				if !p.label.loose {
					r.ledger.add(s, cell, 0, len(cell))
				}
			} else if i == label+1 && p.label.metric != IVPS && !r.told(l, i) {
				return
			}
			continue
		}
		if !v.money && !v.percent && v.year() {
			continue // whose value stands behind it
		}
		if !v.fits(p.label) {
			return // a row of another's changes: Discount rate, $171, $234
		}
		r.cell(cell, v, p.label, q, at)
		if len(l.header) == 0 || i > label+5 {
			return
		}
	}
}

// ahead reads the value in the cell before a label, where a table has its values
// first. A bare number may be the row's.
func (r *reader) ahead(l *line, p caption, at setting) {
	q := p.q
	if len(l.header) > 0 {
		q.column(r, l.header[0], p.label.metric)
	}
	v, ok := r.cellValue(l.cells[0])
	if v = v.behind(noLink, p.label.metric); ok && (v.money || v.percent) && v.fits(p.label) {
		r.cell(l.cells[0], v, p.label, q, at)
	}
}

// told says that a cell stands in a column of words about the values, a unit or a
// source, and that they are not somebody else's.
func (r *reader) told(l *line, i int) bool {
	if i >= len(l.header) || !tokenWord(l.header[i], "unit", "units", "source", "symbol", "formula", "basis", "type", "method", "definition", "description", "artifact", "category") {
		return false
	}
	var q qualifiers
	q.column(r, l.cells[i], None)
	return q.marks&Comparison == 0
}

// column takes in what the head of a column says.
func (q *qualifiers) column(r *reader, head []byte, m Metric) {
	which := q.which
	r.cutter.cut(head[:min(len(head), 200)])
	q.take(&r.cutter, 0, len(r.cutter.tokens))
	if m == anyX && which != None {
		q.which = which
	}
	if len(r.cutter.tokens) == 1 && len(head) < 12 {
		if l := tokens(head); l.n == 1 && roles()[string(l.word(0))] == stepRole {
			q.step(&l)
		}
	}
	if q.denied || m.Rate() && yearly(head) {
		q.marks |= Case
	}
}

// yearly says that the head of a column is a year: 2025, FY2025, 2026E.
func yearly(head []byte) bool {
	t := bytes.TrimLeft(trimMarks(head), "FYCfyc ")
	return len(t) >= 4 && len(t) <= 5 && (t[0] == '1' && t[1] == '9' || t[0] == '2' && t[1] == '0') && isDigit(t[2]) && isDigit(t[3]) && !isDigit(t[len(t)-1]) == (len(t) == 5)
}

// down reads a value in the column of a label; the row's first cell says whose
// it is.
func (r *reader) down(l *line, i int, at setting) {
	if i >= len(r.heads) {
		return
	}
	p := r.heads[i]
	if p.label == nil || !(r.sole && !r.heads[0].is(anyX) && (p.is(DR) || p.is(Growth) || p.is(ROIC)) || p.is(IVPS) || p.is(EIVPS) || p.is(anyX) || p.is(Tau) || p.is(CR) || p.is(PIRR) || p.is(SSE) || p.is(JPD) || p.is(anyIRR) && p.q.marks&expected != 0) {
		return
	}
	q := p.q
	which := q.which
	if i > 0 {
		q.column(r, l.cells[0], p.label.metric)
		if p.label.metric.Rate() && p.label.metric != PIRR {
			q.column(r, l.header[0], p.label.metric)
		}
	}
	q.which = which
	if r.chanced && p.label.metric == IVPS {
		q.marks |= Case // what each of many has
	}
	v, ok := r.cellValue(l.cells[i])
	if v = v.behind(noLink, p.label.metric); ok && v.fits(p.label) {
		r.cell(l.cells[i], v, p.label, q, at)
	}
}

func (r *reader) cell(cell []byte, v amount, l *label, q qualifiers, at setting) {
	if l.loose && (!v.money && v.digits != 2 || v.value <= 0 || q.marks&Comparison != 0) {
		return
	}
	at.group = r.group
	s := statementOf(v, at)
	if l.loose {
		s.Marks |= Loose
	}
	s.settle(l.metric, q, at.above)
	s.ofScenario(at)
	r.ledger.add(s, cell, 0, len(cell))
}

// cellValue reads the value that a cell begins with.
func (r *reader) cellValue(cell []byte) (amount, bool) {
	t := trimMarks(cell)
	if len(t) == 0 || len(t) > 200 {
		return amount{}, false
	}
	if t[0] == '(' && t[len(t)-1] == ')' { // accounting's way to write a negative
		n, ok := readNumber(t, 1)
		n.value = -n.value
		return amount{number: n}, ok && n.end == len(t)-1
	}
	c := &r.cutter
	c.cut(t)
	if i := c.lead(0); i >= len(c.tokens) || c.tokens[i].sign == boundSign {
		return amount{}, false
	}
	return c.value(0, colon)
}

// pending is a label that a line of its own gives: the value may stand on the
// next.
func (r *reader) carry(l *line, at setting) {
	p := r.pending
	r.pending = caption{}
	if l.kind == rule || l.kind == fence || l.kind == row || l.kind == code {
		return
	}
	t := bytes.TrimSpace(l.text)
	if p.label != nil && len(t) < 60 {
		if name, figure, ok := bytes.Cut(t, []byte{':'}); ok && roles()[string(bytes.ToLower(trimMarks(name)))] == figureRole {
			t = trimLeft(figure, &marking) // Value: $7.25
		}
		v, ok := r.cellValue(bytes.TrimLeft(t, ": "))
		if v = v.behind(colon, p.label.metric); ok && v.fits(p.label) && (v.money || v.percent || v.digits > 0) && r.alone(v.next) {
			r.cell(l.text, v, p.label, p.q, at)
			return
		}
	}
	if r.labelled && len(t) < 100 {
		if p := r.caption(t); p.label != nil && p.label.metric.alone() {
			r.pending = p
		}
	}
}

// alone says that nothing but a unit follows at token i.
func (r *reader) alone(i int) bool {
	c := &r.cutter
	for ; i < len(c.tokens); i++ {
		if k := &c.tokens[i]; k.sign == wordSign && !k.is(sharing|neutral) && !c.same(k, "per") && !c.same(k, "a") {
			return false
		}
	}
	return true
}
