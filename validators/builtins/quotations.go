package builtins

import (
	"strings"
	"unicode/utf8"
)

// quoteReach bounds the bytes of a quotation within a paragraph.
const quoteReach = 2000

// closing maps the signs that open a quotation to those that close it, as CLDR lists
// them for languages. An apostrophe opens none.
var closing = map[rune]string{'"': `"`, '“': "”", '„': "“”", '«': "»", '‹': "›", '「': "」", '『': "』"}

// quotation returns the number of bytes from an opening sign to the end of its quotation.
// It returns 0 if the sign opens no quotation, or if no sign closes it.
func quotation(r rune, after string) int {
	ends := closing[r]
	if ends == "" {
		return 0
	}
	n := strings.IndexAny(after[:min(len(after), quoteReach)], ends)
	if n < 0 {
		return 0
	}
	_, last := utf8.DecodeRuneInString(after[n:])
	return n + last
}
