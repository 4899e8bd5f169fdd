package capy

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/reports"
)

// A document is the output or a sidecar, in parts.
type document struct {
	*reading.Document
	name  string // in locations; "" for the output
	file  string // the file name, if it is known
	parts []part
}

// A kind is a kind of part.
type kind int

// The kinds of parts. A title is a heading, or a line that stands for one: in tags, or all
// of it bold. A member is a value of JSON.
const (
	aText kind = iota // a paragraph, a quotation, a footnote
	aTitle
	aRow
	anItem
	aCode
	aMarkup
	aMember
)

// A part is a title with its section, a block, a row, or a value of JSON. The parts
// inside it follow it.
type part struct {
	place
	kind        kind
	label, text string // of a title, a row or a member; of a block or a scalar
	json        byte   // of a member: the kind of its value
	pointer     jsontext.Pointer
	level       int // of a title; see reading.Block
	parent, end int
	block       *reading.Block
	header      []reading.Cell // of the table of a row
	cells       []reading.Cell
	words       []token // of the label
	scenario    int     // 1 to 4 of S1 to S4, 0 without one
	aside       bool    // about other cases: sensitivities, ranges
	named       bool    // the text has a label that is a name
}

// A place is an offset in a document.
type place struct {
	doc    *document
	offset int
}

func (p place) line() int { return p.doc.Line(p.offset) }

// location returns the line and the nearest heading.
func (p place) location() string {
	at := fmt.Sprintf("line %d", p.line())
	if p.doc.name != "" {
		return at + " of " + p.doc.name
	}
	if h := p.doc.HeadingAt(p.offset); h != nil && h.Title != "" {
		return fmt.Sprintf("%s, under %q", at, reports.Fit(h.Title, 80))
	}
	return at
}

// The levels of titles that are no headings.
const (
	tagLevel  = 7
	boldLevel = 8
)

// read reads a document. The error says why it is not read.
func (v *vocabulary) read(ctx context.Context, text string) (*document, error) {
	read, err := reading.Of(ctx, shown(text))
	if err != nil {
		return nil, err
	}
	d := &document{Document: read}
	b := builder{vocabulary: v, document: d, keys: map[string][]token{}, rows: map[int][2][]reading.Cell{}}
	b.build()
	return d, nil
}

var (
	wrapped  = patterns.Lazy("^\\s*(```+|~~~+)(?:markdown|md)[ \\t]*\r?\n")
	tagTitle = patterns.Lazy(`(?is)^\s*(?:<details[^>]*>\s*)?<(?:h[1-6]|summary)[^>]*>(.*?)</(?:h[1-6]|summary)>`)
	tag      = patterns.Lazy(`<[^>]*>`)
)

// shown returns the text without a fence around all of it. A comment that never ends is
// no comment. Offsets stay.
func shown(text string) string {
	if m := wrapped().FindStringSubmatch(text); m != nil {
		if inner, ok := strings.CutSuffix(strings.TrimRight(text, " \t\r\n"), "\n"+m[1]); ok && len(inner) > len(m[0]) {
			text = strings.Repeat(" ", len(m[0])-1) + "\n" + inner[len(m[0]):]
		}
	}
	if at := strings.LastIndex(text, "<!--"); at >= 0 && !strings.Contains(text[at:], "-->") {
		text = text[:at] + "    " + text[at+4:]
	}
	return text
}

// A builder makes the parts of a document.
type builder struct {
	*vocabulary
	*document
	open []int // titles
	keys map[string][]token
	rows map[int][2][]reading.Cell // by block: the header and the cells
}

func (b *builder) build() {
	headings, json := map[int]*reading.Heading{}, map[int]*reading.JSON{}
	for i := range b.Headings {
		headings[b.Headings[i].Block] = &b.Headings[i]
	}
	for i := range b.JSON {
		if j := &b.JSON[i]; j.Whole && j.Err != nil {
			b.members(j)
		} else {
			json[j.Block] = j
		}
	}
	for i := range b.Tables {
		t := &b.Tables[i]
		b.rows[t.Block] = [2][]reading.Cell{t.Header, t.Header}
		for n, row := range t.Rows {
			b.rows[t.Block+1+n] = [2][]reading.Cell{t.Header, row}
		}
	}
	for i := range b.Blocks {
		block := &b.Blocks[i]
		switch m := []int(nil); {
		case headings[i] != nil:
			b.title(block, block.Level, headings[i].Title)
			continue
		case block.Kind == reading.HTMLBlock:
			if m = tagTitle().FindStringSubmatchIndex(block.In(b.Source)); m != nil {
				source := block.In(b.Source)
				b.title(block, tagLevel, strings.TrimSpace(tag().ReplaceAllString(source[m[2]:m[3]], "")))
				b.add(part{kind: aMarkup, text: tag().ReplaceAllString(source[m[1]:], "\n"), block: block})
				continue
			}
		case block.Kind == reading.ParagraphBlock && allBold(block):
			b.title(block, boldLevel, block.Text)
			continue
		}
		b.block(block, i, json[i])
	}
	b.close(0)
}

func (b *builder) block(block *reading.Block, i int, j *reading.JSON) {
	p := part{text: block.Text, level: block.Level, block: block, place: place{offset: block.Start}}
	switch block.Kind {
	case reading.RowBlock:
		p.kind, p.header, p.cells = aRow, b.rows[i][0], b.rows[i][1]
		if len(p.cells) > 0 {
			p.label = p.cells[0].Text
		}
	case reading.ItemBlock:
		p.kind = anItem
	case reading.CodeBlock:
		p.kind = aCode
	case reading.HTMLBlock:
		b.close(boldLevel)
		p.kind, p.text = aMarkup, tag().ReplaceAllString(block.In(b.Source), "\n")
	default:
		b.close(boldLevel)
	}
	at := b.add(p)
	if j != nil {
		b.members(j)
	}
	b.parts[at].end = len(b.parts)
}

// title adds a title. It ends those of its level and below.
func (b *builder) title(block *reading.Block, level int, words string) {
	b.close(min(level, tagLevel))
	at := b.add(part{kind: aTitle, label: words, level: level, block: block, place: place{offset: block.Start}})
	b.open = append(b.open, at)
}

// close ends the titles of a level and below.
func (b *builder) close(level int) {
	for n := len(b.open) - 1; n >= 0 && b.parts[b.open[n]].level >= level; n-- {
		b.parts[b.open[n]].end = len(b.parts)
		b.open = b.open[:n]
	}
}

// add appends a part to the last title that is open.
func (b *builder) add(p part) int {
	p.parent, p.end = -1, len(b.parts)+1
	if n := len(b.open); n > 0 {
		p.parent = b.open[n-1]
	}
	return b.inside(p)
}

// inside appends a part. Its scenario comes from its label, or from the part around it.
// It is aside if its label or the part around it is.
func (b *builder) inside(p part) int {
	p.doc = b.document
	if p.block != nil {
		p.offset = p.block.Start
	}
	p.words = b.key(p.label)
	p.scenario, p.aside = scenarioOf(p.words), b.vocabulary.words.has(p.words, "aside")
	if p.kind == aRow {
		p.aside = false
	}
	if p.parent >= 0 {
		if around := &b.parts[p.parent]; p.kind != aMember || around.kind == aMember {
			p.aside = p.aside || around.aside && p.kind != aTitle
			p.scenario = cmp.Or(p.scenario, around.scenario)
		}
	}
	b.parts = append(b.parts, p)
	return len(b.parts) - 1
}

// key returns the words of a label.
func (b *builder) key(label string) []token {
	words, ok := b.keys[label]
	if !ok {
		words = tokens(fold(label))
		b.keys[label] = words
	}
	return words
}

// members adds the values of a JSON text. An object is of the scenario that its id names.
func (b *builder) members(j *reading.JSON) {
	base := len(b.parts)
	for _, n := range jsonvalue.Nodes(j.Text) {
		p := part{kind: aMember, json: n.Kind, pointer: n.Pointer, label: n.Key, text: n.Text, parent: n.Parent + base, place: place{offset: j.Start}}
		if n.Parent < 0 {
			p.parent = base - 1
		}
		if len(j.Text) == j.End-j.Start {
			p.offset += n.Offset
		}
		b.parts[b.inside(p)].end = n.End + base
		if id := scenarioOf(tokens(p.text)); n.Kind == '"' && id > 0 && isID(n.Key) && n.Parent >= 0 {
			b.parts[p.parent].scenario = id
		}
	}
	for i := base + 1; i < len(b.parts); i++ {
		b.parts[i].scenario = cmp.Or(b.parts[i].scenario, b.parts[b.parts[i].parent].scenario)
	}
}

func isID(key string) bool {
	key = strings.ToLower(key)
	return key == "id" || key == "rq" || key == "finding" || key == "scenario" || key == "name" || strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "_number")
}

func allBold(b *reading.Block) bool {
	for _, i := range b.Inlines {
		if i.Kind == reading.Strong && i.Text.Start == 0 && i.Text.End == len(b.Text) {
			return len(b.Text) > 0
		}
	}
	return false
}

// member reports whether a part is a value of JSON with a key.
func (p *part) member() bool { return p.kind == aMember && p.label != "" }

// comment reports whether a part is an HTML comment.
func (p *part) comment() bool {
	return p.kind == aMarkup && strings.HasPrefix(strings.TrimSpace(p.block.In(p.doc.Source)), "<!--")
}

// The maximum number of parts and of bytes that are searched for a word.
const (
	maxParts = 200
	maxUnit  = 16 << 10
)

// wordsOf returns the labels and texts of a part and the parts inside it.
func (d *document) wordsOf(from int) string {
	var b strings.Builder
	for i := from; i < min(d.parts[from].end, from+maxParts) && b.Len() < maxUnit; i++ {
		fmt.Fprintf(&b, "%s %s | ", d.parts[i].label, clipped(d.parts[i].text))
	}
	return b.String()
}

func clipped(text string) string { return text[:min(len(text), maxUnit)] }
