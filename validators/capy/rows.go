package capy

import "bytes"

// row reads the statements of a table's row: a label and its value in the
// cells behind it, a value in the column of a label, or both in one cell.
func (g *ledger) row(l *line) {
	for i, cell := range l.cells {
		g.prose(cell, l.at, l.under.quals)
		if l.head {
			continue
		}
		if m, q, ok := cellLabel(cell); ok {
			g.across(l, i, m, q)
		}
		if i < len(l.header) {
			g.down(l, i)
		}
	}
	if l.head {
		g.group++
	}
}

// cellLabel reads a cell that is nothing but a label.
func cellLabel(cell []byte) (metric, qualifiers, bool) {
	for i := 0; i < len(cell) && i < 60; i++ {
		if labels[cell[i]] == nil {
			continue
		}
		m, end, ok := labelAt(cell, i)
		if !ok {
			continue
		}
		start, expected := expectation(cell, i)
		q := qualifiers{expected: expected}
		q.read(cell[:start], m)
		if inExpression(cell, start) || m == ivps && end-i == len(perShareOnly) || m == growth && end-i == 1 {
			return none, q, false
		}
		if _, link := connect(cell, end, m, &q); link != atEnd {
			if m == pirr {
				continue
			}
			return none, q, false
		}
		return m, q, true
	}
	return none, qualifiers{}, false
}

// across reads the values behind a label: of each column, if the table has a
// head that tells them apart, else the first.
func (g *ledger) across(l *line, label int, m metric, q qualifiers) {
	for i := label + 1; i < len(l.cells); i++ {
		cell := l.cells[i]
		col := q
		if i < len(l.header) {
			col.read(l.header[i], m)
			if q.which != none {
				col.which = q.which
			}
		}
		n, ok := cellValue(cell, m)
		if !ok {
			if i == label+1 && !placeholder(cell) {
				return
			}
			if i == label+1 && len(trimMarks(cell)) > 0 {
				s := statement{at: l.at, absent: true}
				s.settle(m, col, l.under.quals)
				g.keep(s, cell, 0, len(cell))
			}
			continue
		}
		if !g.fits(m, n, colon) {
			return // a row of another's changes: Discount rate, $171, $234
		}
		g.cell(l, m, n, col, cell)
		if len(l.header) == 0 || i > label+5 {
			return
		}
	}
}

// down reads a value in the column of a label; the row's first cell says whose
// it is.
func (g *ledger) down(l *line, i int) {
	m, q, ok := cellLabel(l.header[i])
	if !ok || m != ivps && m != xAny && !(m == irr && q.expected) {
		return
	}
	if _, _, label := cellLabel(l.cells[0]); label {
		return // the cell has been read across
	}
	if i > 0 {
		q.read(l.cells[0], m)
	}
	if m == xAny {
		_, head, _ := cellLabel(l.header[i])
		q.which = head.which
	}
	for _, head := range l.header {
		q.hush = q.hush || m == ivps && isP(head) // what each of many has
	}
	if n, ok := cellValue(l.cells[i], m); ok && g.fits(m, n, colon) {
		g.cell(l, m, n, q, l.cells[i])
	}
}

func (g *ledger) cell(l *line, m metric, n number, q qualifiers, cell []byte) {
	s := statement{value: n.value, digits: n.digits, percent: n.percent, at: l.at, group: g.group, hush: l.under.quals.hush}
	s.settle(m, q, l.under.quals)
	g.keep(s, cell, 0, len(cell))
}

func (g *ledger) keep(s statement, part []byte, from, to int) {
	if s.metric != none {
		g.add(s, part, from, to)
	}
}

// cellValue reads the number that a cell begins with.
func cellValue(cell []byte, m metric) (number, bool) {
	t := trimMarks(cell)
	if len(t) == 0 {
		return number{}, false
	}
	if t[0] == '(' && t[len(t)-1] == ')' { // accounting's way to write a negative
		n, ok := readNumber(t, 1)
		n.value = -n.value
		return n, ok && n.end == len(t)-1
	}
	if t[0] == '>' || t[0] == '<' || bytes.HasPrefix(t, []byte("≥")) || bytes.HasPrefix(t, []byte("≤")) || bytes.HasPrefix(t, []byte("±")) {
		return number{}, false
	}
	return valueAt(t, 0, colon)
}
