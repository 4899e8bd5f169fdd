package reading

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// closing are the marks that may end a quotation, by the one that it begins with.
// None has another that begins or ends its like within.
func closing(opening rune) (ends, others string) {
	switch opening {
	case '“':
		return "”", "“"
	case '„':
		return "“”", "„"
	case '«':
		return "»", "«"
	case '»':
		return "«", "»"
	case '「':
		return "」", "「"
	case '‘':
		return "’", "‘"
	case '"':
		return `"`, ""
	}
	return "", ""
}

// quotationsAt yields where the quotations of a line of words stand, from the mark
// that begins each to behind the one that ends it. A mark is looked for by its
// first byte: a pattern over every letter took half of the time of a reading.
func quotationsAt(words string) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for i := 0; i < len(words); i++ {
			if c := words[i]; c != '"' && c != 0xC2 && c != 0xE2 && c != 0xE3 {
				continue
			}
			end := quotationFrom(words, i)
			if end < 0 {
				continue
			}
			if !yield(Span{i, end}) {
				return
			}
			i = end - 1
		}
	}
}

// quotationFrom is where the quotation that begins at a byte ends, or -1. What
// single marks hold has two letters, and no letter stands behind them: else the
// last is an apostrophe.
func quotationFrom(words string, from int) int {
	opening, size := utf8.DecodeRuneInString(words[from:])
	ends, others := closing(opening)
	if ends == "" {
		return -1
	}
	inner := words[from+size:]
	at := strings.IndexAny(inner, ends+others)
	if at < 1 {
		return -1
	}
	last, width := utf8.DecodeRuneInString(inner[at:])
	if !strings.ContainsRune(ends, last) {
		return -1
	}
	if opening == '‘' {
		next, _ := utf8.DecodeRuneInString(inner[at+width:])
		if utf8.RuneCountInString(inner[:at]) < 2 || unicode.IsLetter(next) {
			return -1
		}
	}
	return from + size + at + width
}

// quotations are what stands in quotation marks, whichever. What is in them is
// looked at as well.
func quotations(words string) ([]string, string) {
	var found []string
	for at := range quotationsAt(words) {
		found = append(found, plainQuotes(trimQuoted(at.In(words))))
	}
	return found, words
}

// trimQuoted takes the marks off a quotation.
func trimQuoted(s string) string { return strings.Trim(s, "“”„«»「」‘’\" .,;") }

// plainQuotes writes quotation marks and apostrophes in one way.
func plainQuotes(s string) string { return quoteMarks.Replace(oneLine(s)) }

var quoteMarks = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "‘", "'", "’", "'")
