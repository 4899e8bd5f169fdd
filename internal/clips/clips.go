// Package clips shortens texts for messages, reports and models. It never splits a
// character, and "…" marks a cut. For one printable line use reports.Fit.
package clips

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bytes returns a text, or its first limit bytes and "…".
func Bytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// Sized is [Bytes] with the size of a text that it cuts: "… (812 bytes)".
func Sized(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return fmt.Sprintf("%s (%d bytes)", Bytes(text, limit), len(text))
}

// Chars returns a text of at most limit characters, which end with "…" if it was cut.
func Chars(text string, limit int) string {
	count, last := 0, 0
	for i := range text {
		if count++; count == limit {
			last = i
		}
		if count > limit {
			return text[:last] + "…"
		}
	}
	return text
}

// Tail returns the last limit bytes of a text, or less so that it begins with a character.
func Tail(text string, limit int) string {
	from := max(len(text)-limit, 0)
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:]
}

// Whole returns the length of the text without an incomplete character at its end.
func Whole[T ~string | ~[]byte](text T) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		switch end := text[len(text)-n:]; {
		case !utf8.RuneStart(end[0]):
		case utf8.FullRune([]byte(end)):
			return len(text)
		default:
			return len(text) - n
		}
	}
	return len(text)
}
