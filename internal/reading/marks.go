package reading

import (
	"bytes"
	"sort"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// inlineParsers returns parsers that find the code and the links that goldmark's own find,
// in linear time: goldmark's look through the whole paragraph at each mark. The writer of
// a block reads emphasis, which takes goldmark quadratic time.
func inlineParsers() parser.Option {
	link := parser.NewLinkParser()
	closes, _ := link.(parser.CloseBlocker)
	return parser.WithInlineParsers(
		util.Prioritized(codeSpans{parser.NewCodeSpanParser()}, 100),
		util.Prioritized(links{link, closes}, 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewRawHTMLParser(), 400),
	)
}

// endsAt is the attribute of an inline node for its end in the source.
const endsAt = "ends-at"

func ended(n ast.Node, block text.Reader) ast.Node {
	if n != nil && n.Kind() != ast.KindText {
		_, at := block.Position()
		n.SetAttributeString(endsAt, at.Start)
	}
	return n
}

// A codeSpans parser remembers which lengths of backticks do not occur again in a block.
type codeSpans struct{ parser.InlineParser }

var unclosed = parser.NewContextKey()

// Parse implements [parser.InlineParser].
func (s codeSpans) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
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
	return ended(node, block)
}

// A links parser finds the lines of a label by binary search, and leaves blocks without
// links to [brackets].
type links struct {
	parser.InlineParser
	parser.CloseBlocker
}

// Parse implements [parser.InlineParser].
func (l links) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if b := bracketsOf(pc); b.alone(parent, block.Source()) {
		return b.parse(block)
	}
	node := l.InlineParser.Parse(parent, searched{block, parent.Lines()}, pc)
	if node == nil || node.Kind() != ast.KindLink && node.Kind() != ast.KindImage {
		return node
	}
	return ended(node, block)
}

// CloseBlock implements [parser.CloseBlocker].
func (l links) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	bracketsOf(pc).close()
	l.CloseBlocker.CloseBlock(parent, block, pc)
}

// A searched reader finds the lines of a segment by binary search.
type searched struct {
	text.Reader
	lines *text.Segments
}

// Value implements [text.Reader].
func (r searched) Value(s text.Segment) []byte {
	first := sort.Search(r.lines.Len(), func(i int) bool { return r.lines.At(i).Start > s.Start }) - 1
	var value []byte
	for i := max(first, 0); i < r.lines.Len() && (i == first || r.lines.At(i).Start < s.Stop); i++ {
		line := r.lines.At(i)
		value = line.ConcatPadding(value)
		value = append(value, r.Source()[max(line.Start, s.Start):max(s.Start, min(line.Stop, s.Stop))]...)
	}
	return value
}
