package reading

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	xast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Read reads a Markdown text: CommonMark, tables, and the definitions of
// footnotes. Front matter is the caller's to take off. The error is that a text
// is too long or too tangled to be read, see [Tangled], or has a paragraph of
// more than 64 KiB. The same text always gives the same reading.
func Read(source string) (Text, error) {
	if line, why := Tangled(source); why != "" {
		return Text{}, errors.New(strings.TrimPrefix(line+": "+why, ": "))
	}
	w := &walk{source: []byte(source), starts: lineStarts(source)}
	pc := parser.NewContext()
	doc := markdown().Parse(text.NewReader(w.source), parser.WithContext(pc))
	if err := ast.Walk(doc, w.visit); err != nil {
		return Text{}, err
	}
	w.hidden(pc)
	for _, b := range w.blocks {
		if len(b.Words) > maxBlock {
			return Text{}, fmt.Errorf("line %d: a paragraph of %d bytes is not read", b.Line, len(b.Words))
		}
	}
	return Text{w.blocks}, nil
}

// maxBlock is the longest paragraph that is read, in bytes: a longer one is none
// that anybody wrote, and every kind of thing is looked for in it.
const maxBlock = 64 << 10

// markdown reads with the tables and the footnotes of this package.
var markdown = sync.OnceValue(func() parser.Parser { return markdownWith(notes{}, tables{}, Inlines()) })

func markdownWith(notes parser.BlockParser, tables parser.ParagraphTransformer, inlines parser.Option) parser.Parser {
	return parser.NewParser(inlines,
		parser.WithBlockParsers(append(parser.DefaultBlockParsers(), util.Prioritized(notes, 999))...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(tables, 200))...))
}

// A walk makes blocks of a parsed document.
type walk struct {
	source []byte
	starts []int // of the lines
	blocks []Block
}

func lineStarts(source string) []int {
	starts := []int{0}
	for i := range len(source) {
		if source[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

func (w *walk) line(offset int) int {
	return sort.SearchInts(w.starts, offset+1)
}

func (w *walk) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering || n.Type() == ast.TypeInline {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.Heading:
		w.leaf(n, Block{Form: Heading, Level: n.Level})
	case *ast.FencedCodeBlock:
		w.code(n, string(n.Language(w.source)))
	case *ast.CodeBlock:
		w.code(n, "")
	case *ast.HTMLBlock:
		b := w.block(n, Block{Form: HTML})
		raw := w.lines(n)
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(w.source))
		}
		b.add(Markup, raw)
	case *xast.TableHeader, *xast.TableRow:
		w.row(n)
		return ast.WalkSkipChildren, nil
	case *ast.Paragraph, *ast.TextBlock:
		w.leaf(n, w.prose(n))
	}
	return ast.WalkContinue, nil
}

// prose says what a paragraph is, by what it stands in.
func (w *walk) prose(n ast.Node) Block {
	first := n.PreviousSibling() == nil
	for p := n.Parent(); p != nil; p = p.Parent() {
		switch p := p.(type) {
		case *ast.ListItem:
			if first {
				return w.item(p)
			}
		case *ast.Blockquote:
			return Block{Form: Quote}
		case *xast.Footnote:
			return Block{Form: Note, label: string(p.Ref)}
		}
		first = false
	}
	return Block{Form: Paragraph}
}

func (w *walk) item(n *ast.ListItem) Block {
	b := Block{Form: Item, label: "-"}
	if list, ok := n.Parent().(*ast.List); ok && list.IsOrdered() {
		b.label = "1."
	}
	for p := n.Parent(); p != nil; p = p.Parent() {
		if _, ok := p.(*ast.List); ok {
			b.Level++
		}
	}
	return b
}

// block appends a block that begins where its node does.
func (w *walk) block(n ast.Node, b Block) *Block {
	b.Line = w.place(n)
	w.blocks = append(w.blocks, b)
	return &w.blocks[len(w.blocks)-1]
}

func (w *walk) place(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
			return w.line(n.Lines().At(0).Start)
		}
		if at := n.Pos(); at >= 0 {
			return w.line(at)
		}
	}
	return 1
}

func (w *walk) lines(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(w.source))
	}
	return b.String()
}

// leaf reads a block whose children are words.
func (w *walk) leaf(n ast.Node, b Block) {
	at := w.block(n, b)
	var words strings.Builder
	w.inline(n, at, &words)
	at.Words = starred(oneLine(words.String()))
}

func (w *walk) code(n ast.Node, language string) {
	b := w.block(n, Block{Form: Fence})
	lines := strings.Split(strings.TrimRight(w.lines(n), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	// Blanks and line ends count in code.
	b.Things = append(b.Things, Thing{Kind: Code, Text: "```" + language + "\n" + strings.Join(lines, "\n"), Line: b.Line})
}

// row reads a row of a table as one thing, for its cells say nothing alone.
func (w *walk) row(n ast.Node) {
	b := w.block(n, Block{Form: Row, label: fmt.Sprint(n.ChildCount())})
	var cells []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		var words strings.Builder
		inner := Block{Line: b.Line}
		w.inline(c, &inner, &words)
		inner.Words = starred(oneLine(words.String()))
		cell := inner.Words
		for _, t := range inner.Things {
			cell = strings.TrimSpace(cell + " " + t.Text)
		}
		cells = append(cells, cell)
		b.leftOut = append(b.leftOut, inner.leftOut...)
		b.cells = append(b.cells, inner)
	}
	b.Words = strings.Join(cells, " | ")
}

// hidden reads link definitions that no link uses as what they are: words that
// nobody sees.
func (w *walk) hidden(pc parser.Context) {
	used := map[string]bool{}
	for _, b := range w.blocks {
		for _, t := range b.Things {
			used[t.Text] = true
		}
	}
	var out []string
	for _, r := range pc.References() {
		if target := address(string(r.Destination()), string(r.Title())); !used[oneLine(target)] {
			out = append(out, "["+string(r.Label())+"]: "+target)
		}
	}
	slices.SortFunc(out, cmp.Compare[string])
	for _, s := range out {
		b := Block{Form: HTML, Line: max(1, len(w.starts)-1)}
		b.add(Markup, s)
		w.blocks = append(w.blocks, b)
	}
}

// unescaped is a text as a browser shows it.
func unescaped(s []byte) string {
	return html.UnescapeString(string(util.UnescapePunctuations(s)))
}
