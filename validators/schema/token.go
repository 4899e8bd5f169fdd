package schema

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The grammar of JSON's tokens (RFC 8259), for whoever looks for JSON in a text
// and for whoever reads it: both must mean the same by it.

// spaceAt is the offset of the next byte at or behind i that is no white space.
func spaceAt(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// stringEnd is the offset behind the string whose quote opens at text[i]; ok
// tells whether it is one, else the offset is where it breaks. plain tells that
// it holds no escape: it says what stands there.
func stringEnd(text string, i int) (end int, plain, ok bool) {
	plain = true
	for i++; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1, plain, true
		case c < 0x20:
			return i, plain, false
		case c == '\\':
			plain = false
			if i++; i == len(text) {
				return i, plain, false
			}
			if text[i] == 'u' {
				if _, ok := hex4(text, i+1); !ok {
					return i, plain, false
				}
				i += 4
			} else if strings.IndexByte(`"\/bfnrt`, text[i]) < 0 {
				return i, plain, false
			}
		}
	}
	return i, plain, false
}

// scalarEnd is the offset behind the number or word at text[i]; ok tells
// whether it is one.
func scalarEnd(text string, i int) (end int, ok bool) {
	switch text[i] {
	case 't':
		return wordEnd(text, i, "true")
	case 'f':
		return wordEnd(text, i, "false")
	case 'n':
		return wordEnd(text, i, "null")
	}
	if text[i] == '-' {
		i++
	}
	start := i
	i = digitsEnd(text, i)
	if i == start || text[start] == '0' && i > start+1 {
		return i, false
	}
	if i < len(text) && text[i] == '.' {
		start = i + 1
		if i = digitsEnd(text, start); i == start {
			return i, false
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		start = i
		if i = digitsEnd(text, i); i == start {
			return i, false
		}
	}
	return i, i >= len(text) || !wordy(text[i])
}

func wordEnd(text string, i int, word string) (end int, ok bool) {
	if !strings.HasPrefix(text[i:], word) {
		return i, false
	}
	end = i + len(word)
	return end, end >= len(text) || !wordy(text[end])
}

func digitsEnd(text string, i int) int {
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	return i
}

// wordy tells what cannot follow a number or word at once.
func wordy(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '+' || c == '-' || c == '_'
}

// unescaped is what the inside of a string says.
func unescaped(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if at := strings.IndexByte(`"\/bfnrt`, s[i]); at >= 0 {
			b.WriteByte("\"\\/\b\f\n\r\t"[at])
			continue
		}
		r, _ := hex4(s, i+1)
		i += 4
		if utf16.IsSurrogate(r) {
			low, ok := rune(0), false
			if strings.HasPrefix(s[i+1:], `\u`) {
				low, ok = hex4(s, i+3)
			}
			if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
				i += 6
			}
		}
		b.WriteRune(r) // half a pair becomes U+FFFD, as everywhere in Go
	}
	return b.String()
}

func hex4(s string, i int) (rune, bool) {
	if i+4 > len(s) {
		return 0, false
	}
	var r rune
	for _, c := range []byte(s[i : i+4]) {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
