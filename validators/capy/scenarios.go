package capy

import (
	"bytes"
	"fmt"
)

// scenarioCount is how many scenarios there must be: S1 to S4.
const scenarioCount = 4

// Scenarios finds S1 to S4 with their P and M, and keeps the probabilities.
type scenarios struct {
	asked   bool // the row asks for them
	seen    [scenarioCount + 1]struct{ named, p, m place }
	section int // the scenario of the heading above, 0 without one
	level   int // of that heading
	label   int // the scenario of the bold line or list item above
	columns [maxCells]column
	prob    [scenarioCount + 1]statement // the marginal probability, the first stated
	stack   [maxPath + 1]scenarioFrame
}

// A column is what a table's head says of one.
type column struct {
	scenario int
	p, m     bool
}

// A scenarioFrame is an object that may be a scenario's.
type scenarioFrame struct {
	n      int
	p, m   place
	chance statement
	state  bool // a joint state's
}

func (s *scenarios) line(l *line) {
	switch l.kind {
	case heading:
		s.heading(l)
	case row:
		s.row(l)
	case prose, item, code, html:
		s.prose(l)
	}
}

func (s *scenarios) heading(l *line) {
	n, many := scenarioToken(l.text)
	s.label = 0
	switch {
	case n > 0 && !many && !disclaims(l.text):
		s.section, s.level = n, l.level
		s.name(n, l.at)
		s.labels(n, l.text, l.at)
	case s.section > 0 && l.level > s.level && n == 0:
	default:
		s.section = 0
	}
}

func (s *scenarios) name(n int, at place) {
	if s.seen[n].named.line == 0 {
		s.seen[n].named = at
	}
}

func (s *scenarios) prose(l *line) {
	n, many := scenarioToken(l.text)
	switch {
	case many:
		s.each(l)
		return
	case n > 0:
		if opensLine(l.text) {
			s.name(n, l.at)
			s.label = n
		}
	case s.label > 0:
		n = s.label
	default:
		n = s.section
	}
	if n > 0 {
		s.labels(n, l.text, l.at)
	}
}

// each reads a line that names several scenarios: P(S1) = 0.3, P(S2) = 0.4.
func (s *scenarios) each(l *line) {
	t := l.text[:min(len(l.text), 4000)]
	for i := 0; i+1 < len(t); i++ {
		n, end := scenarioAt(t, i)
		if n == 0 {
			continue
		}
		part := t[i:min(len(t), i+60)]
		for j := end - i; j < len(part); j++ {
			if next, _ := scenarioAt(part, j); next > 0 {
				part = part[:j]
				break
			}
		}
		if k := bytes.LastIndexAny(t[max(0, i-14):i], ",;"); k >= 0 || i < 14 {
			s.labels(n, t[max(0, i-14)+k+1:i+len(part)], l.at)
		} else {
			s.labels(n, part, l.at)
		}
		i = end - 1
	}
}

// labels looks for P and M with a value.
func (s *scenarios) labels(n int, t []byte, at place) {
	if s.seen[n].p.line == 0 || s.prob[n].metric == none {
		if rest, ok := after(t, isP); ok && hasDigit(rest) && !placeholder(rest) {
			s.seen[n].p = at
			s.stated(n, t, at)
		}
	}
	if s.seen[n].m.line == 0 {
		if rest, ok := after(t, isM); ok && hasDigit(rest) && !placeholder(rest) {
			s.seen[n].m = at
		}
	}
}

// stated notes the probability that a text states right behind its label.
func (s *scenarios) stated(n int, t []byte, at place) {
	t = t[:min(len(t), 4000)]
	for i := 0; i < len(t); i++ {
		w := wordAt(t, i)
		if len(w) == 0 {
			continue
		}
		if labelLetters[w[0]|0x20] && isP(w) {
			var q qualifiers
			if from, l := connect(t, i+len(w), probability, &q); l == equal || l == colon || l == inside {
				s.chance(n, t[from:], at)
			}
		}
		i += len(w) - 1
	}
}

// chance notes the marginal probability of a scenario where it is one number.
func (s *scenarios) chance(n int, t []byte, at place) {
	if v, ok := valueAt(t, 0, colon); ok && !v.money && !v.scaled && !v.plus && s.prob[n].metric == none {
		s.prob[n] = statement{metric: probability, value: v.value, percent: v.percent, at: at, digits: v.digits}
	}
}

func (s *scenarios) row(l *line) {
	if l.head {
		for i, cell := range l.cells {
			n, _ := scenarioToken(cell)
			s.columns[i] = column{scenario: n, p: isP(cell), m: isM(cell) && !isP(cell)}
		}
		return
	}
	n := 0
	for i, cell := range l.cells[:min(len(l.cells), 3)] {
		if k, many := scenarioToken(cell); k > 0 && !many && n == 0 && (i == 0 || len(cell) < 60) {
			n = k
		}
	}
	if n == 0 {
		n = s.section
	} else {
		s.name(n, l.at)
	}
	for i, cell := range l.cells {
		s.cell(l, n, i, cell)
	}
}

// cell reads one cell of scenario n's row, or of a row named P or M in a table
// whose columns are scenarios.
func (s *scenarios) cell(l *line, n, i int, cell []byte) {
	var c column
	if len(l.header) > 0 {
		c = s.columns[i]
	}
	if c.scenario > 0 && i > 0 && n == 0 {
		n = c.scenario
		s.name(n, l.at)
		c.p, c.m = isP(l.cells[0]), isM(l.cells[0])
	}
	if n == 0 || placeholder(cell) {
		return
	}
	if i > 0 && len(l.header) == 0 {
		c.p, c.m = isP(l.cells[0]), isM(l.cells[0])
	} else if i > 0 && !c.p && !c.m {
		c.p, c.m = isP(l.cells[0]), isM(l.cells[0])
	}
	if c.p && hasDigit(cell) {
		if s.seen[n].p.line == 0 {
			s.seen[n].p = l.at
		}
		s.chance(n, trimMarks(cell), l.at)
	}
	if c.m && hasDigit(cell) && s.seen[n].m.line == 0 {
		s.seen[n].m = l.at
	}
	s.labels(n, cell, l.at)
}

// scenarioToken finds S1 to S4, or Scenario 1; many says that there are
// several.
func scenarioToken(t []byte) (n int, many bool) {
	t = t[:min(len(t), 4000)]
	for i := 0; i+1 < len(t); i++ {
		k, end := scenarioAt(t, i)
		if k == 0 {
			continue
		}
		if n > 0 && k != n {
			return n, true
		}
		n = k
		i = end - 1
	}
	return n, false
}

func scenarioAt(t []byte, i int) (n, end int) {
	if t[i]|0x20 != 's' || i > 0 && isASCIIWord(t[i-1]) {
		return 0, i
	}
	end = i + 1
	if t[i] == 'S' && end < len(t) && t[end] >= '1' && t[end] <= '0'+scenarioCount {
		end++
	} else if k, ok := hasFold(t[i:], "scenario "); ok && i+k < len(t) {
		end = i + k
		if t[end] == '#' {
			end++
		}
		if end < len(t) && t[end] == 'S' {
			end++
		}
		if end >= len(t) || t[end] < '1' || t[end] > '0'+scenarioCount {
			return 0, i
		}
		end++
	} else {
		return 0, i
	}
	if end < len(t) && (isASCIIWord(t[end]) || t[end] == '.' && end+1 < len(t) && isDigit(t[end+1])) {
		return 0, i
	}
	return int(t[end-1] - '0'), end
}

// opensLine says that a line begins with a scenario, bold or not.
func opensLine(t []byte) bool {
	for i := 0; i < len(t) && i < 24; i++ {
		if n, _ := scenarioAt(t, i); n > 0 {
			return true
		}
	}
	return false
}

// after finds a word that is a label in t and gives what stands behind it and
// its link.
func after(t []byte, is func([]byte) bool) (rest []byte, ok bool) {
	t = t[:min(len(t), 4000)]
	for i := 0; i < len(t); i++ {
		if !isWord(t[i]) && t[i] < 0x80 || i > 0 && isASCIIWord(t[i-1]) {
			continue
		}
		w := wordAt(t, i)
		if len(w) == 0 || !labelLetters[w[0]|0x20] || !is(w) {
			i += max(len(w), 1) - 1
			continue
		}
		if next := t[min(len(t)-1, i+len(w))]; next == '/' || next == '&' {
			continue // P/E, P&L
		}
		if rest, linked := said(t[i+len(w):]); linked && len(rest) > 0 {
			return clause(rest), true
		}
	}
	return nil, false
}

// labelLetters are those that the words of isP, isM and isPlatform begin with.
var labelLetters = func() (set [256]bool) {
	for _, c := range "plmiesdtacrxδ" {
		set[byte(c)] = true
	}
	return set
}()

// isP says that a text names a probability: a header, a word.
func isP(t []byte) bool {
	l := tokens(t)
	return l.has("p", "prob", "probability", "posterior", "likelihood", "probabilities") &&
		!l.has("rationale", "notes", "source", "prior", "adjustment", "change", "m", "weighted", "contribution", "impact", "magnitude", "expected", "e", "ivps", "irr", "price", "l")
}

// isM says that a text names a magnitude.
func isM(t []byte) bool {
	l := tokens(t)
	return l.has("m", "magnitude", "impact", "effect", "severity", "shock", "intervention", "interventions", "δivps", "delta") && !l.has("rationale", "notes", "source")
}

func (s *scenarios) gaps(r *run) []gap {
	if !s.asked {
		return nil
	}
	var list []gap
	last := r.doc.last
	for n := 1; n <= scenarioCount; n++ {
		got := s.seen[n]
		switch {
		case got.named.line == 0:
			list = append(list, gap{last, fmt.Sprintf("Missing scenario S%d with its P and M estimates", n)})
			continue
		case got.p.line == 0 && got.m.line == 0:
			list = append(list, gap{got.named, fmt.Sprintf("Scenario S%d has neither a P nor an M estimate", n)})
		case got.p.line == 0:
			list = append(list, gap{got.named, fmt.Sprintf("Scenario S%d has no P estimate: want, for instance, P = 0.30", n)})
		case got.m.line == 0:
			list = append(list, gap{got.named, fmt.Sprintf("Scenario S%d has no M estimate: want, for instance, M = -12%%", n)})
		}
		last = got.named
	}
	return list
}
