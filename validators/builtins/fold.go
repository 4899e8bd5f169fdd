package builtins

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A folded text also stores where the lines of the original begin.
type folded struct {
	text     string
	newlines []int // offsets in text after which a new line of the original began
}

// fold makes letters equal that differ only in case or composition. It replaces
// white space by one space, and removes characters without width and trailing
// white space. Typographic apostrophes and hyphens become those of a keyboard.
func fold(text string) folded {
	var f folded
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for _, r := range cases.Fold().String(norm.NFC.String(text)) {
		if r == '\n' {
			f.newlines = append(f.newlines, b.Len())
		}
		switch {
		case unicode.IsSpace(r):
			space = true
			continue
		case isZeroWidth(r):
			continue
		case r == '’' || r == '‘' || r == 'ʼ':
			r = '\''
		case r == '\u2010' || r == '\u2011':
			r = '-'
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	f.text = b.String()
	return f
}

// foldEnds is like [fold]. If the text ends with white space, the result ends with a space.
func foldEnds(text string) folded {
	f := fold(text)
	if unicode.IsSpace(lastRune(text)) {
		f.text += " "
	}
	return f
}

// line returns the line of the original at an offset of the folded text, from
// 1.
func (f folded) line(offset int) int {
	// The line break before a word was recorded when the space before the word
	// had not been written yet.
	n, _ := slices.BinarySearch(f.newlines, offset)
	return n + 1
}

// find returns the offset of the first place where a folded keyword is not part
// of a longer word, or -1.
func (f folded) find(keyword string) int {
	first, _ := utf8.DecodeRuneInString(keyword)
	last, _ := utf8.DecodeLastRuneInString(keyword)
	for from := 0; from <= len(f.text); {
		i := strings.Index(f.text[from:], keyword)
		if i < 0 || keyword == "" {
			return -1
		}
		start := from + i
		before, _ := utf8.DecodeLastRuneInString(f.text[:start])
		after, _ := utf8.DecodeRuneInString(f.text[start+len(keyword):])
		if !sameWord(before, first) && !sameWord(last, after) {
			return start
		}
		from = start + utf8.RuneLen(first)
	}
	return -1
}

// sameWord reports whether two adjacent characters belong to one word.
func sameWord(a, b rune) bool {
	return isWordPart(a) && isWordPart(b) && !isUnspaced(a) && !isUnspaced(b)
}

func isWordPart(r rune) bool { return r == '_' || isWordRune(r) }
