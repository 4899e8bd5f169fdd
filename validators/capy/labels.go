package capy

import "bytes"

// A label is a name of a metric as prose writes it: in lower case, a space for
// any of space, underscore and hyphen. An exact one is written so.
type label struct {
	text   string
	metric metric
	exact  bool
}

// perShareOnly is a label whose value must be said to be per share.
const perShareOnly = "intrinsic value"

// labels are looked up by the first letter of what stands there; the longer
// come first.
var labels = func() (by [256][]label) {
	for _, l := range []label{
		{"ivps", ivps, false}, {"intrinsic value per share", ivps, false}, {"intrinsic value/share", ivps, false}, {perShareOnly, ivps, false},
		{"equity value per share", ivps, false}, {"IRR", irr, true}, {"hurdle probability", pirr, false},
		{"DR", dr, true}, {"discount rate", dr, false},
		{"terminal growth rate", growth, false}, {"terminal growth", growth, false}, {"terminal g", growth, false},
		{"perpetual growth rate", growth, false}, {"perpetuity growth rate", growth, false}, {"g", growth, true},
		{"ROIC", roic, true}, {"revenue", revenue, false}, {"SSE", sse, true}, {"JPD", jpd, true},
		{"joint probability distribution", jpd, false}, {"X", xAny, true}, {"risk multiplier", xAny, false},
	} {
		c := l.text[0]
		by[c] = append(by[c], l)
		if !l.exact && c >= 'a' && c <= 'z' {
			by[c-0x20] = append(by[c-0x20], l)
		}
	}
	for _, c := range "pP" { // P(IRR > …), Probability of …
		if by[c] == nil {
			by[c] = []label{}
		}
	}
	return by
}()

// labelAt reads a label at t[i:].
func labelAt(t []byte, i int) (m metric, end int, ok bool) {
	list := labels[t[i]]
	if list == nil || i > 0 && isASCIIWord(t[i-1]) {
		return none, 0, false
	}
	for _, l := range list {
		n := len(l.text)
		if l.exact {
			if !bytes.HasPrefix(t[i:], []byte(l.text)) {
				continue
			}
		} else if n, ok = hasFold(t[i:], l.text); !ok {
			continue
		}
		if end = i + n; end < len(t) && isASCIIWord(t[end]) {
			continue
		}
		if l.text == "g" && !equals(t, i, end) {
			continue
		}
		return l.metric, end, true
	}
	if t[i]|0x20 == 'p' {
		end, ok = hurdleLabel(t, i)
		return pirr, end, ok
	}
	return none, 0, false
}

// equals says that the letter g is a variable here: (g), or set to something.
func equals(t []byte, i, end int) bool {
	if i > 0 && t[i-1] == '(' && end < len(t) && t[end] == ')' {
		return false // a gloss of the label before it
	}
	rest := bytes.TrimLeft(t[end:min(len(t), end+4)], " *`")
	return len(rest) > 0 && rest[0] == '='
}

// hurdleLabel reads P(IRR > 15%), Probability of beating the hurdle.
func hurdleLabel(t []byte, i int) (end int, ok bool) {
	near := t[i:min(len(t), i+80)]
	w := wordAt(near, 0)
	var buf wordBuffer
	switch string(buf.fold(w)) {
	case "p", "prob", "pr":
		open := bytes.IndexAny(near[:min(len(near), len(w)+2)], "([")
		if open < 0 {
			return 0, false
		}
		end := bytes.IndexAny(near, ")]")
		if end > open && hurdles.has(near[open:end]) {
			return i + end + 1, true
		}
	case "probability", "chance", "likelihood":
		if cut := bytes.IndexAny(near, ":=|;"); cut >= 0 {
			near = near[:cut]
		}
		var room [80]byte
		lower := appendLower(room[:0], near) // as long as near, whatever is in it
		if at := bytes.Index(lower, []byte("hurdle")); at > 0 {
			end := i + at + len("hurdle")
			if n, ok := hasFold(t[end:], " rate"); ok {
				end += n
			}
			return end, true
		}
		if at := bytes.Index(lower, []byte("irr >")); at > 0 {
			return i + at + len("irr"), true
		}
	}
	return 0, false
}

// hurdles are what is beaten in a P(…).
var hurdles = newPhrases("IRR", "hurdle")

// leftOf gives the words in front of a label: those of its own clause, and
// where they begin.
func leftOf(t []byte, i int) (words []byte, start int) {
	start = max(0, i-80)
	for j := i - 1; j >= start; j-- {
		switch c := t[j]; c {
		case '|', '=', ';', '\n', '&', '$':
			return t[j+1 : i], j + 1
		case '.', ',', ':', '!', '?':
			if j+1 < len(t) && (isSpace(t[j+1]) || t[j+1] == '*') {
				return t[j+1 : i], j + 1
			}
		case ' ':
			w := wordAt(t, j+1)
			if s := string(w); s == "and" || s == "vs" || s == "versus" || s == "to" || s == "with" {
				return t[min(j+1+len(w), i):i], j + 1
			}
		}
	}
	return t[start:i], start
}

// expectation says whether a label is inside E[…], and where that begins.
func expectation(t []byte, i int) (start int, ok bool) {
	j := i - 1
	for j >= 0 && j > i-4 && (t[j] == '[' || t[j] == '(' || t[j] == '_' || t[j] == '\\' || t[j] == '{') {
		j--
	}
	if j == i-1 || j < 0 || t[j] != 'E' {
		return i, false
	}
	if j > 0 && (isASCIIWord(t[j-1]) && t[j-1] != 'E') {
		return i, false
	}
	return j, true
}

// inExpression says that a label is an operand: X_REFINE - X_T1.
func inExpression(t []byte, i int) bool {
	j := i - 1
	for j >= 0 && (t[j] == ' ' || t[j] == '(' || t[j] == '|') {
		j--
	}
	if j < 1 {
		return false
	}
	switch t[j] {
	case '+', '/', '^':
	case '-', '*':
		if t[j-1] == t[j] {
			return false // a dash, emphasis
		}
	default:
		if j >= 2 && (bytes.HasSuffix(t[:j+1], []byte("×")) || bytes.HasSuffix(t[:j+1], []byte("−"))) || j >= 1 && bytes.HasSuffix(t[:j+1], []byte("·")) {
			return true
		}
		return false
	}
	for j--; j >= 0 && t[j] == ' '; j-- {
	}
	return j >= 0 && (isWord(t[j]) || t[j] == ')' || t[j] == '%' || t[j] == '}')
}

// conditional says that the sentence up to a label begins with a condition.
func conditional(t []byte, i int) bool {
	start := max(0, i-160)
	for j := i - 1; j >= start; j-- {
		if t[j] == '\n' || t[j] == '|' || (t[j] == '.' || t[j] == ';') && j+1 < len(t) && isSpace(t[j+1]) {
			start = j + 1
			break
		}
	}
	var buf wordBuffer
	switch string(buf.fold(wordAt(bytes.TrimLeft(t[start:i], " *_-(>"), 0))) {
	case "if", "assuming", "suppose", "assume", "were", "should", "even", "unless", "when":
		return true
	}
	return false
}
