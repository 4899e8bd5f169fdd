package edit

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNote is the longest text that a report takes over, in characters.
const maxNote = 600

// clean makes one line of a text: white space becomes single blanks, and what
// does not print, or turns the direction of what does, is left out. So no text
// of a candidate or a model can shape a report or a terminal.
func clean(s string) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = true
			continue
		case r == utf8.RuneError || !unicode.IsPrint(r):
			continue
		case n >= maxNote:
			return b.String() + "…"
		}
		if space && n > 0 {
			b.WriteByte(' ')
			n++
		}
		space = false
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// brief is clean for a quotation in passing.
func brief(s string) string {
	s = clean(s)
	if utf8.RuneCountInString(s) > 80 {
		s = string([]rune(s)[:80]) + "…"
	}
	return s
}

// sentence ends a text that has no end.
func sentence(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}
