package capy

import "bytes"

// Qualifiers are what the words around a label say of its value.
type qualifiers struct {
	hush     bool   // not stated as the result: a bound, a change, a case of many
	fresh    bool   // said to be new: final, updated, recalculated
	expected bool   // E[…]
	y0       bool   // of the base year
	state    int8   // the state of the valuation: 1 to 4, earlier, or anyT2
	which    metric // of an X: xT1, xRefine, xFinal
}

// States beside 1 to 4.
const (
	earlier int8 = -1 // said to be from before
	anyT2   int8 = -2 // of a turn 2, which may be an earlier stage's
	several int8 = -3 // of more than one: the words decide nothing
)

// hushed are words in front of a label, or between it and its value, that say
// that the value is something else.
var hushed = set("low", "high", "bear", "bull", "bearish", "bullish", "downside", "upside", "min", "max", "minimum", "maximum", "floor", "ceiling", "impact", "impacts", "effect",
	"effects", "delta", "δ", "change", "changes", "swing", "sensitivity", "range", "contribution", "target", "threshold", "breakeven", "hypothetical", "illustrative", "example", "if",
	"assuming", "suppose", "would", "stress", "stressed", "gap", "difference", "variance", "spread", "market", "implied", "consensus", "analyst", "peer", "peers", "sector", "industry", "lower", "upper",
	"alternative", "worst", "best", "conditional", "given", "incremental", "reduces", "increases", "adds", "add", "reduce", "increase", "percentile", "revised", "pessimistic", "optimistic", "without",
	"p5", "p10", "p25", "p75", "p90", "p95", "std", "stdev", "volatility", "ratio", "multiple", "weight", "cap", "limit", "must", "should", "cannot", "adjustment", "premium", "divergence", "difference", "step", "when",
	"not", "no", "shock", "unlevered", "reverse", "δivps")

// telling are words behind a value that say the same.
var telling = set("bear", "bull", "target", "hypothetical", "illustrative", "example", "worst", "best", "stress", "downside", "upside", "breakeven", "consensus", "pessimistic", "optimistic")

// beforehand are words for what an earlier stage said.
var beforehand = set("prior", "previous", "previously", "earlier", "preceding", "upstream", "original", "originally", "inherited", "received", "baseline", "carried", "unchanged", "reference", "referenced",
	"existing", "historical", "last", "initial", "starting", "opening", "pre")

var freshening = set("final", "updated", "recalculated", "integrated", "adjudicated", "revised", "new", "recomputed", "adjusted")

// comparing are words that lead over to another number.
var comparing = set("vs", "versus", "compared", "down", "up", "against", "above", "below", "than", "relative", "rises", "falls", "and", "or", "to", "with", "but", "while")

// read takes in the words of a text in front of a label or beside it.
func (q *qualifiers) read(t []byte, m metric) {
	s := speech{t: t}
	for s.next() {
		w, lower := s.w, s.lower()
		switch {
		case hushed[string(lower)] && !(m.perShare() && is(lower, "implied")):
			q.hush = true
		case len(w) == 2 && (w[0] == 'S' || w[0] == 's') && isDigit(w[1]):
			q.hush = true // one scenario's
		case freshening[string(lower)]:
			q.fresh = true
		}
		switch string(lower) {
		case "expected", "weighted", "mean":
			q.expected = true
		case "y0":
			q.y0 = true
		case "t1":
			q.name(xT1)
		case "refine":
			q.name(xRefine)
		case "final", "average", "avg", "averaged":
			q.name(xFinal)
		}
		s.tell(q)
	}
	s.end(q)
}

// statesOf takes in only the states that a text in front of a label names.
func (q *qualifiers) statesOf(t []byte) {
	if q.state != 0 {
		return
	}
	var r qualifiers
	s := speech{t: t}
	base := false
	for s.next() {
		base = is(s.lower(), "base")
		s.tell(&r)
	}
	s.end(&r)
	if q.state = r.state; q.state == 0 && base {
		q.state = 1 // Base IVPS, but not a base case's
	}
}

// behind takes in the words behind a value, up to those that lead to another.
func (q *qualifiers) behind(t []byte) {
	if open := bytes.TrimLeft(t, " *_`"); len(open) > 0 && open[0] == '(' {
		if end := bytes.IndexByte(open, ')'); end > 0 {
			t = open[:end]
		}
	}
	var r qualifiers
	s := speech{t: t}
	for s.next() && !comparing[string(s.lower())] {
		r.hush = r.hush || telling[string(s.lower())]
		s.tell(&r)
	}
	s.end(&r)
	q.hush = q.hush || r.hush
	if q.state == 0 && r.state != several && !amounts(t) && belongs(t) {
		q.state = r.state
	}
}

// belongs says that a text behind a value tells whose it is: in parentheses, or
// by a word such as from.
func belongs(t []byte) bool {
	t = bytes.TrimLeft(t, " *_`")
	if len(t) > 0 && (t[0] == '(' || t[0] == '[') {
		return true
	}
	var buf wordBuffer
	switch string(buf.fold(wordAt(t, 0))) {
	case "from", "per", "in", "at", "under", "by", "as":
		return true
	}
	return false
}

// amounts says that a text has a number of its own, which its words are about.
func amounts(t []byte) bool {
	for i, c := range t {
		if c == '$' || c == '%' || c == '.' && i > 0 && isDigit(t[i-1]) && i+1 < len(t) && isDigit(t[i+1]) {
			return true
		}
	}
	return bytes.Contains(t, []byte("£")) || bytes.Contains(t, []byte("€"))
}

// name says which X it is: T1's wins over the rest, else the first word.
func (q *qualifiers) name(which metric) {
	if q.which == none || which == xT1 {
		q.which = which
	}
}

// heading takes in what a heading says of everything under it.
func (q *qualifiers) heading(title []byte, level int) {
	*q = qualifiers{}
	s := speech{t: title}
	for s.next() {
		switch string(s.lower()) {
		case "sensitivity", "sensitivities", "tornado", "stress", "peer", "peers", "comparable", "comparables", "comps", "bear", "bull", "reverse", "alternative":
			q.hush = true
		}
		s.tell(q)
	}
	s.end(q)
	if level == 1 || q.state == several {
		q.state = 0 // a title names its own stage
	}
}

// A speech goes through the words of a text, the first 200 bytes of it, and
// finds out the state of the valuation that they name.
type speech struct {
	t       []byte
	i, n    int
	w       []byte        // the word
	buffers [2]wordBuffer // in turns, for a word in lower case and the one before it
	sizes   [2]int
	module  int8 // of the words before: BASE, and not yet T1 or T2
}

// lower is the word in lower case, before the one before it. They point into
// the speech, which keeps no pointer to them, and so stays on the stack.
func (s *speech) lower() []byte  { return s.buffers[(s.n-1)&1][:s.sizes[(s.n-1)&1]] }
func (s *speech) before() []byte { return s.buffers[s.n&1][:s.sizes[s.n&1]] }

func (s *speech) next() bool {
	limit := min(len(s.t), 200)
	for s.i < limit && !isWord(s.t[s.i]) {
		s.i++
	}
	start := s.i
	for s.i < limit && isWord(s.t[s.i]) && s.i-start < maxWord {
		s.i++
	}
	if s.i == start {
		return false
	}
	s.w = s.t[start:s.i]
	s.sizes[s.n&1] = len(s.buffers[s.n&1].fold(s.w))
	s.n++
	return true
}

// tell marks the state that the word completes.
func (s *speech) tell(q *qualifiers) { s.module = q.stateWord(s.w, s.lower(), s.before(), s.module) }

// end marks a module that no turn followed.
func (s *speech) end(q *qualifiers) { q.module(s.module) }

// is says that a word is one of the list.
func is(w []byte, list ...string) bool {
	for _, one := range list {
		if string(w) == one {
			return true
		}
	}
	return false
}

// stateWord takes one word in and gives the module that it names, for the next
// word to say which turn of it.
func (q *qualifiers) stateWord(w, lower, before []byte, module int8) int8 {
	switch {
	case string(before) == "state" && len(w) == 1 && w[0] >= '1' && w[0] <= '4':
		q.mark(int8(w[0] - '0'))
	case len(lower) == 6 && string(lower[:5]) == "state" && lower[5] >= '1' && lower[5] <= '4':
		q.mark(int8(lower[5] - '0'))
	case is(lower, "t1", "refine", "t3") || is(before, "turn") && is(lower, "1", "3"):
		return 0 // a turn without a valuation
	case is(lower, "t2") || is(before, "turn") && is(lower, "2"):
		if module == 0 {
			module = moduleOf(w, lower, true)
		}
		if module > 0 {
			q.mark(module)
		} else {
			q.mark(anyT2)
		}
		return 0
	case is(before, "a") && is(lower, "7"):
		q.mark(anyT2) // a T2's artifact
		return 0
	case beforehand[string(lower)]:
		q.mark(earlier)
	case is(lower, "turn"):
		return module
	}
	if m := moduleOf(w, lower, false); m > 0 {
		q.module(module)
		return m
	}
	if module > 0 && is(lower, "case") {
		return 0 // a base case is a case
	}
	q.module(module)
	return 0
}

func (q *qualifiers) module(m int8) {
	if m > 0 {
		q.mark(m)
	}
}

func (q *qualifiers) mark(state int8) {
	switch {
	case q.state == 0 || q.state == state:
		q.state = state
	case q.state == earlier || q.state == anyT2:
		if state > 0 {
			q.state = state
		}
	case state == earlier || state == anyT2:
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
			q.mark(anyT2)
		case beforehand[w] || w == "pre":
			q.mark(earlier)
		case w == "base" && (next == "t2" || next == "ivps" || next == "stage" || next == "valuation") || w == "ivps" && next == "base":
			q.mark(1)
		case w == "enrich" || w == "enriched" && next == "ivps" || w == "post" && next == "enrichment":
			q.mark(2)
		case w == "scenario" && (next == "t2" || next == "stage" || next == "ivps"):
			q.mark(3)
		case w == "int" || w == "integrated":
			q.mark(4)
		}
		q.fresh = q.fresh || freshening[w]
		q.expected = q.expected || w == "expected"
	}
	if q.state == several {
		q.state = 0
	}
}
