package jinja

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of a token inside {{ }} or {% %}.
type tokenKind uint8

const (
	tokenName tokenKind = iota
	tokenString
	tokenInteger
	tokenFloat
	tokenOperator
	tokenEnd // the closing }} or %}
)

type token struct {
	kind  tokenKind
	text  string // a name, an operator, the digits of a number, the value of a string
	at    int
	value any // of a number
}

// describe names the token as a message shows it.
func (t token) describe() string {
	switch t.kind {
	case tokenString:
		return "a string"
	case tokenInteger, tokenFloat:
		return "the number " + t.text
	}
	return quoted(t.text)
}

func quoted(s string) string { return `"` + s + `"` }

// A segment is what lies between two boundaries of the document.
type segment uint8

const (
	segmentText segment = iota
	segmentPrint
	segmentTag
	segmentEOF
)

// lexer splits a source as Jinja2's lexer does: text, {{ }}, {% %}, {# #} and
// {% raw %}, with their whitespace signs. It reads tokens on demand, so a
// hostile tag is rejected before its end is read.
type lexer struct {
	source   string // line breaks are \n, and the last one is cut off
	pos      int
	closer   string // the end of the tag the lexer is in: "}}" or "%}"
	opened   int    // where that tag begins
	brackets []byte // closing brackets that are still expected; no tag ends before them
}

// normalized turns \r\n and \r into \n and takes one line break off the end, as Jinja2 reads a source.
func normalized(source string) string {
	if strings.IndexByte(source, '\r') >= 0 {
		source = strings.ReplaceAll(source, "\r\n", "\n")
		source = strings.ReplaceAll(source, "\r", "\n")
	}
	return strings.TrimSuffix(source, "\n")
}

// segment returns the text up to the next {{ or {%, and enters that tag. Comments and raw blocks end a text early.
func (l *lexer) segment() (text string, kind segment) {
	start := l.pos
	open := l.nextOpening()
	if open < 0 {
		l.pos = len(l.source)
		return l.source[start:], segmentEOF
	}
	text = l.source[start:open]
	l.pos = open + 2
	sign := l.sign()
	if sign == '-' {
		text = strings.TrimRightFunc(text, isSpace)
	}
	l.opened = open
	switch l.source[open+1] {
	case '#':
		l.comment(open)
		return text, segmentText
	case '{':
		l.closer = "}}"
		return text, segmentPrint
	}
	if raw, ok := l.raw(open); ok {
		return text + raw, segmentText
	}
	l.closer = "%}"
	return text, segmentTag
}

// nextOpening returns the offset of the next tag or comment, or -1.
func (l *lexer) nextOpening() int {
	for i := l.pos; ; {
		next := strings.IndexByte(l.source[i:], '{')
		if next < 0 || i+next+1 >= len(l.source) {
			return -1
		}
		i += next
		switch l.source[i+1] {
		case '{', '%', '#':
			return i
		}
		i++
	}
}

// sign reads the sign of an opening, - or +.
func (l *lexer) sign() byte {
	if l.pos < len(l.source) && (l.source[l.pos] == '-' || l.source[l.pos] == '+') {
		l.pos++
		return l.source[l.pos-1]
	}
	return 0
}

func (l *lexer) comment(open int) {
	end := strings.Index(l.source[l.pos:], "#}")
	if end < 0 {
		failAt(open, `the comment that begins here is never closed with "#}"`)
	}
	trim := end > 0 && l.source[l.pos+end-1] == '-'
	l.pos += end + 2
	if trim {
		l.skipSpace()
	}
}

func (l *lexer) skipSpace() {
	for l.pos < len(l.source) && l.source[l.pos] == ' ' {
		l.pos++
	}
	if l.pos < len(l.source) && l.source[l.pos] > ' ' && l.source[l.pos] < utf8.RuneSelf {
		return
	}
	l.pos = len(l.source) - len(strings.TrimLeftFunc(l.source[l.pos:], isSpace))
}

// raw recognises "raw %}" just after an opening {% and returns the text up to {% endraw %}.
func (l *lexer) raw(open int) (text string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeftFunc(l.source[l.pos:], isSpace), "raw")
	if !ok {
		return "", false
	}
	rest = strings.TrimLeftFunc(rest, isSpace)
	if after, trim := strings.CutPrefix(rest, "-%}"); trim {
		rest = strings.TrimLeftFunc(after, isSpace)
	} else if rest, ok = strings.CutPrefix(rest, "%}"); !ok {
		return "", false
	}
	start := len(l.source) - len(rest)
	for i := start; ; i += 2 {
		next := strings.Index(l.source[i:], "{%")
		if next < 0 {
			failAt(open, `the raw block that begins here is never closed with "{%% endraw %%}"`)
		}
		i += next
		if after, sign, found := endraw(l.source[i+2:]); found {
			text, l.pos = l.source[start:i], len(l.source)-len(after)
			if sign == '-' {
				text = strings.TrimRightFunc(text, isSpace)
			}
			return text, true
		}
	}
}

// endraw matches the text after the {% of a {% endraw %} and returns the rest.
func endraw(s string) (rest string, sign byte, ok bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[0], s[1:]
	}
	s, ok = strings.CutPrefix(strings.TrimLeftFunc(s, isSpace), "endraw")
	if !ok {
		return "", 0, false
	}
	s = strings.TrimLeftFunc(s, isSpace)
	if rest, ok = strings.CutPrefix(s, "-%}"); ok {
		return strings.TrimLeftFunc(rest, isSpace), sign, true
	}
	rest, ok = strings.CutPrefix(strings.TrimPrefix(s, "+"), "%}")
	return rest, sign, ok
}

// next returns the next token of the current tag. The end of the tag is also a
// token.
func (l *lexer) next() token {
	l.skipSpace()
	at := l.pos
	if at >= len(l.source) {
		failAt(l.opened, "the tag that begins here is never closed: %q is missing", l.closer)
	}
	if len(l.brackets) == 0 && l.end() {
		return token{kind: tokenEnd, text: l.closer, at: at}
	}
	switch c := l.source[at]; {
	case c >= '0' && c <= '9':
		return l.number()
	case c == '"' || c == '\'':
		return l.string(c)
	}
	if name := l.name(); name != "" {
		return token{kind: tokenName, text: name, at: at}
	}
	return l.operator()
}

// end takes the closing of the tag, and with "-" the whitespace after it.
func (l *lexer) end() bool {
	rest := l.source[l.pos:]
	if after, ok := strings.CutPrefix(rest, "-"+l.closer); ok {
		l.pos = len(l.source) - len(after)
		l.skipSpace()
		return true
	}
	if l.closer == "%}" {
		rest = strings.TrimPrefix(rest, "+")
	}
	after, ok := strings.CutPrefix(rest, l.closer)
	if ok {
		l.pos = len(l.source) - len(after)
	}
	return ok
}

func (l *lexer) name() string {
	start := l.pos
	for l.pos < len(l.source) && isPlain(l.source[l.pos], l.pos > start) {
		l.pos++
	}
	if l.pos < len(l.source) && l.source[l.pos] < utf8.RuneSelf {
		return l.source[start:l.pos]
	}
	for i, r := range l.source[start:] {
		if r == '_' || unicode.IsLetter(r) || i > 0 && continuesName(r) {
			l.pos = start + i + utf8.RuneLen(r)
			continue
		}
		break
	}
	return l.source[start:l.pos]
}

// isPlain reports whether a byte is an ASCII character of a name. A name does
// not begin with a digit.
func isPlain(c byte, inside bool) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || inside && '0' <= c && c <= '9'
}

func continuesName(r rune) bool {
	return unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Nl) || r == '·'
}

var wideOperators = []string{"//", "**", "==", "!=", ">=", "<="}

const narrowOperators = "+-/*%~[](){}><=.:|,;"

func (l *lexer) operator() token {
	rest := l.source[l.pos:]
	size := 1
	if len(rest) > 1 && slices.Contains(wideOperators, rest[:2]) {
		size = 2
	} else if strings.IndexByte(narrowOperators, rest[0]) < 0 {
		r, _ := utf8.DecodeRuneInString(rest)
		failAt(l.pos, "unexpected character %q", r)
	}
	t := token{kind: tokenOperator, text: rest[:size], at: l.pos}
	l.balance(t)
	l.pos += size
	return t
}

func (l *lexer) balance(t token) {
	switch t.text {
	case "(":
		l.brackets = append(l.brackets, ')')
	case "[":
		l.brackets = append(l.brackets, ']')
	case "{":
		l.brackets = append(l.brackets, '}')
	case ")", "]", "}":
		if len(l.brackets) == 0 {
			if t.text == "}" && l.closer == "}}" {
				failAt(t.at, "one } stands here: the tag is closed with }}")
			}
			failAt(t.at, "unexpected %q", t.text)
		}
		closing := l.brackets[len(l.brackets)-1]
		if closing != t.text[0] {
			failAt(t.at, "unexpected %q, expected %q", t.text, string(closing))
		}
		l.brackets = l.brackets[:len(l.brackets)-1]
	}
	if len(l.brackets) > maxDepth {
		failAt(t.at, "brackets are nested deeper than %d", maxDepth)
	}
}

// isSpace is Python's idea of whitespace, which is Unicode's and four control characters more.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f
}
