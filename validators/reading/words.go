package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A token is a word, or a mark between words.
type token struct {
	text string
	word bool
}

// tokens parts words at blanks and marks. Apostrophes (in one way), hyphens and underscores
// hold a word together, and so do dots and commas between figures. Where words have no
// blanks between them one ends where another script begins.
func tokens(s string) []token {
	var out []token
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case wordRune(r):
			end := i + wordEnd(s[i:])
			out = append(out, token{strings.ReplaceAll(s[i:end], "’", "'"), true})
			i = end
		case unicode.IsSpace(r):
			i += size
		default:
			out = append(out, token{s[i : i+size], false})
			i += size
		}
	}
	return out
}

func wordRune(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// wordEnd is where the word that s begins with ends.
func wordEnd(s string) int {
	var before rune
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !wordRune(r) {
			if next, _ := utf8.DecodeRuneInString(s[i+size:]); !holds(before, r, next) {
				return i
			}
		} else if i > 0 && unblanked(r) != unblanked(before) && !unicode.IsMark(r) && !unicode.IsMark(before) {
			return i
		}
		before = r
		i += size
	}
	return len(s)
}

func holds(before, r, next rune) bool {
	switch r {
	case '\'', '’', '-', '‑':
		return wordRune(before) && wordRune(next)
	case '.', ',':
		return unicode.IsDigit(before) && unicode.IsDigit(next)
	}
	return false
}
