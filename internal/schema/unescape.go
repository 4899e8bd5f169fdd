package schema

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unescape replaces the escapes in JSON that JSON does not require: \u0041
// becomes A. Quotes, backslashes, control characters and half surrogate pairs
// stay escaped. The text may also be prose with JSON in it.
func Unescape(text string) string {
	var b strings.Builder
	from := 0 // start of the text that is not written yet
	for i := strings.IndexByte(text, '\\'); i >= 0 && i+1 < len(text); {
		letter, size := unescapeOne(text[i:])
		if letter != utf8.RuneError {
			b.WriteString(text[from:i])
			b.WriteRune(letter)
			from = i + size
		}
		next := strings.IndexByte(text[i+size:], '\\')
		if next < 0 {
			break
		}
		i += size + next
	}
	return b.String() + text[from:]
}

// unescapeOne reads the escape at the start of a text and returns its character
// and its length in bytes. The character is utf8.RuneError if the escape is
// required or invalid.
func unescapeOne(text string) (letter rune, size int) {
	if text[1] == '/' {
		return '/', 2
	}
	letter, ok := hex4(text, 2)
	if text[1] != 'u' || !ok || letter < ' ' || letter == '"' || letter == '\\' {
		return utf8.RuneError, 2
	}
	if !utf16.IsSurrogate(letter) {
		return letter, 6
	}
	low, ok := hex4(text, 8)
	if letter = utf16.DecodeRune(letter, low); !ok || text[6:8] != `\u` || letter == utf8.RuneError {
		return utf8.RuneError, 2
	}
	return letter, 12
}

// hex4 parses the four hexadecimal digits of an escape.
func hex4(text string, at int) (rune, bool) {
	if at+4 > len(text) {
		return 0, false
	}
	n, err := strconv.ParseUint(text[at:at+4], 16, 16)
	return rune(n), err == nil
}
