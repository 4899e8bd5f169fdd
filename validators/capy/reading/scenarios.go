package reading

import (
	"bytes"
	"slices"
	"sync"
)

// ScenarioCount is how many scenarios there are: S1 to S4.
const ScenarioCount = 4

// scenarios knows which scenario a line speaks of, and reads P and M.
type scenarios struct {
	any     bool // P and M are of interest here
	section int8 // the scenario of the heading above, 0 without one
	level   int  // of that heading
	label   int8 // the scenario of the bold line or list item above
	columns [maxCells]column
	tally   int // the tally of the present table and its column, -1 without
	column  int
	across  bool // the columns of the present table are joint states
}

// A column is what a table's head says of one.
type column struct {
	scenario int8
	p, m     bool
	note     bool // of words about the others
}

// line moves on to a line and gives the scenario it speaks of: its own, else that of
// the bold line or item above, else that of the heading. A line of several has none.
func (s *scenarios) line(l *line) int8 {
	n, many := l.scenario(l.text)
	switch l.kind {
	case heading:
		s.label, s.tally = 0, -1
		switch {
		case n > 0 && !many:
			s.section, s.level = n, l.level
		case s.section > 0 && l.level > s.level && n == 0:
		default:
			s.section = 0
		}
		n = s.section
	case prose, item, code, html:
		switch {
		case many:
			n = 0
		case n > 0:
			if opensLine(l.text) {
				s.label = n
			}
		case s.label > 0:
			n = s.label
		default:
			n = s.section
		}
	default:
		n = s.section
	}
	s.any = n > 0 || many
	return n
}

// nearest finds the scenario that the text around a label at [from:to] names:
// right behind it, or else before it, or else behind.
func nearest(t []byte, from, to int) int8 {
	right, _, _ := bytes.Cut(t[from:min(len(t), to+8)], []byte{';'})
	if n, _ := scenarioToken(right); n > 0 {
		return n
	}
	start := max(0, from-60)
	for i := from - 1; i >= start; i-- {
		if t[i] == ';' {
			break
		}
		if n, _ := scenarioAt(t, i); n > 0 {
			return n
		}
	}
	n, _ := scenarioToken(t[from:min(len(t), from+60)])
	return n
}

// row reads a row of scenarios: P and M by the head of their column, or in a
// row named P or M under columns of scenarios. Joint states are added up.
func (s *scenarios) row(r *reader, l *line, at setting) {
	if l.head {
		s.head(r, l, at)
		return
	}
	n := int8(0)
	for i, cell := range l.cells[:min(len(l.cells), 3)] {
		if k, many := l.scenario(cell); k > 0 && !many && n == 0 && (i == 0 || len(cell) < 60) {
			n = k
		}
	}
	if len(l.header) > 0 && s.tally >= 0 && s.column < len(l.cells) {
		r.chance(&r.doc.Tallies[s.tally], l.cells[0], l.cells[s.column], at)
		return
	}
	if len(l.header) > 0 && s.across && r.statesRow(l, at) {
		return
	}
	if n == 0 {
		n = s.section
	} else {
		r.scenarioNamed(n, at)
	}
	for i, cell := range l.cells {
		s.cell(r, l, n, i, cell, at)
	}
}

func (s *scenarios) head(r *reader, l *line, at setting) {
	s.tally, s.across = -1, false
	scenarios, states, chances := 0, false, false
	for i, cell := range l.cells {
		n, _ := l.scenario(cell)
		if n > 0 {
			scenarios++
		}
		w := tokens(cell)
		p := w.namesP()
		s.columns[i] = column{scenario: n, p: p, m: !p && w.namesM(), note: w.has("note", "notes", "rationale", "source", "sources", "evidence", "comment", "comments", "basis")}
		if i == 0 || i == 1 && len(l.cells[0]) < 3 { // behind their numbers
			states = states || w.has(stateHeads...)
		} else {
			chances = chances || w.has(chanceHeads...)
		}
	}
	s.across = scenarios > 0 && jointStates(l.cells)
	if !chances || !(jointTitle.Has(r.heading) || states || scenarios > 2 || slices.ContainsFunc(l.cells, jointTitle.Has)) || scenarios > 2 && s.columns[0].p {
		return
	}
	for i, cell := range l.cells {
		w := tokens(cell)
		if i > 0 && w.namesChance() {
			if n, _ := scenarioToken(l.cells[0]); n > 0 && scenarios < 3 && !w.has("joint") || w.has("scenario") || tokenWord(l.cells[0], "scenario", "scenarios") {
				return
			}
			if s.tally = r.tallied(at.at, selection(r.heading)); s.tally >= 0 {
				s.column = i
			}
			return
		}
	}
}

// namesChance says that a cell names the probabilities that the states of its column or row
// have.
func (l *tokenList) namesChance() bool {
	return l.has(chanceHeads...) && !l.has("cumulative", "contribution", "weighted", "marginal", "conditional", "ivps", "change", "initial")
}

// jointStates says that most cells of a head are names of joint states: none, S1, S1 and S2.
func jointStates(cells [][]byte) bool {
	states, others, certain := 0, 0, false
	for _, cell := range cells {
		l := tokens(cell)
		switch sure, ok := jointState(&l); {
		case ok:
			states++
			certain = certain || sure
		case l.n > 0 && !l.has("total", "sum", "σ"):
			others++
		}
	}
	return certain && states > 1 && others <= 2
}

// statesRow adds up the row of probabilities of a table whose columns are joint states;
// false means that it is another row.
func (r *reader) statesRow(l *line, at setting) bool {
	from := 0
	for from < len(l.cells)-1 && len(l.cells[from]) == 0 {
		from++
	}
	if w := tokens(l.cells[from]); !w.namesChance() {
		return false
	}
	i := r.tallied(at.at, selection(r.heading))
	for n := from + 1; i >= 0 && n < min(len(l.cells), len(l.header)); n++ {
		name := tokens(l.header[n])
		if _, ok := jointState(&name); ok || name.rest() || name.has("total", "sum", "σ") {
			r.chance(&r.doc.Tallies[i], l.header[n], l.cells[n], at)
		}
	}
	return true
}

// chance adds the probability that a cell has, of the state of a name, or their total.
func (r *reader) chance(g *Tally, name, cell []byte, at setting) {
	w := tokens(trimMarks(name))
	total := w.has("total", "sum", "σ")
	v, ok := r.cellValue(cell)
	if !ok && !total && Placeholder(cell) {
		g.Awaited++
	}
	if !ok || v.money || v.scaled {
		return
	}
	if total {
		g.Total = v.value
		return
	}
	st := statementOf(v, at)
	st.Metric = Probability
	g.Add(st)
}

// cell reads one cell of scenario n's row.
func (s *scenarios) cell(r *reader, l *line, n int8, i int, cell []byte, at setting) {
	var c column
	if len(l.header) > 0 {
		c = s.columns[i]
	}
	if c.scenario > 0 && i > 0 && n == 0 {
		n = c.scenario
		r.scenarioNamed(n, at)
		c.p, c.m = namesP(l.cells[0]), namesM(l.cells[0])
	}
	if n == 0 || Placeholder(cell) || !hasDigit(cell) || i == 0 && !c.p && !c.m {
		return
	}
	if !c.p && !c.m && !c.note {
		c.p, c.m = namesP(l.cells[0]), namesM(l.cells[0]) && !namesP(l.cells[0])
	}
	m := Magnitude
	switch {
	case c.p:
		m = Probability
	case !c.m:
		return
	}
	v, ok := r.cellValue(trimMarks(cell))
	if m == Probability && (!ok || v.money || v.scaled) {
		return
	}
	st := statementOf(v, at)
	st.Metric, st.Scenario, st.Form = m, n, Cell
	if i < len(l.header) {
		if h := tokens(l.header[i]); h.has("base", "prior", "original", "initial") && !h.has("posterior", "final") {
			st.State = Earlier
		}
	}
	r.ledger.add(st, cell, 0, len(cell))
}

// scenarioNamed notes that a text names a scenario.
func (r *reader) scenarioNamed(n int8, at setting) {
	if r.doc.Scenarios[n].Line == 0 {
		r.doc.Scenarios[n] = at.at
	}
}

// tallied begins a tally and gives its index, -1 when there are too many.
func (r *reader) tallied(at Place, top bool) int {
	if len(r.doc.Tallies) >= maxTallies {
		return -1
	}
	r.doc.Tallies = append(r.doc.Tallies, Tally{At: at, Top: top})
	return len(r.doc.Tallies) - 1
}

// maxTallies bounds the lists that are told apart.
const maxTallies = 400

// scenarioToken finds S1 to S4, or Scenario 1; many says that there are
// several: "S1 (Scenario 1)" has one, "Scenario 3 and S2" has, S12 and S1.5 are none.
func scenarioToken(t []byte) (n int8, many bool) {
	t = t[:min(len(t), maxPiece)]
	start := scenarioStart()
	for i := start.next(t, 0); i < len(t); i = start.next(t, i+1) {
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

// scenario is [scenarioToken] of a part of the line.
func (l *line) scenario(part []byte) (n int8, many bool) {
	if l.seen.has(scenarioList) {
		n, many = scenarioToken(part)
	}
	return n, many
}

// scenarioStart is what [scenarioAt] reads a scenario from.
var scenarioStart = sync.OnceValue(func() *beginnings { return beginningsOf("scenario ", "S1", "S2", "S3", "S4") })

func scenarioAt(t []byte, i int) (n int8, end int) {
	if t[i]|0x20 != 's' || i > 0 && isASCIIWord(t[i-1]) {
		return 0, i
	}
	end = i + 1
	if t[i] == 'S' && end < len(t) && t[end] >= '1' && t[end] <= '0'+ScenarioCount {
		end++
	} else if k, ok := hasFold(t[i:], "scenario "); ok && i+k < len(t) {
		end = i + k
		for end < len(t) && (t[end] == '#' || t[end] == 'S') {
			end++
		}
		if end >= len(t) || t[end] < '1' || t[end] > '0'+ScenarioCount {
			return 0, i
		}
		end++
	} else {
		return 0, i
	}
	if end < len(t) && (isASCIIWord(t[end]) || t[end] == '.' && end+1 < len(t) && isDigit(t[end+1])) {
		return 0, i
	}
	return int8(t[end-1] - '0'), end
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

// namesP says that a text names a probability: a header, a word.
func namesP(t []byte) bool {
	l := tokens(t)
	return l.namesP()
}

func (l *tokenList) namesP() bool {
	return l.has("p", "prob", "probability", "posterior", "likelihood", "probabilities") &&
		!l.has("rationale", "notes", "source", "adjustment", "change", "m", "weighted", "contribution", "impact", "magnitude", "expected", "e", "ivps", "irr", "price", "l")
}

// namesM says that a text names a magnitude.
func namesM(t []byte) bool {
	l := tokens(t)
	return l.namesM()
}

func (l *tokenList) namesM() bool {
	return l.has("m", "magnitude", "impact", "effect", "severity", "shock", "intervention", "interventions", "δivps", "delta") && !l.has("rationale", "notes", "source")
}

var jointTitle = NewPhrases("JPD", "joint", "SSE", "state enumeration", "state probabilities", "feasible states")

// Words at the head of a first column of joint states, and of the column of what they
// have.
var (
	stateHeads  = []string{"state", "states", "joint", "combination"}
	chanceHeads = []string{"p", "prob", "probability", "probabilities", "weight", "likelihood"}
)

func tokenWord(t []byte, words ...string) bool {
	l := tokens(t)
	return l.has(words...)
}

// selection says that a heading is over some of the states only.
func selection(t []byte) bool {
	w := tokens(t[:min(len(t), 90)])
	return w.has("top", "key", "representative", "selected", "most", "largest", "highest", "excerpt", "dominant", "major", "high", "main")
}

func hasDigit(t []byte) bool {
	return slices.ContainsFunc(t, isDigit)
}
