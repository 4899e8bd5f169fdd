// Package reading reads a Markdown text for what an edit or a translation must
// not lose: numbers, links, code, quotations, what must and may be, footnotes,
// tables, headings and their like. It says nothing about whether a change is
// right.
//
// [Read] makes a [Text]: blocks in their order (a paragraph, a heading, an item
// of a list, a row of a table), each with the [Thing]s that stand in it, written
// in one way however they were spelt: "two seconds", "2 s" and "2 seconds" are
// one thing, and so are “this” and "this". Each kind of thing is found by a
// function of its own over the words of a block. [Compare] holds two texts
// against each other. Blocks that both have are kept and looked at no further;
// of the others the things are compared, in their order, and the words, where a
// few turn a sentence. So a paragraph that is broken into other lines, or a
// sentence in other words, is no change, and a single figure is one.
//
// What a reader cannot see is no part of a block: [Unseen] finds it.
//
// Begin with kinds.go, which lists the finders, then compare.go.
package reading

import "strings"

// A Kind is a kind of thing, by the name that a report uses.
type Kind string

// The kinds.
const (
	Headings     Kind = "headings"
	Lists        Kind = "lists"
	Tables       Kind = "tables"
	Code         Kind = "code"
	Links        Kind = "links"
	Images       Kind = "images"
	Footnotes    Kind = "footnotes"
	Citations    Kind = "citations"
	Quotations   Kind = "quotations"
	Dates        Kind = "dates"
	Numbers      Kind = "numbers"
	Modals       Kind = "modal_verbs"
	Placeholders Kind = "placeholders"
	Markup       Kind = "markup"   // HTML, comments, struck out words, hard line breaks
	Names        Kind = "names"    // proper names and identifiers
	Turns        Kind = "turns"    // words that turn a sentence: not, only, at least; before for after
	Passages     Kind = "passages" // blocks as a whole
	Order        Kind = "order"    // of blocks
	Invisible    Kind = "invisible"
)

// A Thing is one thing of a text.
type Thing struct {
	Kind Kind
	Text string // as it is compared
	Line int    // from 1

	label string // of a link: the words that one follows
}

// A Form is what a block is.
type Form string

// The forms of blocks.
const (
	Paragraph Form = "paragraph"
	Heading   Form = "heading"
	Item      Form = "item"
	Quote     Form = "quote"
	Note      Form = "footnote"
	Row       Form = "row"
	Fence     Form = "code"
	HTML      Form = "html"
)

// A Block is one block of a text. Its words are in one line; what stands for
// code, a link's target or an address is in its things, not in its words.
type Block struct {
	Form   Form
	Level  int // of a heading, or how deep an item is
	Words  string
	Line   int
	Things []Thing // of its markup; All has those of the words too
	label  string  // of a list or table: what kind of one it is

	cells   []Block // of a row
	leftOut []Thing // what the stand-ins in Words stand for
}

// A Text is a text that was read.
type Text struct {
	Blocks []Block
}

// Said is what the text says, block by block, with the code, the addresses and the
// pictures' descriptions that its Words leave out.
func (t Text) Said() string {
	var b strings.Builder
	for _, block := range t.Shown() {
		b.WriteString(block.filled(block.Words, 0))
		b.WriteString("\n\n")
	}
	return b.String()
}

// key is the same for blocks that say the same.
func (b Block) key() string {
	var k strings.Builder
	if b.Form == Row {
		return string(b.Form) + b.label + "\x00" + b.row()
	}
	k.WriteString(string(b.Form) + b.label + strings.Repeat("#", b.Level) + "\x00" + b.Words)
	for _, t := range b.Things {
		k.WriteString("\x00" + string(t.Kind) + "\x01" + t.Text)
	}
	return k.String()
}

// add notes a thing of the block, once its text is in one line.
func (b *Block) add(kind Kind, text string) {
	b.Things = append(b.Things, Thing{Kind: kind, Text: oneLine(text), Line: b.Line})
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
