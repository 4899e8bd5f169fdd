package reading

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Brackets are those of a block in which nothing says where a link leads: words,
// cut where goldmark cuts them, which looks back from each that closes for a link
// in what it closes.
type brackets struct {
	undefined bool // the text defines no link either
	block     ast.Node
	words     bool // of the block: no link is in it
	open      []*bracket
}

// A bracket is one that is not closed yet, or a picture's.
type bracket struct {
	ast.BaseInline
	at text.Segment
}

var (
	bracketsKey  = parser.NewContextKey()
	kindBrackets = ast.NewNodeKind("Bracket")
)

// Kind implements [ast.Node].
func (*bracket) Kind() ast.NodeKind { return kindBrackets }

// Dump implements [ast.Node].
func (b *bracket) Dump(source []byte, level int) { ast.DumpHelper(b, source, level, nil, nil) }

func bracketsOf(pc parser.Context) *brackets {
	b, ok := pc.Get(bracketsKey).(*brackets)
	if !ok {
		b = &brackets{undefined: len(pc.References()) == 0} // all are read before the first words
		pc.Set(bracketsKey, b)
	}
	return b
}

// alone tells whether no link can be in a block.
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

// close makes words of what was never closed.
func (b *brackets) close() {
	for _, opened := range b.open {
		opened.Parent().ReplaceChild(opened.Parent(), opened, ast.NewTextSegment(opened.at))
	}
	b.open = nil
}
