package model

import (
	"fmt"
	"unicode/utf8"
)

// Whole returns the length of the text without an incomplete character at its
// end.
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

// Cut returns a text, or its first size bytes without an incomplete character and the
// length of the whole text.
func Cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:Whole(text[:size])], len(text))
}
