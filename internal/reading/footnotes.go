package reading

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Footnotes parses the definitions of footnotes as goldmark's extension does, but leaves
// each where it is.
type footnotes struct{ parser.BlockParser }

// Close implements [parser.BlockParser].
func (footnotes) Close(ast.Node, text.Reader, parser.Context) {}
