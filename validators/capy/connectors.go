package capy

import "bytes"

// A link is what joins a label to its value.
type link uint8

const (
	noLink link = iota
	equal       // = ≈
	colon       // : is was of at
	direct      // nothing: E[IVPS] $198.34
	inside      // parentheses: IVPS ($198.34)
	atEnd       // the text ends behind the label: a cell of a table
)

var verbs = set("is", "was", "of", "at", "equals", "equal", "are", "stands", "comes", "remains", "becomes", "totals", "reaches", "yields", "be", "being")

// multipliers are what X is called.
var multipliers = set("multiplier", "risk", "factor")

// moving are words that lead from an old value to a new one.
var moving = set("decreased", "decreases", "declined", "declines", "falls", "fell", "rises", "rose", "increased", "increases", "moves", "moved", "drops", "dropped", "goes", "went", "changed", "changes",
	"improves", "improved", "shifts", "shifted")

// connect reads what stands between a label that ends at i and its value:
// subscripts, parentheses, words that say nothing against it, and the link.
// It gives where the value begins.
func connect(t []byte, i int, m metric, q *qualifiers) (at int, l link) {
	var buf wordBuffer
	group := -1 // where a parenthesis with money begins
	for range 14 {
		if i >= len(t) {
			return linkEnd(group, i)
		}
		c := t[i]
		switch {
		case c == ' ' || c == '*' || c == '`' || c == '"' || c == ']' || c == ')' || c == '}' || c == '\\':
			i++
		case c == '_' && (i+1 >= len(t) || !isWord(t[i+1]) && t[i+1] != '{'):
			i++
		case c == '_':
			end, ok := subscript(t, i+1, m, q)
			if !ok {
				return i, noLink
			}
			i = end
		case c == '(' || c == '[':
			end, value := bracket(t, i, m, q)
			if end < 0 {
				return i, noLink
			}
			if value {
				group = i + 1
			}
			i = end
		case c == '=' && i+1 < len(t) && t[i+1] == '>':
			return i, noLink
		case c == '=':
			return i + 1, equal
		case c == ':':
			return i + 1, colon
		case isLetter(c) && c < 0x80:
			w := wordAt(t, i)
			lower := buf.fold(w)
			if to := bytes.Index(t[i:min(len(t), i+80)], []byte(" to ")); to > 0 && moving[string(lower)] && m.perShare() {
				return i + to + 4, colon
			}
			if verbs[string(lower)] && group >= 0 {
				return group, inside
			}
			if verbs[string(lower)] {
				return i + len(w), colon
			}
			if currency(t[i:]) > 0 && m.perShare() {
				return i, direct
			}
			if !neutral[string(lower)] && !(m == xAny && multipliers[string(lower)]) {
				return linkEnd(group, -1)
			}
			q.read(w, m)
			i += len(w)
		case currency(t[i:]) > 0 && m.perShare():
			return i, direct
		case c == '$':
			i++
		default:
			return signLink(t, i, m, group)
		}
	}
	return i, noLink
}

// bracket reads what is in parentheses behind a label: its value, or words
// about it. It gives where they end, or -1.
func bracket(t []byte, i int, m metric, q *qualifiers) (end int, value bool) {
	closer := byte(')')
	if t[i] == '[' {
		closer = ']'
	}
	n := bytes.IndexByte(t[i:min(len(t), i+100)], closer)
	if n < 0 {
		return -1, false
	}
	inner := t[i+1 : i+n]
	if currency(bytes.TrimLeft(inner, " ~≈")) > 0 || m.rate() && percentFirst(inner) {
		return i + n + 1, true
	}
	q.read(inner, m)
	return i + n + 1, false
}

// linkEnd is the link where nothing follows: the value may have been in
// parentheses, or is in the next cell.
func linkEnd(group, i int) (int, link) {
	if group >= 0 {
		return group, inside
	}
	if i < 0 {
		return 0, noLink
	}
	return i, atEnd
}

// signLink reads the signs beyond ASCII that link, and dashes in front of money.
func signLink(t []byte, i int, m metric, group int) (int, link) {
	rest := t[i:]
	for _, s := range []string{"≈", "≅", "→", "~"} {
		if bytes.HasPrefix(rest, []byte(s)) {
			return i + len(s), equal
		}
	}
	for _, s := range []string{"—", "–", "-"} {
		if bytes.HasPrefix(rest, []byte(s+" ")) {
			after := bytes.TrimLeft(rest[len(s):], " *~")
			if currency(after) > 0 && m.perShare() || m.rate() && percentFirst(after) {
				return i + len(s), colon
			}
		}
	}
	return linkEnd(group, -1)
}

func percentFirst(t []byte) bool {
	n, ok := readNumber(bytes.TrimLeft(t, " "), 0)
	return ok && n.percent && !n.plus
}

// subscript reads _Static, _{final}: its words must not make another number
// of the label.
func subscript(t []byte, i int, m metric, q *qualifiers) (end int, ok bool) {
	end = i
	if t[i] == '{' {
		n := bytes.IndexByte(t[i:min(len(t), i+40)], '}')
		if n < 0 {
			return i, false
		}
		end = i + n + 1
	} else {
		for end < len(t) && end-i < maxWord && (isASCIIWord(t[end]) || t[end] == '_') {
			end++
		}
	}
	l := tokens(bytes.ReplaceAll(t[i:end], []byte("text"), nil))
	if m != xAny && !l.only(neutral) && !(m == roic && l.has("terminal")) || m == xAny && !l.only(neutral, "risk", "multiplier", "avg", "average") {
		return i, false
	}
	before := q.which
	if m == xAny {
		q.which = none // what is attached counts before what stands around
	}
	q.read(t[i:end], m)
	if before == xT1 && q.which == xFinal {
		q.which = xT1 // T1's own X_final
	}
	q.key(&l)
	return end, true
}

// leadIn skips what may stand between a link and the number.
func leadIn(t []byte, i int) int {
	var buf wordBuffer
	for i < len(t) {
		c := t[i]
		switch {
		case isSpace(c) || c == '*' || c == '`' || c == '_' || c == '"' || c == '~':
			i++
			continue
		case bytes.HasPrefix(t[i:], []byte("≈")):
			i += len("≈")
			continue
		case c == '$' && (i+1 == len(t) || !isDigit(t[i+1]) && t[i+1] != '-' && t[i+1] != '.'):
			i++
			continue
		}
		w := wordAt(t, i)
		switch string(buf.fold(w)) {
		case "approximately", "about", "roughly", "around", "approx", "now", "currently", "an", "a", "at", "to", "estimated", "the":
			i += len(w)
			if i < len(t) && t[i] == '.' {
				i++
			}
			continue
		}
		return i
	}
	return i
}

// valueAt reads the value at t[i:]: a number, the last of an equation chain,
// or the last of a change from one to another. A formula without a result is
// none, nor is a range.
func valueAt(t []byte, i int, l link) (n number, ok bool) {
	for range 8 {
		i = leadIn(t, i)
		m, is := readNumber(t, i)
		if is {
			j := gloss(t, closing(t, m.end))
			switch next := follows(t, j); next {
			case finish:
				return m, true
			case span:
				return n, ok
			case chain:
				n, ok = m, true
				i = j + equalSign(t[j:])
				continue
			case arrow:
				n, ok = m, true
				i = j + arrowSign(t[j:])
				continue
			}
		}
		next := nextEqual(t, i)
		if next < 0 || l != equal && variable(t[i:next]) {
			return n, ok
		}
		i = next
	}
	return n, ok
}

// variable says that a text is the name of something else and an equal sign.
func variable(t []byte) bool {
	t = bytes.TrimRight(t, "= ≈")
	for _, c := range t {
		if !isWord(c) && bytes.IndexByte([]byte("_*[]{}` "), c) < 0 {
			return false
		}
	}
	return len(t) > 0
}

// closing skips the emphasis that ends right behind a number.
func closing(t []byte, i int) int {
	for i < len(t) && (t[i] == '*' || t[i] == '`' || t[i] == '_' || t[i] == '"') {
		if t[i] == '*' && i+1 < len(t) && (isDigit(t[i+1]) || t[i+1] == '(') {
			break
		}
		i++
	}
	for i < len(t) && t[i] == ' ' {
		i++
	}
	return i
}

// gloss skips a parenthesis behind a number where an arrow leads on from it.
func gloss(t []byte, i int) int {
	if i >= len(t) || t[i] != '(' {
		return i
	}
	n := bytes.IndexByte(t[i:min(len(t), i+40)], ')')
	if n < 0 {
		return i
	}
	if j := closing(t, i+n+1); j < len(t) && arrowSign(t[j:]) > 0 {
		return j
	}
	return i
}

// What follows a number.
const (
	finish = iota
	operator
	span
	chain
	arrow
)

// follows says how a text goes on behind a number.
func follows(t []byte, i int) int {
	if i >= len(t) {
		return finish
	}
	rest := t[i:]
	if arrowSign(rest) > 0 {
		if _, ok := readNumber(t, leadIn(t, i+arrowSign(rest))); ok {
			return arrow
		}
		return finish
	}
	if equalSign(rest) > 0 {
		return chain
	}
	c := rest[0]
	switch {
	case bytes.HasPrefix(rest, []byte("–")), bytes.HasPrefix(rest, []byte("—")), bytes.HasPrefix(rest, []byte("−")):
		return dash(t, i, i+3)
	case c == '-':
		return dash(t, i, i+1)
	case c == '+' || c == '^' || bytes.HasPrefix(rest, []byte("×")) || bytes.HasPrefix(rest, []byte("÷")) || bytes.HasPrefix(rest, []byte("·")):
		return operator
	case c == '*' && len(rest) > 1 && rest[1] != '*' && (rest[1] == ' ' || isDigit(rest[1]) || rest[1] == '('):
		return operator
	case c == '/' && len(rest) > 2 && currency(bytes.TrimLeft(rest[1:], " ")) > 0 && rest[1] == ' ':
		return finish // the same in another currency
	case c == '/' && len(rest) > 1 && (rest[1] == ' ' || isDigit(rest[1]) || rest[1] == '(' || rest[1] == '$'):
		return operator
	case c == 'x' && len(rest) > 2 && rest[1] == ' ' && (isDigit(rest[2]) || rest[2] == '$' || rest[2] == '('):
		return operator
	case c == '\\' && (bytes.HasPrefix(rest, []byte(`\times`)) || bytes.HasPrefix(rest, []byte(`\cdot`)) || bytes.HasPrefix(rest, []byte(`\div`))):
		return operator
	case c == 't' && bytes.HasPrefix(rest, []byte("to ")):
		if _, ok := readNumber(t, leadIn(t, i+3)); ok {
			return span
		}
	}
	return finish
}

// dash tells a range or a minus from a dash between words.
func dash(t []byte, i, behind int) int {
	j := behind
	for j < len(t) && t[j] == ' ' {
		j++
	}
	if j < len(t) && (isDigit(t[j]) || currency(t[j:]) > 0) {
		if j > behind && i > 0 && t[i-1] == ' ' && t[i] == '-' {
			return operator
		}
		return span
	}
	if j == behind && j < len(t) && isASCIIWord(t[j]) {
		return span // 20-year
	}
	return finish
}

func equalSign(t []byte) int {
	switch {
	case len(t) == 0:
		return 0
	case t[0] == '=' && (len(t) == 1 || t[1] != '>'):
		return 1
	case bytes.HasPrefix(t, []byte("≈")):
		return 3
	}
	return 0
}

func arrowSign(t []byte) int {
	for _, s := range []string{"→", "->", "=>", "⇒"} {
		if bytes.HasPrefix(t, []byte(s)) {
			return len(s)
		}
	}
	return 0
}

// nextEqual finds where the next part of an equation chain begins, within the
// clause.
func nextEqual(t []byte, i int) int {
	end := min(len(t), i+240)
	for ; i < end; i++ {
		switch c := t[i]; {
		case c == '=' && i > 0 && bytes.IndexByte([]byte("<>!="), t[i-1]) >= 0:
		case equalSign(t[i:]) > 0:
			return i + equalSign(t[i:])
		case c == '\n' || c == ';' || c == '|':
			return -1
		case c == '.' && i+1 < len(t) && t[i+1] == ' ':
			return -1
		case c == ',' && i+2 < len(t) && t[i+1] == ' ' && isLetter(t[i+2]):
			return -1
		}
	}
	return -1
}
