package reading

import (
	"html"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// Shown are the blocks of a text as a reader sees them: HTML is the words that a
// browser shows of it, without what is code.
func (t Text) Shown() []Block {
	blocks := slices.Clone(t.Blocks)
	for i, b := range blocks {
		if raw, ok := b.markup(); ok {
			raw = within().ReplaceAllLiteralString(code().ReplaceAllLiteralString(raw, " "), "")
			blocks[i].Words = oneLine(html.UnescapeString(tag().ReplaceAllLiteralString(raw, " ")))
		}
	}
	return blocks
}

// markup is what a block of HTML has in it, but for comments.
func (b Block) markup() (raw string, ok bool) {
	if b.Form != HTML || !strings.HasPrefix(b.Things[0].Text, "<") {
		return "", false // a link definition is no HTML
	}
	return comment().ReplaceAllLiteralString(b.Things[0].Text, " "), true
}

// parts are the cells of a row, and of another block the block.
func (b Block) parts() []Block {
	if b.Form == Row {
		return b.cells
	}
	return []Block{b}
}

var (
	comment = patterns.Lazy(`(?s)<!--.*?-->`)
	code    = patterns.Lazy(`(?is)<(?:script|style|pre|code)\b[^>]*>.*?</(?:script|style|pre|code)\s*>`)
	within  = patterns.Lazy(`(?i)</?(?:a|abbr|b|cite|em|font|i|mark|q|s|small|span|strong|u)(?:\s[^>]*)?>`) // of a line
	tag     = patterns.Lazy(`(?s)</?[a-zA-Z][^>]*>|<[!?][^>]*>`)
)
