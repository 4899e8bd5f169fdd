package validators

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine makes one line of a foreign text, of at most most characters and a
// mark where it was cut: white space becomes single blanks, and what does not
// print, or turns the direction of what does, is left out. So no text that is
// quoted in a reason can shape a report or a terminal.
func OneLine(s string, most int) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = true
			continue
		case r == utf8.RuneError || !unicode.IsPrint(r):
			continue
		case n >= most || space && n > 0 && n+1 >= most:
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
