package reading

import (
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	xast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Read reads a text as CommonMark with tables, footnotes and front matter. A text that is
// one JSON object or array is a single block. The same text always gives the same
// document.
//
// The error says why a text is not read: it is too long, or its marks nest too deeply.
func Read(source string) (*Document, error) {
	d := &Document{Source: source}
	whole := d.whole()
	if !whole {
		if err := tooCostly(source); err != nil {
			return nil, err
		}
	}
	if d.lines = lineStarts(source); whole {
		return d, nil
	}
	text := []byte(source)
	d.frontMatter(text)
	r := &reader{Document: d, source: text}
	if err := ast.Walk(parsed(text), r.visit); err != nil {
		return nil, err
	}
	slices.SortStableFunc(d.Blocks, func(a, b Block) int { return a.Start - b.Start })
	for i := range d.Blocks {
		d.bare(i)
	}
	d.outline()
	d.fences()
	return d, nil
}

func parsed(source []byte) ast.Node { return markdown().Parse(text.NewReader(source)) }

// markdown parses with the tables, footnotes and inline elements of this package.
var markdown = sync.OnceValue(func() parser.Parser {
	return markdownWith(footnotes{}, tableTransformer{}, inlineParsers())
})

func markdownWith(notes parser.BlockParser, tables parser.ParagraphTransformer, inlines parser.Option) parser.Parser {
	blocks := parser.DefaultBlockParsers()
	for i, b := range blocks {
		if b.Value == parser.NewFencedCodeBlockParser() {
			blocks[i] = util.Prioritized(fences{parser.NewFencedCodeBlockParser()}, b.Priority)
		}
	}
	return parser.NewParser(inlines,
		parser.WithBlockParsers(append(blocks, util.Prioritized(notes, 999))...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(tables, 200))...))
}

// Fences notes where the line ends that closes a block of code.
type fences struct{ parser.BlockParser }

const closedAt = "closed-at"

// Continue implements [parser.BlockParser].
func (f fences) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	_, line := reader.PeekLine()
	state := f.BlockParser.Continue(node, reader, pc)
	if state == parser.Close {
		node.SetAttributeString(closedAt, line.Stop)
	}
	return state
}

func lineStarts(source string) []int {
	starts := make([]int, 1, strings.Count(source, "\n")+1)
	for i := range len(source) {
		if source[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// frontMatter finds front matter and blanks it in text, so that offsets stay. Two lines
// of "---" with no key between are rules.
func (d *Document) frontMatter(text []byte) {
	source := strings.TrimPrefix(d.Source, "\uFEFF")
	start := len(d.Source) - len(source)
	at, keyed := start, false
	for line := range strings.Lines(source) {
		end := at + len(line)
		switch mark := strings.TrimRight(line, " \t\r\n"); {
		case at == start && mark != "---":
			return
		case at > start && (mark == "---" || mark == "..."):
			if !keyed {
				return
			}
			d.Front = &FrontMatter{Span: Span{start, end}, YAML: Span{d.lines[1], at}}
			blank(text[:end])
			return
		case line[0] != '#':
			key, _, found := strings.Cut(mark, ":")
			keyed = keyed || found && key != "" && !strings.ContainsAny(key, " \t")
			if !keyed && at > start && mark != "" {
				return
			}
		}
		at = end
	}
}

func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}

// A reader makes blocks of the nodes of a parsed text.
type reader struct {
	*Document
	source []byte
}

func (r *reader) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering || n.Type() == ast.TypeInline {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n)
	case *ast.FencedCodeBlock:
		r.fence(n)
	case *ast.CodeBlock:
		r.code(n, Block{Kind: CodeBlock, Closed: true})
	case *ast.HTMLBlock:
		r.html(n)
	case *ast.ThematicBreak:
		r.add(n, Block{Kind: RuleBlock, Span: r.lineOf(n.Pos()), Closed: true})
	case *xast.Table:
		r.table(n)
		return ast.WalkSkipChildren, nil
	case *ast.Paragraph, *ast.TextBlock:
		r.paragraph(n)
	}
	return ast.WalkContinue, nil
}

// lineOf is the rest of the line from an offset on, without its end.
func (r *reader) lineOf(at int) Span {
	at = max(0, min(at, len(r.source)))
	end := strings.IndexByte(r.Source[at:], '\n')
	if end < 0 {
		end = len(r.Source) - at
	}
	return r.trimmed(Span{at, at + end})
}

func (r *reader) trimmed(s Span) Span {
	s.Start, s.End = min(s.Start, len(r.Source)), min(s.End, len(r.Source))
	s.End = max(s.Start, s.Start+len(strings.TrimRight(s.In(r.Source), " \t\r\n")))
	return s
}

// spanOf is the part of the source from the first line of a node to its last one.
func (r *reader) spanOf(n ast.Node) Span {
	lines := n.Lines()
	if lines == nil || lines.Len() == 0 {
		return r.lineOf(n.Pos())
	}
	return r.trimmed(Span{lines.At(0).Start, lines.At(lines.Len() - 1).Stop})
}

// add appends a block with the properties of its containers.
func (r *reader) add(n ast.Node, b Block) *Block {
	for p := n.Parent(); p != nil && !b.Quoted; p = p.Parent() {
		_, b.Quoted = p.(*ast.Blockquote)
	}
	r.Blocks = append(r.Blocks, b)
	return &r.Blocks[len(r.Blocks)-1]
}

// filled sets the text of a block to that of a writer.
func (r *reader) filled(b *Block, w *writer) {
	w.finish()
	b.Text, b.Inlines, b.offsets = string(w.text), w.inlines, w.offsets
	r.Links = append(r.Links, w.links...)
}

func (r *reader) heading(n *ast.Heading) {
	span := r.lineOf(n.Pos())
	if setext := !strings.HasPrefix(r.Source[span.Start:], "#"); setext {
		span = r.spanOf(n)
		if end := strings.IndexByte(r.Source[span.End:], '\n'); end >= 0 {
			span.End = r.lineOf(span.End + end + 1).End // the line of marks
		}
	}
	b := r.add(n, Block{Kind: HeadingBlock, Level: n.Level, Span: span, Closed: true})
	w := r.writer()
	w.children(n)
	r.filled(b, w)
	if _, top := n.Parent().(*ast.Document); top {
		r.Headings = append(r.Headings, Heading{Span: span, Level: n.Level, Title: strings.TrimSpace(b.Text)})
	}
}

// paragraph adds a paragraph with the kind of its container.
func (r *reader) paragraph(n ast.Node) {
	b := Block{Span: r.spanOf(n), Closed: true}
	first := n.PreviousSibling() == nil
	var label string
containers:
	for p := n.Parent(); p != nil; p = p.Parent() {
		switch p := p.(type) {
		case *ast.ListItem:
			if first {
				b.Kind = ItemBlock
				break containers
			}
		case *ast.Blockquote:
			b.Kind = QuoteBlock
			break containers
		case *xast.Footnote:
			b.Kind, label = FootnoteBlock, string(p.Ref)
			break containers
		}
		first = false
	}
	if b.Kind == ItemBlock {
		for p := n.Parent(); p != nil; p = p.Parent() {
			if list, ok := p.(*ast.List); ok {
				b.Ordered = b.Ordered || b.Level == 0 && list.IsOrdered()
				b.Level++
			}
		}
	}
	added := r.add(n, b)
	w := r.writer()
	w.children(n)
	r.filled(added, w)
	if b.Kind == FootnoteBlock {
		r.Footnotes = append(r.Footnotes, Footnote{Span: added.Span, Label: label, Text: added.Text})
	}
}

func (r *reader) fence(n *ast.FencedCodeBlock) {
	span := r.lineOf(n.Pos())
	if lines := n.Lines(); lines.Len() > 0 {
		span.End = lines.At(lines.Len() - 1).Stop
	}
	end, closed := n.AttributeString(closedAt)
	if closed {
		span.End, _ = end.(int)
	}
	r.code(n, Block{Kind: CodeBlock, Span: r.trimmed(span), Language: string(n.Language(r.source)), Fenced: true, Closed: closed})
}

func (r *reader) code(n ast.Node, b Block) {
	if !b.Fenced {
		b.Span = r.spanOf(n)
	}
	w := r.writer()
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		w.put(line.Value(r.source), line.Start-line.Padding)
	}
	b.Text, b.offsets = string(w.text), w.offsets
	r.add(n, b)
}

func (r *reader) html(n *ast.HTMLBlock) {
	span := r.spanOf(n)
	if n.HasClosure() {
		span = r.trimmed(Span{span.Start, n.ClosureLine.Stop})
	}
	b := r.add(n, Block{Kind: HTMLBlock, Span: span, Closed: true})
	w := r.writer()
	w.html(span)
	r.filled(b, w)
}

// table adds the rows of a table, the header first.
func (r *reader) table(n *xast.Table) {
	t := Table{Block: len(r.Blocks)}
	level := 0
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		w := r.writer()
		var cells []Cell
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			if c.PreviousSibling() != nil {
				w.put([]byte(" | "), w.last)
			}
			from := len(w.text)
			w.within(func() { w.children(c) })
			w.cells = append(w.cells, Span{from, len(w.text)})
			cells = append(cells, Cell{Span: r.spanOf(c)})
		}
		b := r.add(n, Block{Kind: RowBlock, Level: level, Span: r.lineOf(row.Pos()), Closed: true})
		r.filled(b, w)
		for i, s := range w.cells {
			cells[i].Text = strings.TrimSpace(s.In(b.Text))
		}
		if level == 0 {
			t.Span, t.Header = b.Span, cells
		} else {
			t.Rows = append(t.Rows, cells)
		}
		t.Span.End = b.End
		level++
	}
	r.Tables = append(r.Tables, t)
}

// outline sets the sections of the headings and the indexes of blocks.
func (d *Document) outline() {
	slices.SortStableFunc(d.Headings, func(a, b Heading) int { return a.Start - b.Start })
	slices.SortStableFunc(d.Tables, func(a, b Table) int { return a.Start - b.Start })
	slices.SortStableFunc(d.Links, func(a, b Link) int { return a.Start - b.Start })
	var open []int
	for i := range d.Headings {
		h := &d.Headings[i]
		for len(open) > 0 && d.Headings[open[len(open)-1]].Level >= h.Level {
			d.Headings[open[len(open)-1]].Section.End = h.Start
			open = open[:len(open)-1]
		}
		h.Section = Span{h.Start, len(d.Source)}
		h.Block = d.BlockAt(h.Start)
		open = append(open, i)
	}
	for i := range d.Tables {
		d.Tables[i].Block = d.BlockAt(d.Tables[i].Start)
	}
	for i := range d.Links {
		d.Links[i].Block = d.BlockAt(d.Links[i].Start)
	}
}

// BlockAt returns the index of the last block that begins before an offset or at it, or
// -1.
func (d *Document) BlockAt(offset int) int {
	n, found := slices.BinarySearchFunc(d.Blocks, offset, func(b Block, offset int) int { return b.Start - offset })
	if !found {
		return n - 1
	}
	return n
}
