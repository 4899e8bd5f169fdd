package builtins

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/reading"
)

// closedFence is the attribute of a fenced code block whose fence was closed.
const closedFence = "closed-fence"

// fences notes which fenced code blocks end in a fence, and not because the
// text or what they stand in ends.
type fences struct{ parser.BlockParser }

// Continue implements [parser.BlockParser].
func (f fences) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	state := f.BlockParser.Continue(node, reader, pc)
	if state == parser.Close {
		node.SetAttributeString(closedFence, true)
	}
	return state
}

var markdownParser = sync.OnceValue(func() parser.Parser {
	blocks := parser.DefaultBlockParsers()
	for i, b := range blocks {
		if b.Value == parser.NewFencedCodeBlockParser() {
			blocks[i] = util.Prioritized(fences{parser.NewFencedCodeBlockParser()}, b.Priority)
		}
	}
	return parser.NewParser(parser.WithBlockParsers(blocks...), reading.Inlines(),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...))
})

var idAttribute = patterns.Lazy(`(?i)\b(?:id|name)\s*=\s*["']?([^\s"'>]+)`)

// htmlHeading is a heading written in HTML: code hosts make an anchor for it too.
var htmlHeading = patterns.Lazy(`(?is)<h[1-6](?:\s[^>]*)?>(.*?)</h[1-6]\s*>`)

// ownAnchor is what some dialects write behind a heading: ## The end {#end}
var ownAnchor = patterns.Lazy(`\s\{[^{}]*#([^\s{}]+)[^{}]*\}\s*$`)

var htmlTag = patterns.Lazy(`<[^>]*>`)

// anchorsOf lists what a link of the document can point to: the headings'
// anchors as code hosts make them or as they say, and the ids in its HTML.
func anchorsOf(doc ast.Node, source []byte) map[string]bool {
	anchors := map[string]bool{}
	seen := map[string]int{}
	raw := func(lines *text.Segments) {
		value := lines.Value(source)
		for _, m := range idAttribute().FindAllSubmatch(value, -1) {
			anchors[string(m[1])] = true
		}
		for _, m := range htmlHeading().FindAllSubmatch(value, -1) {
			words := html.UnescapeString(string(htmlTag().ReplaceAll(m[1], nil)))
			anchors[unique(seen, slug([]byte(strings.Join(strings.Fields(words), " "))))] = true
		}
	}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			words := plainText(n, source)
			if m := ownAnchor().FindSubmatchIndex(words); m != nil {
				anchors[string(words[m[2]:m[3]])] = true
				words = words[:m[0]]
			}
			anchors[unique(seen, slug(words))] = true
		case *ast.RawHTML:
			raw(n.Segments)
		case *ast.HTMLBlock:
			raw(n.Lines())
		}
		return ast.WalkContinue, nil
	})
	return anchors
}

func unique(seen map[string]int, name string) string {
	n := seen[name]
	seen[name]++
	if n > 0 {
		return fmt.Sprintf("%s-%d", name, n)
	}
	return name
}

// slug is a heading's anchor: lower case, hyphens for spaces, other marks gone.
func slug(heading []byte) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(heading)))
}

// plainText is the words of a node and all in it.
func plainText(n ast.Node, source []byte) []byte {
	var b bytes.Buffer
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		}
		return ast.WalkContinue, nil
	})
	return b.Bytes()
}

// pictured tells whether a picture is in a node, of Markdown or of HTML.
func pictured(n ast.Node, source []byte) (found bool) {
	_ = ast.Walk(n, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Image:
			found = true
		case *ast.RawHTML:
			found = found || pictureTag().Match(n.Segments.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return found
}

var pictureTag = patterns.Lazy(`(?i)^<(?:img|svg|picture|video)\b`)

// A lineCounter tells lines of offsets that mostly grow, without counting from
// the beginning each time.
type lineCounter struct {
	text       string
	last, line int
}

// at counts; the parser's offsets may lie behind the end where a tab stands
// before what they are of.
func (c *lineCounter) at(offset int) string {
	offset = min(offset, len(c.text))
	if offset < c.last {
		c.last, c.line = 0, 0
	}
	c.line += strings.Count(c.text[c.last:offset], "\n")
	c.last = offset
	return fmt.Sprintf("line %d", c.line+1)
}
