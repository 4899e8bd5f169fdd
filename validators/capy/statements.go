package capy

import (
	"bytes"
	"strconv"
)

// A statement is a number that the text states under a name.
type statement struct {
	value   float64
	at      place
	from    int32 // of the text quoted, in its source
	to      int32
	group   int32 // of the object or table that it stands in; 0 without one
	metric  metric
	digits  int8
	state   int8 // whose it is: 1 to 4, earlier, anyT2
	percent bool // said to be one
	json    bool
	hush    bool // not as the result
	fresh   bool // said to be new
	second  bool // an X_final inside X_REFINE
	listed  bool // one of a list
	absent  bool // null, N/A, [TO BE CALCULATED]
}

// A ledger reads the statements of a document.
type ledger struct {
	list  []statement
	limit int // keeps memory in proportion to the text
	group int32
	stack [maxPath + 1]int32 // groups of the open JSON containers
	texts [][]byte
}

func newLedger(texts ...[]byte) *ledger {
	n := 0
	for _, t := range texts {
		n += len(t)
	}
	return &ledger{limit: n/24 + 64, texts: texts}
}

func (g *ledger) add(s statement, part []byte, from, to int) {
	if len(g.list) >= g.limit {
		return
	}
	base := g.offset(part, s.at)
	s.from, s.to = int32(base+from), int32(base+to)
	g.list = append(g.list, s)
}

// offset is where a part of a text begins in it: slices of one array differ by
// what is left behind them.
func (g *ledger) offset(part []byte, at place) int {
	return cap(g.texts[at.source]) - cap(part)
}

// quote shows what a statement was read from.
func (g *ledger) quote(s statement) string {
	t := g.texts[s.at.source]
	from := min(int(s.from), len(t))
	quote := t[from:min(max(int(s.to), from), len(t), from+120)]
	if !s.json {
		quote = trimMarks(quote)
	} else if from > 0 && t[from-1] == '"' {
		quote = t[from-1 : from+len(quote)]
	}
	return clip(string(quote), 100)
}

func (g *ledger) line(l *line) {
	switch l.kind {
	case row:
		g.row(l)
	case prose, item, code, heading, html:
		g.prose(l.text, l.at, l.under.quals)
	}
}

// prose reads the statements of one line.
func (g *ledger) prose(t []byte, at place, above qualifiers) {
	for i := 0; i < len(t); i++ {
		if labels[t[i]] == nil || i > 0 && isASCIIWord(t[i-1]) {
			continue
		}
		m, end, ok := labelAt(t, i)
		if !ok {
			continue
		}
		s, from, behind, ok := g.statement(t, i, end, m, above)
		if !ok {
			if m != pirr {
				i = end - 1
			}
			continue
		}
		s.at = at
		g.add(s, t, from, behind)
		i = max(behind, end) - 1
	}
}

// statement reads the statement whose label is t[i:end].
func (g *ledger) statement(t []byte, i, end int, m metric, above qualifiers) (s statement, from, behind int, ok bool) {
	start, expected := expectation(t, i)
	q := qualifiers{expected: expected, hush: above.hush}
	if m == xAny { // whose X it is may stand in front
		words, _ := leftOf(t, start)
		q.read(words[max(0, len(words)-nearLabel):], m)
	}
	at, l := connect(t, end, m, &q)
	if n, ok := inFront(t, start, end, m); ok && l == noLink {
		words, from := leftOf(t, n.end-1)
		q.read(words[max(0, len(words)-nearLabel):], m)
		s = statement{value: n.value, digits: n.digits, percent: n.percent}
		s.settle(m, q, above)
		return s, from, end, s.metric != none
	}
	if l == noLink || l == atEnd || m == growth && t[i] == 'g' && l != equal || inExpression(t, start) {
		return s, i, end, false
	}
	words, from := leftOf(t, start)
	which := q.which
	q.read(words[max(0, len(words)-nearLabel):], m)
	q.statesOf(words)
	if m == xAny {
		q.which = which
	}
	from += len(words) - len(bytes.TrimLeft(words, " *`_-"))
	n, is := valueAt(t, at, l)
	if !is {
		s = statement{absent: placeholder(clause(t[leadIn(t, at):]))}
		ok = s.absent && l != inside && leadIn(t, at) < len(t)
		s.settle(m, q, above)
		return s, from, min(len(t), at+24), ok && s.metric != none
	}
	s = statement{value: n.value, digits: n.digits, percent: n.percent}
	if !g.fits(m, n, l) || m == ivps && end-i == len(perShareOnly) && !perShare(t[n.end:]) {
		return s, from, end, false
	}
	s.hush = m.rate() && conditional(t, i)
	q.behind(beside(t, n.end))
	s.settle(m, q, above)
	return s, from, n.end, s.metric != none
}

// nearLabel is how far in front of a label a word counts for it, in bytes.
const nearLabel = 36

// settle says which metric a statement is of, and whose.
func (s *statement) settle(m metric, q, above qualifiers) {
	s.metric = m
	switch {
	case m == ivps && q.expected:
		s.metric = eivps
	case m == irr && q.expected:
		s.metric = eirr
	case m == irr, m == revenue && !q.y0:
		s.metric = none
	case m == xAny:
		s.metric = q.which
	}
	if q.state == 0 || q.state == several {
		q.state = above.state
	}
	s.hush = s.hush || q.hush
	s.state, s.fresh = q.state, q.fresh
}

// fits says whether a number can be of a metric.
func (g *ledger) fits(m metric, n number, l link) bool {
	switch {
	case n.plus:
		return false // a change
	case m.perShare():
		return !n.percent && !n.scaled && (n.money || n.digits > 0 || !n.word)
	case m == revenue:
		return !n.percent
	case m == sse || m == jpd:
		return !n.scaled && !n.money && (!n.word || n.digits > 0 || n.percent)
	case m == xAny:
		return !n.percent && !n.money && !n.scaled
	}
	return !n.money && !n.scaled && (n.percent || n.digits > 0 || !n.word)
}

// perShare says that what stands behind a value makes it one per share.
func perShare(t []byte) bool {
	t = bytes.TrimLeft(t[:min(len(t), 40)], " *")
	for _, s := range []string{"/share", "per share", "a share", "/sh"} {
		if _, ok := hasFold(t, s); ok {
			return true
		}
	}
	return false
}

// inFront reads a value that stands right in front of its label: a $23.45 IVPS,
// a 40% probability of beating the hurdle.
func inFront(t []byte, i, end int, m metric) (number, bool) {
	if !m.perShare() && m != pirr || i < 2 || t[i-1] != ' ' {
		return number{}, false
	}
	j := i - 1
	for j > 0 && j > i-20 && (isDigit(t[j-1]) || bytes.IndexByte([]byte(".,%$"), t[j-1]) >= 0 || t[j-1] >= 0x80) {
		j--
	}
	n, ok := readNumber(t, j)
	if !ok || n.end != i-1 || m == pirr && !n.percent || m.perShare() && (!n.money || n.percent) {
		return n, false
	}
	var buf wordBuffer
	next := buf.fold(wordAt(bytes.TrimLeft(t[end:min(len(t), end+40)], " *"), 0))
	return n, j > 0 && t[j-1] == ' ' && !hushed[string(next)]
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

// beside is what stands behind a value in its clause.
func beside(t []byte, i int) []byte { return clause(t[min(i, len(t)):min(len(t), i+64)]) }

// json reads the statements of JSON.
func (g *ledger) json(e *event) {
	switch e.kind {
	case opens:
		g.group++
		if e.depth < maxPath {
			g.stack[e.depth] = g.group
		}
		return
	case closes:
		return
	}
	c := e.class
	if len(e.value) > 0 && e.value[0] == '"' && (c.metric == none || !quotedNumber(e.value)) {
		g.note(e)
		if c.metric == none || !placeholder(e.value) {
			return
		}
	}
	if c.metric == none || c.metric == revenue && !c.y0 {
		return
	}
	g.scalar(e, c)
}

func (g *ledger) scalar(e *event, c keyClass) {
	s := statement{metric: c.metric, at: e.at, json: true, hush: c.quals.hush || c.many && c.metric.single(), state: c.quals.state, fresh: c.quals.fresh, second: c.second, listed: c.listed && c.metric.single()}
	if e.depth > 0 && e.depth <= maxPath {
		s.group = g.stack[e.depth-1]
	}
	if n, ok := jsonNumber(e.value); ok {
		s.value, s.digits, s.percent = n.value, n.digits, n.percent || c.metric.rate() && percentKey(e.key)
	} else if placeholder(e.value) {
		s.absent = true
	} else {
		return
	}
	if c.part && (s.absent || s.digits == 0) {
		return // a count
	}
	if len(e.value) == 0 {
		g.add(s, g.texts[e.at.source], 0, 0)
		return
	}
	from := 0
	if len(e.key) > 0 && cap(e.key) > cap(e.value) && cap(e.key)-cap(e.value) < 200 {
		from = cap(e.value) - cap(e.key)
	}
	g.add(s, e.value, from, len(e.value))
}

// note reads a string of JSON as prose, for the values that only the kernel
// may state.
func (g *ledger) note(e *event) {
	if e.class.quals.hush || len(e.value) < 8 {
		return
	}
	text := e.value[1:]
	if n := len(text); text[n-1] == '"' {
		text = text[:n-1]
	}
	before := len(g.list)
	g.prose(text, e.at, qualifiers{state: e.class.quals.state})
	kept := g.list[:before]
	for _, s := range g.list[before:] {
		switch s.metric {
		case ivps, eivps, eirr:
			if !s.absent {
				kept = append(kept, s)
			}
		}
	}
	g.list = kept
}

func percentKey(key []byte) bool {
	l := tokens(key)
	return l.has("pct", "percent", "percentage")
}

// quotedNumber says that a string is nothing but a number: "$23.45", "14.5%".
func quotedNumber(v []byte) bool {
	_, ok := jsonNumber(v)
	return ok
}

// jsonNumber reads a scalar as a number, quoted or not.
func jsonNumber(v []byte) (number, bool) {
	if len(v) == 0 {
		return number{}, false
	}
	if v[0] == '"' {
		v = bytes.TrimSpace(bytes.Trim(v, `"`))
		v = bytes.TrimLeft(v, "~")
		n, ok := readNumber(v, 0)
		if !ok || n.scaled {
			return n, false
		}
		rest := bytes.TrimSpace(v[n.end:])
		if len(rest) > 0 && !bytes.HasPrefix(rest, []byte("per share")) && !bytes.HasPrefix(rest, []byte("USD")) && rest[0] != '/' && rest[0] != '(' {
			return n, false
		}
		return n, !n.plus
	}
	if v[0] != '-' && !isDigit(v[0]) && v[0] != '.' {
		return number{}, false
	}
	f, err := strconv.ParseFloat(string(v[:min(len(v), 64)]), 64)
	if err != nil {
		n, ok := readNumber(v, 0)
		return n, ok
	}
	n := number{value: f}
	if point := bytes.IndexByte(v, '.'); point >= 0 {
		n.digits = int8(min(len(v)-point-1, 20))
	}
	return n, true
}
