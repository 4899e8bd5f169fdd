package schema

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unescape is JSON, or a text with JSON in it, with each escape of a letter that
// JSON need not escape as that letter: \u0041 is A. What must be escaped, quotes,
// backslashes and control characters, stays as it is, and so does half a pair.
func Unescape(text string) string {
	var b strings.Builder
	from := 0 // what is before was written
	for i := strings.IndexByte(text, '\\'); i >= 0 && i+1 < len(text); {
		letter, size := needless(text[i:])
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

// needless reads the escape that a text begins with: the letter, and how long the
// escape is, in bytes; no letter where it is needed, or none.
func needless(text string) (letter rune, size int) {
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

// hex4 reads the four hexadecimal digits of an escape.
func hex4(text string, at int) (rune, bool) {
	if at+4 > len(text) {
		return 0, false
	}
	n, err := strconv.ParseUint(text[at:at+4], 16, 16)
	return rune(n), err == nil
}
