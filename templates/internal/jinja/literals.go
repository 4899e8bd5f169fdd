package jinja

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/patterns"
)

var (
	floatLiteral   = patterns.Lazy(`^(?i)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+\-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)`)
	integerLiteral = patterns.Lazy(`^(?i)(?:0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*)`)
)

// number reads a number; after a dot only an integer can follow, as in {{ rows.0.1 }}.
func (l *lexer) number() token {
	rest := l.source[l.pos:]
	t := token{kind: tokenFloat, at: l.pos}
	if l.pos == 0 || l.source[l.pos-1] != '.' {
		t.text = floatLiteral().FindString(rest)
	}
	if t.text != "" {
		// An exponent beyond the range is an infinity, as in Python.
		t.value, _ = strconv.ParseFloat(strings.ReplaceAll(t.text, "_", ""), 64)
	} else {
		t.kind, t.text = tokenInteger, integerLiteral().FindString(rest)
		value, ok := new(big.Int), false
		if len(t.text) <= maxDigits {
			_, ok = value.SetString(t.text, 0)
		}
		if !ok {
			failAt(t.at, "the integer %s has too many digits", shortened(t.text))
		}
		if t.value = any(json.Number(value.String())); value.IsInt64() {
			t.value = value.Int64()
		}
	}
	l.pos += len(t.text)
	return t
}

func (l *lexer) string(quote byte) token {
	start := l.pos + 1
	for i := start; i < len(l.source); i++ {
		switch l.source[i] {
		case '\\':
			i++
		case quote:
			t := token{kind: tokenString, text: unescaped(l.source[start:i], start), at: l.pos}
			l.pos = i + 1
			return t
		}
	}
	failAt(l.pos, "the string that begins here is never closed")
	panic("unreachable")
}

var simpleEscapes = map[byte]string{'\n': "", '\\': `\`, '\'': "'", '"': `"`,
	'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v"}

// unescaped resolves the escapes of a Python string; an unknown one stays as it is written.
func unescaped(s string, at int) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		text, length := escape(s[i:], at+i)
		b.WriteString(text)
		i += length
	}
	return b.String()
}

// escape resolves the escape at the start of s and returns how many bytes it took.
func escape(s string, at int) (text string, length int) {
	c := s[1]
	if simple, ok := simpleEscapes[c]; ok {
		return simple, 2
	}
	switch {
	case c == 'x':
		return hexEscape(s, 2, at)
	case c == 'u':
		return hexEscape(s, 4, at)
	case c == 'U':
		return hexEscape(s, 8, at)
	case c == 'N':
		failAt(at, `the escape \N is not supported: write the character`)
	case c >= '0' && c <= '7':
		length = 2
		for length < 4 && length < len(s) && s[length] >= '0' && s[length] <= '7' {
			length++
		}
		code, _ := strconv.ParseUint(s[1:length], 8, 32)
		return string(rune(code)), length
	case c >= utf8.RuneSelf:
		// Jinja2 escapes characters outside ASCII before it resolves escapes,
		// so the code of the character remains.
		r, size := utf8.DecodeRuneInString(s[1:])
		return `\` + strings.TrimPrefix(escapedRune(r), `\`), 1 + size
	}
	return s[:2], 2
}

func hexEscape(s string, digits, at int) (string, int) {
	if len(s) < 2+digits {
		failAt(at, `the escape \%c needs %d hexadecimal digits`, s[1], digits)
	}
	code, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	if err != nil {
		failAt(at, `the escape \%c needs %d hexadecimal digits`, s[1], digits)
	}
	if !utf8.ValidRune(rune(code)) || code > utf8.MaxRune {
		failAt(at, `the escape %s is not a character`, s[:2+digits])
	}
	return string(rune(code)), 2 + digits
}

// shortened cuts a quoted piece of a template for a message.
func shortened(s string) string { return clips.Bytes(s, 40) }
