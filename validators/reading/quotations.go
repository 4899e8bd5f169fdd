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
	case '‚':
		return "‘’", "‚"
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
			if strings.HasPrefix(words[i:], `""`) { // nothing is quoted
				i++
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
// last is an apostrophe. Behind a figure a straight mark is of inches.
func quotationFrom(words string, from int) int {
	opening, size := utf8.DecodeRuneInString(words[from:])
	ends, others := closing(opening)
	if ends == "" || opening == '"' && from > 0 && words[from-1] >= '0' && words[from-1] <= '9' {
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
	if opening == '‘' || opening == '‚' {
		next, _ := utf8.DecodeRuneInString(inner[at+width:])
		if utf8.RuneCountInString(inner[:at]) < 2 || unicode.IsLetter(next) {
			return -1
		}
	}
	return from + size + at + width
}

// unended is where the quotation begins that a paragraph does not end, and by which
// mark, or -1. Straight marks do not tell where one begins.
func unended(words string) (at int, opening rune) {
	at = -1
	for i, r := range words {
		ends, _ := closing(opening)
		switch {
		case at >= 0 && strings.ContainsRune(ends, r):
			at = -1
		case at < 0 && (r == '“' || r == '„' || r == '«'):
			at, opening = i, r
		}
	}
	return at, opening
}

// continued is how much of a paragraph belongs to a quotation that the one before
// has begun; goes says whether it goes on there at all: it ends there, or begins
// with the mark once more, as is the custom.
func continued(words string, opening rune) (end int, goes bool) {
	if strings.HasPrefix(words, string(opening)) {
		return 0, true
	}
	ends, others := closing(opening)
	at := strings.IndexAny(words, ends+others)
	if at < 0 {
		return 0, false
	}
	if last, _ := utf8.DecodeRuneInString(words[at:]); !strings.ContainsRune(ends, last) {
		return 0, false
	}
	return at, true
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
func trimQuoted(s string) string { return strings.Trim(s, "“”„«»「」‘’‚\" .,;") }

// plainQuotes writes quotation marks and apostrophes in one way.
func plainQuotes(s string) string { return quoteMarks.Replace(oneLine(s)) }

var quoteMarks = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "‘", "'", "’", "'", "‚", "'")

// Quoted lists the block quotes and what stands in quotation marks, with the code and
// the addresses in them. Quotation marks in code and in placeholders are none. What
// goes on in the next paragraph is a quotation in each.
func (t Text) Quoted() []Thing {
	t.Blocks = t.Shown()
	masked := make([]string, len(t.Blocks))
	for i, b := range t.Blocks {
		masked[i] = b.masked()
	}
	var out []Thing
	for i, b := range t.Blocks {
		if b.Form == Quote {
			out = append(out, Thing{Kind: Quotations, Text: plainQuotes(b.filled(b.Words, 0)), Line: b.Line})
		}
		if masked[i] == "" {
			continue
		}
		seen, n := 0, 0 // so many stand-ins are before
		add := func(at Span) {
			if at.From < seen {
				seen, n = 0, 0
			}
			n, seen = n+strings.Count(b.Words[seen:at.From], standIn), at.From
			out = append(out, Thing{Kind: Quotations, Text: plainQuotes(b.filled(trimQuoted(at.In(b.Words)), n)), Line: b.Line})
		}
		from := t.begun(masked, i)
		if from > 0 {
			add(Span{0, from})
		}
		for at := range quotationsAt(masked[i][from:]) {
			add(Span{from + at.From, from + at.To})
		}
		if at, opening := unended(masked[i]); at >= 0 && i+1 < len(t.Blocks) && t.follows(i+1) {
			if _, goes := continued(masked[i+1], opening); goes {
				add(Span{at, len(b.Words)})
			}
		}
	}
	return out
}

// begun is where in a paragraph a quotation ends that the one before has begun, or 0.
func (t Text) begun(masked []string, i int) int {
	if i == 0 || !t.follows(i) {
		return 0
	}
	at, opening := unended(masked[i-1])
	if at < 0 {
		return 0
	}
	end, _ := continued(masked[i], opening)
	return end
}

// follows says that a block is a paragraph behind another.
func (t Text) follows(i int) bool {
	return t.Blocks[i].Form == Paragraph && t.Blocks[i-1].Form == Paragraph
}

// masked are the block's words without the quotation marks of placeholders, byte for
// byte; "" where it has no others.
func (b Block) masked() string {
	if !strings.ContainsAny(b.Words, "“”„«»「‘‚\"") {
		return ""
	}
	if !strings.ContainsAny(b.Words, "{%<") { // what a placeholder begins with
		return b.Words
	}
	return placeholderPattern().ReplaceAllStringFunc(b.Words, func(s string) string { return strings.ReplaceAll(s, `"`, "_") })
}
