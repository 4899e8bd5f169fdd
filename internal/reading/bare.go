package reading

import (
	"slices"
	"strings"
	"unicode"
)

// schemes begin an address without marks, as GitHub's Markdown has it.
var schemes = []string{"https://", "http://", "ftp://", "www.", "mailto:"}

// bare finds the addresses without marks in the text of a block, outside code and links.
func (d *Document) bare(i int) {
	b := &d.Blocks[i]
	if b.Kind == CodeBlock {
		return
	}
	var taken []Span
	for _, in := range b.Inlines {
		if in.Kind == CodeSpan || in.Kind == LinkText || in.Kind == Autolink {
			taken = append(taken, in.Text)
		}
	}
	slices.SortFunc(taken, func(a, b Span) int { return a.Start - b.Start })
	for at := 0; at < len(b.Text); {
		start, size := nextScheme(b.Text[at:])
		if start < 0 {
			return
		}
		start += at
		end := start + size + addressEnd(b.Text[start+size:])
		at = end
		for len(taken) > 0 && taken[0].End <= start {
			taken = taken[1:]
		}
		if end == start+size || len(taken) > 0 && taken[0].Start <= start {
			continue
		}
		s := Span{start, end}
		inSource := Span{b.Offset(start), b.Offset(end-1) + 1}
		b.Inlines = append(b.Inlines, Inline{Autolink, s, inSource, s.In(b.Text)})
		d.Links = append(d.Links, Link{Span: inSource, Text: s.In(b.Text), Target: s.In(b.Text), Bare: true})
	}
}

// nextScheme returns where the next address begins, and the length of its scheme.
func nextScheme(text string) (start, size int) {
	for at := 0; ; {
		next := strings.IndexAny(text[at:], ":w")
		if next < 0 {
			return -1, 0
		}
		at += next
		for _, scheme := range schemes {
			from := at - max(0, strings.IndexByte(scheme, ':'))
			if from >= 0 && len(text)-from >= len(scheme) && strings.EqualFold(text[from:from+len(scheme)], scheme) &&
				(from == 0 || !isWord(text[from-1])) {
				return from, len(scheme)
			}
		}
		at++
	}
}

func isWord(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c == '_' }

// addressEnd returns the length of the address that a text begins with. Marks at its end
// belong to the sentence.
func addressEnd(text string) int {
	end := strings.IndexFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("<>\"`", r) || r > unicode.MaxASCII && (unicode.IsPunct(r) || unicode.IsSymbol(r))
	})
	if end < 0 {
		end = len(text)
	}
	open := strings.Count(text[:end], "(") - strings.Count(text[:end], ")") // negative: too many are closed
	for end > 0 && strings.IndexByte(".,;:!?'*_)]}|", text[end-1]) >= 0 {
		if text[end-1] == ')' {
			if open >= 0 {
				break
			}
			open++
		}
		end--
	}
	return end
}
