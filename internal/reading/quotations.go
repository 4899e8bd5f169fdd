package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// closers maps an opening quotation mark to the marks that close it. The source is
// Unicode CLDR.
var closers = map[rune]string{'“': "”", '„': "“”", '«': "»", '»': "«", '「': "」", '『': "』", '‘': "’", '‚': "‘’", '"': `"`}

// Quotations returns the parts of a text in quotation marks, with the marks, in order.
// Within a quotation, its own opening mark must not occur. Text in single marks must
// have two characters, and no letter may follow it. A straight mark after a figure is a
// unit.
func Quotations(text string) []Span {
	var list []Span
	for at := 0; at < len(text); {
		opening, size := utf8.DecodeRuneInString(text[at:])
		if end := quotationEnd(text, at, opening, size); end > 0 {
			list = append(list, Span{at, end})
			at = end
			continue
		}
		at += size
	}
	return list
}

// maxQuotation is the maximum length of a quotation in bytes.
const maxQuotation = 4 << 10

func quotationEnd(text string, at int, opening rune, size int) int {
	ends := closers[opening]
	if ends == "" || opening == '"' && at > 0 && text[at-1] >= '0' && text[at-1] <= '9' {
		return -1
	}
	inner := text[at+size : min(len(text), at+size+maxQuotation)]
	end := strings.IndexAny(inner, ends+string(opening))
	if end < 1 {
		return -1
	}
	last, width := utf8.DecodeRuneInString(inner[end:])
	if !strings.ContainsRune(ends, last) {
		return -1
	}
	if opening == '‘' || opening == '‚' {
		next, _ := utf8.DecodeRuneInString(text[at+size+end+width:])
		if utf8.RuneCountInString(inner[:end]) < 2 || unicode.IsLetter(next) {
			return -1
		}
	}
	return at + size + end + width
}
