package reading

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Brackets handles the brackets of a block that has no link. For each closing bracket,
// goldmark searches backwards for a link.
type brackets struct {
	undefined bool // the text defines no link
	block     ast.Node
	words     bool // the block has no link
	open      []*bracket
}

// A bracket is an opening bracket that is not closed yet.
type bracket struct {
	ast.BaseInline
	at text.Segment
}

var (
	bracketsKey  = parser.NewContextKey()
	bracketsKind = ast.NewNodeKind("Bracket")
)

// Kind implements [ast.Node].
func (*bracket) Kind() ast.NodeKind { return bracketsKind }

// Dump implements [ast.Node].
func (b *bracket) Dump(source []byte, level int) { ast.DumpHelper(b, source, level, nil, nil) }

func bracketsOf(pc parser.Context) *brackets {
	b, ok := pc.Get(bracketsKey).(*brackets)
	if !ok {
		b = &brackets{undefined: len(pc.References()) == 0} // goldmark reads all before the first words
		pc.Set(bracketsKey, b)
	}
	return b
}

// alone reports whether a block can have no link.
func (b *brackets) alone(block ast.Node, source []byte) bool {
	if b.block != block {
		b.block, b.words = block, b.undefined
		for i := 0; b.words && i < block.Lines().Len(); i++ {
			line := block.Lines().At(i)
			b.words = !bytes.Contains(line.Value(source), []byte("]("))
		}
	}
	return b.words
}

func (b *brackets) parse(block text.Reader) ast.Node {
	line, at := block.PeekLine()
	length := 1
	switch last := len(b.open) - 1; {
	case line[0] == ']' && last >= 0:
		ast.MergeOrReplaceTextSegment(b.open[last].Parent(), b.open[last], b.open[last].at)
		b.open = b.open[:last]
		return nil
	case line[0] == ']', line[0] == '!' && (len(line) < 2 || line[1] != '['):
		return nil
	case line[0] == '!':
		length = len("![")
	}
	block.Advance(length)
	opened := &bracket{at: text.NewSegment(at.Start, at.Start+length)}
	b.open = append(b.open, opened)
	return opened
}

// close turns the remaining open brackets into text.
func (b *brackets) close() {
	for _, opened := range b.open {
		opened.Parent().ReplaceChild(opened.Parent(), opened, ast.NewTextSegment(opened.at))
	}
	b.open = nil
}
