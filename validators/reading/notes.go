package reading

import (
	"github.com/yuin/goldmark/ast"
	xast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Notes reads the definitions of footnotes as goldmark's own extension does, see
// [tables]: all stand where the first one does.
type notes struct{}

// maxLabel is how long a label may be, in bytes, as CommonMark has it of links'.
const maxLabel = 999

var notesOf = parser.NewContextKey()

// Trigger implements [parser.BlockParser].
func (notes) Trigger() []byte { return []byte{'['} }

// Open implements [parser.BlockParser].
func (notes) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	label := pc.BlockOffset() + len("[^")
	if label < len("[^") || label > len(line) || string(line[label-2:label]) != "[^" {
		return nil, parser.NoChildren
	}
	length := closed(line[label:min(len(line), label+maxLabel)])
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

// closed is where the bracket that closes a label stands; -1 where none does, or
// another one opens before it.
func closed(label []byte) int {
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

// Continue implements [parser.BlockParser]: what is indented goes on.
func (notes) Continue(_ ast.Node, reader text.Reader, _ parser.Context) parser.State {
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
func (notes) Close(note ast.Node, _ text.Reader, pc parser.Context) {
	above := note.Parent()
	list, ok := pc.Get(notesOf).(*xast.FootnoteList)
	if !ok {
		list = xast.NewFootnoteList()
		pc.Set(notesOf, list)
		above.InsertBefore(above, note, list)
	}
	above.RemoveChild(above, note)
	list.AppendChild(list, note)
}

// CanInterruptParagraph implements [parser.BlockParser].
func (notes) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine implements [parser.BlockParser].
func (notes) CanAcceptIndentedLine() bool { return false }
