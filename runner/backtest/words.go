package backtest

import (
	"strings"
	"unicode"
)

// excerpt is the beginning of a text, on one line.
func excerpt(text string) string { return clip(text, 80) }

// clip is the beginning of a text, at most that many characters on one line.
func clip(text string, most int) string {
	// Far fewer words than this make a line; the text may have megabytes.
	if bound := 20 * most; len(text) > bound {
		text = strings.ToValidUTF8(text[:bound], "")
	}
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > most {
		return strings.TrimSpace(string(line[:most-1])) + "…"
	}
	return string(line)
}

// clean is a text that a terminal shows as it is: one line, no control
// characters.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, s)
}
