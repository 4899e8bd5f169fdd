package model

import "unicode/utf8"

// Whole is how many bytes of a text, of which more may come, end with a whole
// character: all of them unless its end is the beginning of one.
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
