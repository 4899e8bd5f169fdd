package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold makes the same of letters that differ in case or in how they are
// composed, and one space of any white space; what stands at the text's end is
// left out. It gives the offsets in the folded text behind which a new line of
// the original began.
func Fold(text string) (folded string, newlines []int) {
	if !isASCII(text) {
		text = cases.Fold().String(norm.NFC.String(text))
	}
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for _, r := range text {
		if r == '\n' {
			newlines = append(newlines, b.Len())
		}
		if isSpace(r) {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		if r < utf8.RuneSelf {
			b.WriteByte(lower(byte(r)))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String(), newlines
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isSpace(r rune) bool {
	return r == ' ' || r >= '\t' && r <= '\r' || r >= utf8.RuneSelf && unicode.IsSpace(r)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
