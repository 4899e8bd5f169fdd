package reading

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// text reads a string in double quotes.
func (s *jsonScanner) text() {
	t := s.t
	for s.i++; s.i < len(t); s.i++ {
		i := s.i
		for i < len(t) && !special[t[i]] {
			i++
		}
		if s.i = i; i == len(t) {
			break
		}
		switch c := t[i]; {
		case c == '"':
			s.i++
			return
		case c == '\\':
			s.escape()
		case c == '\n':
			s.fail("unclosed string", "the line ends inside a string: want \"")
			return
		case c < ' ':
			s.fail("control character", "the byte 0x%02x inside a string: write it as an escape", c)
		}
	}
	s.fail("unclosed string", "the block ends inside a string: want \"")
}

// escape checks the escape at the backslash and leaves its last byte to the
// caller.
func (s *jsonScanner) escape() {
	if s.i+1 >= len(s.t) || s.t[s.i+1] == '\n' {
		return
	}
	c := s.t[s.i+1]
	if bytes.IndexByte([]byte(`"\/bfnrt`), c) >= 0 {
		s.i++
		return
	}
	if c == 'u' && s.i+5 < len(s.t) && hex4(s.t[s.i+2:s.i+6]) {
		s.i += 5
		return
	}
	s.fail("escape", "%s is no JSON escape: write the backslash twice or take it away", s.show(2))
}

func hex4(t []byte) bool {
	return !slices.ContainsFunc(t, func(c byte) bool { return !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') })
}

// unquoted is a string without its quotes.
func unquoted(raw []byte) []byte {
	raw = raw[1:]
	if n := len(raw); n > 0 && raw[n-1] == '"' {
		raw = raw[:n-1]
	}
	return raw
}

// number reads a number and checks JSON's grammar of it.
func (s *jsonScanner) number() {
	from := s.i
	for s.i < len(s.t) && numeral[s.t[s.i]] {
		s.i++
	}
	raw := s.t[from:s.i]
	end := s.i
	s.junk()
	if whole := s.t[from:s.i]; len(whole) > len(raw) || !isNumber(raw) {
		s.i = from
		s.fail("number", "%q is no JSON number%s", Clip(string(whole), 40), advice(raw, whole))
		s.i = max(end, from+len(whole))
		raw = whole
	}
	s.emit(raw)
}

// isNumber says that what has no bytes but those of numbers is one of JSON's.
func isNumber(t []byte) bool {
	t = bytes.TrimPrefix(t, []byte{'-'})
	whole := digits(t)
	if whole == 0 || whole > 1 && t[0] == '0' {
		return false
	}
	if t = t[whole:]; len(t) > 0 && t[0] == '.' {
		n := digits(t[1:])
		if n == 0 {
			return false
		}
		t = t[1+n:]
	}
	if len(t) > 1 && t[0]|0x20 == 'e' {
		if t = t[1:]; t[0] == '+' || t[0] == '-' {
			t = t[1:]
		}
		n := digits(t)
		return n > 0 && n == len(t)
	}
	return len(t) == 0
}

// digits is how many a text begins with.
func digits(t []byte) (n int) {
	for n < len(t) && isDigit(t[n]) {
		n++
	}
	return n
}

var (
	numeral = setOf("0123456789+-.eE")
	parting = setOf(",]}: \t\r\n\"{[")
	special = controls() // bytes of a string that are not themselves
)

func controls() bytesOf {
	set := setOf("\"\\")
	for c := range ' ' {
		set[c] = true
	}
	return set
}

// advice says what would make a number of what is written.
func advice(raw, whole []byte) string {
	switch {
	case len(whole) > len(raw):
		return ": write the number alone, or put it in double quotes"
	case len(raw) > 1 && raw[0] == '0' && isDigit(raw[1]):
		return ": take the leading zeros away"
	case raw[len(raw)-1] == '.':
		return ": take the point away or put a digit behind it"
	}
	return ""
}

// junk skips what touches a value and does not belong there: 14.5%.
func (s *jsonScanner) junk() {
	for s.i < len(s.t) && !parting[s.t[s.i]] {
		s.i++
	}
}

// odd handles a value that is none of JSON's.
func (s *jsonScanner) odd(c byte) {
	from := s.i
	switch {
	case c == '+':
		end := s.i + 1
		for end < len(s.t) && (isDigit(s.t[end]) || s.t[end] == '.') {
			end++
		}
		s.fail("plus sign", "%s is %s, and a JSON number has no plus sign: write %s", s.named(), s.t[from:min(end, from+30)], s.t[min(from+1, end):min(end, from+30)])
		s.i++
		if s.i < len(s.t) && isDigit(s.t[s.i]) {
			s.number()
			return
		}
		s.junk()
		s.emit(nil)
	case c == '\'':
		s.fail("single quotes", "%s in single quotes: JSON strings are in double quotes", s.show(24))
		s.single()
		s.emit(s.t[from:s.i])
	case c == '.' && from+1 < len(s.t) && isDigit(s.t[from+1]):
		s.junk()
		raw := s.t[from:s.i]
		s.i = from
		s.fail("number", "%q is no JSON number: write 0 before the point", Clip(string(raw), 40))
		s.i = from + len(raw)
		s.emit(raw)
	case isLetter(c) || c == '$' || c == '<' || c == '_' || c == '.':
		s.word()
	default:
		s.fail("character", "%s where a value should be%s", s.show(1), s.behindKey())
		s.i++
		s.emit(nil)
	}
}

// word reads true, false and null, and complains of every other.
func (s *jsonScanner) word() {
	from := s.i
	for s.i < len(s.t) && bytes.IndexByte([]byte(",]}\n"), s.t[s.i]) < 0 {
		s.i++
	}
	raw := bytes.TrimRight(s.t[from:s.i], " \t\r")
	if w := wordAt(raw, 0); len(w) < len(raw) && isLiteral(w) {
		raw = w // what follows is another token
	}
	s.i = from + max(len(raw), 1)
	if !isLiteral(raw) {
		end := s.i
		s.i = from
		s.fail("word", "%s is %s, which JSON does not know: want true, false, null, a number or a string in double quotes", s.named(), s.show(min(len(raw), 30)))
		s.i = end
	}
	s.emit(raw)
}

func isLiteral(w []byte) bool {
	return string(w) == "true" || string(w) == "false" || string(w) == "null"
}

// single reads a string in single quotes: to the quote that a delimiter
// follows, or to the end of the line.
func (s *jsonScanner) single() {
	for s.i++; s.i < len(s.t) && s.t[s.i] != '\n'; s.i++ {
		if s.t[s.i] != '\'' {
			continue
		}
		rest := bytes.TrimLeft(s.t[s.i+1:min(len(s.t), s.i+20)], " \t\r")
		if len(rest) == 0 || bytes.IndexByte([]byte(",:]}\n"), rest[0]) >= 0 {
			s.i++
			return
		}
	}
}

// oddKey reads a key without double quotes.
func (s *jsonScanner) oddKey(c byte) {
	from := s.i
	if c == '\'' {
		s.fail("single quotes", "%s in single quotes: JSON keys are in double quotes", s.show(24))
		s.single()
		s.key = bytes.Trim(s.t[from:s.i], "'")
		return
	}
	for s.i < len(s.t) && bytes.IndexByte([]byte(":,}\n\" "), s.t[s.i]) < 0 {
		s.i++
	}
	s.key = s.t[from:s.i]
	s.i = from
	s.fail("unquoted key", "the key %s is not in double quotes", s.show(min(len(s.key), 40)))
	s.i = from + len(s.key)
}

// named is how a message calls the value that is due.
func (s *jsonScanner) named() string {
	if len(s.key) > 0 {
		return `"` + Clip(string(s.key), 40) + `"`
	}
	return "a value"
}

func (s *jsonScanner) behindKey() string {
	if len(s.key) > 0 {
		return ` behind "` + Clip(string(s.key), 40) + `"`
	}
	return ""
}

// show quotes up to n bytes of what comes next, and at least a character.
func (s *jsonScanner) show(n int) string {
	rest := s.t[s.i:min(len(s.t), s.i+max(n, utf8.UTFMax))]
	if end := bytes.IndexByte(rest, '\n'); end > 0 {
		rest = rest[:end]
	}
	_, size := utf8.DecodeRune(rest)
	return Clip(string(rest[:min(max(n, size), len(rest))]), 60)
}
