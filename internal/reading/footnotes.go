package reading

import (
	"github.com/yuin/goldmark/ast"
	xast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// footnotes parses the definitions of footnotes as goldmark's extension does, but
// leaves them in place. See [tableTransformer] for the reason.
type footnotes struct{}

// maxLabel is the maximum length of a label in bytes, the same as that of CommonMark
// for links.
const maxLabel = 999

// Trigger implements [parser.BlockParser].
func (footnotes) Trigger() []byte { return []byte{'['} }

// Open implements [parser.BlockParser].
func (footnotes) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	label := pc.BlockOffset() + len("[^")
	if label < len("[^") || label > len(line) || string(line[label-2:label]) != "[^" {
		return nil, parser.NoChildren
	}
	length := closing(line[label:min(len(line), label+maxLabel)])
	next := label + length + len("]")
	if length < 0 || next >= len(line) || line[next] != ':' || util.IsBlank(line[label:label+length]) {
		return nil, parser.NoChildren
	}
	note := xast.NewFootnote(line[label : label+length])
	words := next + 1 - segment.Padding
	if words >= len(line) {
		reader.Advance(words)
		return note, parser.NoChildren
	}
	reader.AdvanceAndSetPadding(words, segment.Padding)
	return note, parser.HasChildren
}

// closing returns the index of the bracket that closes a label. It returns -1 without
// one, or if a new label opens before it.
func closing(label []byte) int {
	for i := 0; i < len(label); i++ {
		switch {
		case label[i] == '\\' && i+1 < len(label) && util.IsPunct(label[i+1]):
			i++
		case label[i] == ']':
			return i
		case label[i] == '[':
			return -1
		}
	}
	return -1
}

// Continue implements [parser.BlockParser]. Indented lines belong to the footnote.
func (footnotes) Continue(_ ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, _ := reader.PeekLine()
	if util.IsBlank(line) {
		return parser.Continue | parser.HasChildren
	}
	words, padding := util.IndentPosition(line, reader.LineOffset(), 4)
	if words < 0 {
		return parser.Close
	}
	reader.AdvanceAndSetPadding(words, padding)
	return parser.Continue | parser.HasChildren
}

// Close implements [parser.BlockParser].
func (footnotes) Close(ast.Node, text.Reader, parser.Context) {}

// CanInterruptParagraph implements [parser.BlockParser].
func (footnotes) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine implements [parser.BlockParser].
func (footnotes) CanAcceptIndentedLine() bool { return false }
