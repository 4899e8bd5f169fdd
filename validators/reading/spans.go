package reading

import (
	"bytes"
	"sort"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Inlines are goldmark's parsers of what stands within a block. Those of code
// and of links find the same, but do not look through the whole block at each
// mark: a megabyte of marks took them minutes. There is none for emphasis: marks
// around words change none, and parsing them is quadratic.
func Inlines() parser.Option {
	theirs := parser.NewLinkParser()
	closes, _ := theirs.(parser.CloseBlocker)
	return parser.WithInlineParsers(
		util.Prioritized(spans{parser.NewCodeSpanParser()}, 100),
		util.Prioritized(links{theirs, closes}, 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewRawHTMLParser(), 400),
	)
}

// Spans remembers of how many backticks there are no more in a block.
type spans struct{ parser.InlineParser }

var unclosed = parser.NewContextKey()

// Parse implements [parser.InlineParser].
func (s spans) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, at := block.PeekLine()
	ticks := len(line) - len(bytes.TrimLeft(line, "`"))
	none := pc.ComputeIfAbsent(unclosed, func() any { return map[int]int{} }).(map[int]int)
	if at.Start < none[ticks] {
		block.Advance(ticks)
		return ast.NewTextSegment(at.WithStop(at.Start + ticks))
	}
	node := s.InlineParser.Parse(parent, block, pc)
	if node.Kind() == ast.KindText {
		lines := parent.Lines()
		none[ticks] = lines.At(lines.Len() - 1).Stop
	}
	return node
}

// Links finds the lines of a label by halving, not by going back over all, and
// leaves a block that has no link to [brackets].
type links struct {
	parser.InlineParser
	parser.CloseBlocker
}

// Parse implements [parser.InlineParser].
func (l links) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if b := bracketsOf(pc); b.alone(parent, block.Source()) {
		return b.parse(block)
	}
	return l.InlineParser.Parse(parent, halving{block, parent.Lines()}, pc)
}

// CloseBlock implements [parser.CloseBlocker].
func (l links) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	bracketsOf(pc).close()
	l.CloseBlocker.CloseBlock(parent, block, pc)
}

type halving struct {
	text.Reader
	lines *text.Segments
}

// Value implements [text.Reader].
func (r halving) Value(s text.Segment) []byte {
	first := sort.Search(r.lines.Len(), func(i int) bool { return r.lines.At(i).Start > s.Start }) - 1
	var value []byte
	for i := max(first, 0); i < r.lines.Len() && (i == first || r.lines.At(i).Start < s.Stop); i++ {
		line := r.lines.At(i)
		value = line.ConcatPadding(value)
		value = append(value, r.Source()[max(line.Start, s.Start):max(s.Start, min(line.Stop, s.Stop))]...)
	}
	return value
}
