package capy

import (
	"bytes"
	"context"
	"fmt"
	"github.com/seed61713e19/capstan/validators/patterns"
	"sort"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed61713e19/capstan/internal/reading"
)

// A document is the output or a sidecar, read.
type document struct {
	*reading.Document
	name   string // in locations; "" for the output
	file   string // the file name, if it is known
	titles []title
	nodes  []node
	aside  []bool // by node: it is inside a key of the kind "aside"
}

// A place is an offset in a document.
type place struct {
	doc    *document
	offset int
}

func (p place) line() int {
	line, _ := p.doc.Position(p.offset)
	return line
}

// location returns the line and the nearest heading.
func (p place) location() string {
	at := fmt.Sprintf("line %d", p.line())
	if p.doc.name != "" {
		return at + " of " + p.doc.name
	}
	if h := p.doc.HeadingAt(p.offset); h != nil && h.Title != "" {
		return fmt.Sprintf("%s, under %q", at, clip(h.Title, 80))
	}
	return at
}

// A title is a heading, or a line that stands for one: in tags, or all of it bold.
type title struct {
	text  string
	start int
	body  reading.Span
}

// read reads a document. The error says why it is not read.
func read(ctx context.Context, text string) (*document, error) {
	shown, err := reading.Of(ctx, shown(text))
	if err != nil {
		return nil, err
	}
	d := &document{Document: shown}
	d.titles = d.outline()
	for i := range d.JSON {
		j := &d.JSON[i]
		offset := func(at int) int { return j.Start + at }
		if len(j.Text) != j.End-j.Start {
			offset = func(int) int { return j.Start }
		}
		d.nodes = appendNodes(d.nodes, j.Text, offset)
	}
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

// outline returns the headings and what stands for one, in order.
func (d *document) outline() []title {
	var list []title
	next := 0
	for i := range d.Blocks {
		b := &d.Blocks[i]
		switch {
		case b.Kind == reading.HeadingBlock:
			if next < len(d.Headings) && d.Headings[next].Start == b.Start {
				h := &d.Headings[next]
				list = append(list, title{h.Title, h.Start, reading.Span{Start: b.End, End: h.Section.End}})
				next++
			}
		case b.Kind == reading.HTMLBlock:
			if m := tagTitle().FindStringSubmatchIndex(b.In(d.Source)); m != nil {
				words := tag().ReplaceAllString(b.In(d.Source)[m[2]:m[3]], "")
				section := reading.Span{Start: b.Start + m[1], End: d.nextHeading(b.End)}
				list = append(list, title{strings.TrimSpace(words), b.Start, section})
			}
		case b.Kind == reading.ParagraphBlock && allBold(b):
			list = append(list, title{b.Text, b.Start, reading.Span{Start: b.End, End: d.nextProse(i + 1)}})
		}
	}
	for i := range list[:max(0, len(list)-1)] {
		if b := &list[i].body; d.HeadingAt(list[i].start) == nil || d.HeadingAt(list[i].start).Start != list[i].start {
			b.End = min(b.End, list[i+1].start)
		}
	}
	return list
}

func (d *document) nextHeading(offset int) int {
	if i := sort.Search(len(d.Headings), func(i int) bool { return d.Headings[i].Start >= offset }); i < len(d.Headings) {
		return d.Headings[i].Start
	}
	return len(d.Source)
}

// nextProse returns the start of the first block from an index on that is no code, table
// or list.
func (d *document) nextProse(i int) int {
	for ; i < len(d.Blocks); i++ {
		if k := d.Blocks[i].Kind; k != reading.CodeBlock && k != reading.RowBlock && k != reading.ItemBlock {
			return d.Blocks[i].Start
		}
	}
	return len(d.Source)
}

func allBold(b *reading.Block) bool {
	for _, i := range b.Inlines {
		if i.Kind == reading.Strong && i.Text.Start == 0 && i.Text.End == len(b.Text) {
			return len(b.Text) > 0
		}
	}
	return false
}

// A node is a value of JSON, with its key if it is a member of an object.
type node struct {
	key    string
	kind   byte   // {, [, ", 0, t, f or n
	text   string // of a string or a number
	parent int    // -1 for a whole document
	end    int    // the index after its last descendant
	offset int
}

// appendNodes appends the values of a JSON text in order, up to its first error.
func appendNodes(list []node, text string, offset func(int) int) []node {
	dec := jsontext.NewDecoder(bytes.NewBufferString(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	parent, key, keyAt := -1, "", -1
	for {
		t, err := dec.ReadToken()
		if err != nil {
			for ; parent >= 0; parent = list[parent].parent {
				list[parent].end = len(list)
			}
			return list
		}
		kind, end := byte(t.Kind()), int(dec.InputOffset())
		if kind == '}' || kind == ']' {
			list[parent].end = len(list)
			parent = list[parent].parent
			continue
		}
		if kind == '"' && parent >= 0 && list[parent].kind == '{' && keyAt < 0 {
			key, keyAt = t.String(), end-1
			continue
		}
		n := node{key: key, kind: kind, parent: parent, end: len(list) + 1, offset: offset(max(keyAt, end-1))}
		if keyAt >= 0 {
			n.offset = offset(keyAt)
		}
		if kind == '"' || kind == '0' {
			n.text = t.String()
		}
		list = append(list, n)
		if kind == '{' || kind == '[' {
			parent = len(list) - 1
		}
		key, keyAt = "", -1
	}
}

// leaves returns how many of the strings and numbers of a value are not fillers, at most
// a number.
func (d *document) leaves(v *vocabulary, from, most int) int {
	count := 0
	for i := from; i < d.nodes[from].end && count < most; i++ {
		if n := &d.nodes[i]; n.kind == '0' || n.kind == '"' && n.text != "" && !v.filler(n.text) {
			count++
		}
	}
	return count
}

// clip returns a text on one line and of at most n bytes.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(text[:min(len(text), 4*n)]), " ")
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
