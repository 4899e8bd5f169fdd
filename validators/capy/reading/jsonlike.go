package reading

import "bytes"

// startsJSON says whether a text begins as a JSON object or array might.
func startsJSON(t []byte) bool {
	if len(t) == 0 || t[0] != '{' && t[0] != '[' {
		return false
	}
	c := firstByte(t[1:])
	if t[0] == '{' {
		return c == 0 || c == '"' || c == '}' || c == '\'' || c == '{'
	}
	return c == 0 || bytes.IndexByte([]byte(`{["']`), c) >= 0
}

// looksLikeJSON says whether a fence without a tag is meant as JSON: outside
// its strings there is no prose, no arrow and no elision, and nothing but
// JSON stands behind its end.
func looksLikeJSON(t []byte) bool {
	t = bytes.TrimSpace(t)
	if len(t) == 0 || t[0] != '{' && t[0] != '[' {
		return false
	}
	var p proseCheck
	for i := 0; i < len(t); {
		if t[i] == '"' || t[i] == '\'' && p.opens() {
			i = skipString(t, i)
			p.last, p.words = '"', 0
			continue
		}
		if isLetter(t[i]) {
			end := i
			for end < len(t) && (isWord(t[end]) || t[end] == '_' || t[end] == '.') {
				end++
			}
			if !p.word(t[i:end]) || !isKnownWord(t[i:end]) && firstByte(t[end:]) != ':' {
				return false
			}
			i = end
			continue
		}
		if !p.mark(t, i) {
			return false
		}
		i++
	}
	return true
}

// A proseCheck watches the words outside of strings.
type proseCheck struct {
	last  byte // the last byte that is no space
	words int  // in a row
	depth int
	ended bool // the first value is complete
}

// opens says that a quote here would begin a string.
func (p *proseCheck) opens() bool { return bytes.IndexByte([]byte("{[,:"), p.last) >= 0 }

func (p *proseCheck) word(w []byte) bool {
	if w[0] >= 0x80 && !bytes.ContainsAny(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return false // an arrow, a sign
	}
	if bytes.ContainsAny(w, "→←⇒↔") || p.ended || p.words > 0 {
		return false
	}
	p.words++
	p.last = 'w'
	return true
}

func (p *proseCheck) mark(t []byte, i int) bool {
	c := t[i]
	if c == ' ' || c == '\t' {
		return true
	}
	if c == '\n' || c == '\r' {
		p.words = 0
		return true
	}
	two := string(t[i:min(len(t), i+2)])
	if two == "->" || two == "=>" || two == "<-" || two == "//" || two == "/*" || two == ".." {
		return false
	}
	if p.ended && isDigit(c) || bytes.IndexByte([]byte("|=#;()*/<>"), c) >= 0 || c == '+' && (i+1 == len(t) || !isDigit(t[i+1])) {
		return false
	}
	switch c {
	case '{', '[':
		p.depth++
	case '}', ']':
		p.depth--
		p.ended = p.ended || p.depth <= 0
	}
	p.last, p.words = c, 0
	return true
}

// isKnownWord is a word that JSON has, or that people write where it has
// another.
func isKnownWord(w []byte) bool {
	switch string(w) {
	case "true", "false", "null", "True", "False", "None", "NaN", "Infinity", "undefined", "e", "E":
		return true
	}
	return false
}

// skipString gives the offset behind the string at t[i], which ends at its
// line's end at the latest.
func skipString(t []byte, i int) int {
	q := t[i]
	for i++; i < len(t); i++ {
		switch t[i] {
		case '\\':
			i++
		case q:
			return i + 1
		case '\n':
			return i
		}
	}
	return len(t)
}
