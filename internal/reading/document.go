// Package reading reads a text as Markdown, with positions: front matter, headings and
// their sections, tables, list items, fenced blocks, JSON, links and footnotes. It never
// interprets a sentence.
//
// [Read] returns a [Document]. [Of] returns the same document to all checks of one
// attempt. [Numbers] reads the numbers of a string, [ValueOf] the number that stands
// behind a label.
//
// Reading takes linear time, or Read returns an error: texts of more than 1 MiB that are
// not JSON, and texts with too many nested or crossing marks, are not read.
//
// Begin with Read, which lists the steps.
package reading

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// A Span is a part of a text: byte offsets, half-open.
type Span struct{ Start, End int }

// In returns the text of a span.
func (s Span) In(source string) string { return source[s.Start:s.End] }

// Contains reports whether an offset is in the span.
func (s Span) Contains(offset int) bool { return s.Start <= offset && offset < s.End }

// A Document is a text that was read. It must not be changed.
type Document struct {
	Source    string
	Front     *FrontMatter // nil if there is none
	Blocks    []Block      // in source order; no block contains another
	Headings  []Heading    // outside quotations and lists
	Tables    []Table
	JSON      []JSON
	Links     []Link
	Footnotes []Footnote

	lines []int // the offsets at which lines begin
}

// FrontMatter is YAML between two lines of "---" at the beginning of a text.
type FrontMatter struct {
	Span      // with both lines
	YAML Span // between them
}

// A Kind is a kind of block.
type Kind int

// The kinds of blocks. A paragraph is of the kind of its nearest container. Only the
// first paragraph of a list item is an ItemBlock.
const (
	ParagraphBlock Kind = iota
	HeadingBlock
	ItemBlock
	RowBlock
	CodeBlock
	QuoteBlock
	HTMLBlock
	RuleBlock
	FootnoteBlock
)

// A Block is a part of a text that contains no other block.
type Block struct {
	Span                 // without the marks of containers, with those of the block
	Kind     Kind        // ParagraphBlock, ItemBlock, …
	Level    int         // of a heading, from 1; the depth of an item, from 1; the number of a row, 0 for the header
	Ordered  bool        // the item is in a numbered list
	Quoted   bool        // the block is in a block quote, at any depth
	Text     string      // as a reader sees it, without marks; lines end with "\n"
	Language string      // the first word after the opening fence
	Fenced   bool        // a fence opens the block; other blocks of code are indented
	Closed   bool        // a fence closes the block; true for other blocks
	Inlines  []Inline    // in the order of their ends
	offsets  []alignment // of Text and the source
}

// An InlineKind is a kind of inline element.
type InlineKind int

// The kinds of inline elements.
const (
	CodeSpan InlineKind = iota
	Emphasis
	Strong
	Strikethrough
	LinkText
	Image    // its description is not part of the text
	Autolink // an address that is its own text
	RawHTML  // is not part of the text
)

// An Inline is an element in the text of a block.
type Inline struct {
	Kind InlineKind
	Text Span   // in the text of the block
	Span        // in the source
	Raw  string // the code, the description of an image, or the HTML
}

// A Heading is a heading and its section.
type Heading struct {
	Span           // of its line or lines
	Level   int    // from 1
	Title   string // without marks
	Section Span   // from the heading to the next one of the same or a higher level
	Block   int    // its index in Blocks
}

// A Table is a table. The number of cells in a row may differ from the header.
type Table struct {
	Span
	Header []Cell
	Rows   [][]Cell
	Block  int // the index of the header in Blocks; the rows follow
}

// A Cell is one cell of a table.
type Cell struct {
	Span
	Text string // without marks
}

// A Link is a link or an image.
type Link struct {
	Span
	Text   string // the words of the link, or the description of the image
	Target string
	Title  string
	Image  bool
	HTML   bool // an attribute href or src
	Bare   bool // an address without marks
	Block  int  // its index in Blocks
	words  Span // in the text of the block, until that is finished
}

// A Footnote is the definition of a footnote.
type Footnote struct {
	Span
	Label string
	Text  string
}

// Position returns the line and the column of an offset, both from 1. The column counts
// characters.
func (d *Document) Position(offset int) (line, column int) {
	offset = max(0, min(offset, len(d.Source)))
	line = sort.SearchInts(d.lines, offset+1)
	return line, utf8.RuneCountInString(d.Source[d.lines[line-1]:offset]) + 1
}

// Line returns the line of an offset, from 1.
func (d *Document) Line(offset int) int {
	return max(1, sort.SearchInts(d.lines, min(offset, len(d.Source))+1))
}

// HeadingAt returns the nearest heading at or above an offset, nil if there is none.
func (d *Document) HeadingAt(offset int) *Heading {
	n := sort.Search(len(d.Headings), func(i int) bool { return d.Headings[i].Start > offset })
	if n == 0 {
		return nil
	}
	return &d.Headings[n-1]
}

// Whole returns the JSON that the text as a whole is, nil if it is not JSON.
func (d *Document) Whole() *JSON {
	if len(d.JSON) > 0 && d.JSON[0].Whole && d.JSON[0].Err == nil {
		return &d.JSON[0]
	}
	return nil
}

// Text returns the text of all blocks as a reader sees it, with blank lines between.
func (d *Document) Text() string {
	texts := make([]string, len(d.Blocks))
	for i := range d.Blocks {
		texts[i] = d.Blocks[i].Text
	}
	return strings.Join(texts, "\n\n")
}

// Offset returns the offset in the source of a byte of the block's text.
func (b *Block) Offset(at int) int { return offsetOf(b.offsets, at, b.Start) }

// An alignment is where a run of bytes of a text is in the source.
type alignment struct{ text, source int }

func offsetOf(list []alignment, at, otherwise int) int {
	n := sort.Search(len(list), func(i int) bool { return list[i].text > at })
	if n == 0 {
		return otherwise
	}
	return list[n-1].source + at - list[n-1].text
}
