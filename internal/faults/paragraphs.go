package faults

import (
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/reading"
)

// A paragraph is a paragraph or a list item of a text, with its sentences.
type paragraph struct {
	reading.Span
	Sentences []reading.Span
	item      bool
}

// paragraphsOf returns the paragraphs of a document, including those in
// quotations and footnotes.
func paragraphsOf(d *reading.Document) []paragraph {
	if d == nil || d.Whole() != nil {
		return nil
	}
	var list []paragraph
	for _, b := range d.Blocks {
		switch b.Kind {
		case reading.ParagraphBlock, reading.ItemBlock, reading.QuoteBlock, reading.FootnoteBlock:
			list = append(list, paragraph{b.Span, d.Sentences(b.Span), b.Kind == reading.ItemBlock})
		}
	}
	return list
}

// terminal reports whether a text ends as a sentence does.
func terminal(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".!?…。！？।؟", last)
}
