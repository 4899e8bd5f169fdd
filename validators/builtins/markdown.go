package builtins

import (
	"bytes"
	"context"
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/reading"
)

// Markdown accepts text that is sound CommonMark, tables or not: fences that
// are closed, headings with words, links that lead somewhere (a target that is
// not empty, and for #anchors a heading or id of this text) and links that are
// links. Heading levels that are skipped, links without words and images
// without a description are warnings. Other files are not looked for.
//
// Text of more than 1 MiB, or so tangled that reading it would take seconds,
// is not accepted: see [reading.Tangled].
var Markdown = validators.New("markdown", "Validates that the Markdown is well formed: headings, links and code fences",
	func(_ context.Context, _ struct{}, s validators.Subject) (validators.Verdict, error) {
		found := findings{check: "markdown"}
		if line, why := reading.Tangled(s.Content); why != "" {
			found.add(line, "%s", why)
			return found.verdict(""), nil
		}
		source := []byte(s.Content)
		doc := markdownParser().Parse(text.NewReader(source))
		r := markdownReading{source: source, lines: lineCounter{text: s.Content}, found: found, warned: findings{check: "markdown"}, anchors: anchorsOf(doc, source)}
		if err := ast.Walk(doc, r.visit); err != nil {
			return validators.Verdict{}, err
		}
		v := r.found.verdict("the Markdown is well formed")
		v.Warnings = r.warned.warnings()
		return v, nil
	})

// A markdownReading is one pass over a document.
type markdownReading struct {
	source        []byte
	lines         lineCounter
	found, warned findings
	anchors       map[string]bool
	level         int // of the heading before
}

func (r *markdownReading) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n)
	case *ast.FencedCodeBlock:
		if closed, _ := n.AttributeString(closedFence); closed != true {
			r.found.add(r.line(n), "the code fence is never closed")
		}
	case *ast.Link:
		r.link(n)
	case *ast.Image:
		if len(n.Destination) == 0 {
			r.found.add(r.line(n), "the image has no target")
		}
		if !n.HasChildren() {
			r.warned.add(r.line(n), "the image has no description")
		}
	}
	if n.Type() == ast.TypeBlock && !n.IsRaw() {
		r.brokenLinks(n)
	}
	return ast.WalkContinue, nil
}

func (r *markdownReading) heading(n *ast.Heading) {
	if strings.TrimSpace(string(plainText(n, r.source))) == "" && !pictured(n, r.source) {
		r.found.add(r.line(n), "the heading is empty")
	}
	if r.level > 0 && n.Level > r.level+1 {
		r.warned.add(r.line(n), "the heading goes from level %d to level %d", r.level, n.Level)
	}
	r.level = n.Level
}

func (r *markdownReading) link(n *ast.Link) {
	target := strings.TrimSpace(string(n.Destination))
	if !n.HasChildren() {
		r.warned.add(r.line(n), "the link to %s has no words", quote(target))
	}
	switch {
	case target == "" || target == "#":
		r.found.add(r.line(n), "the link %s has no target", quote(string(plainText(n, r.source))))
	case target[0] == '#':
		name, err := url.PathUnescape(target[1:])
		if err != nil {
			name = target[1:]
		}
		if !r.anchors[name] && name != "top" {
			r.found.add(r.line(n), "the link %s points to no heading", quote(target))
		}
	}
}

// brokenLinks finds what was meant as a link and is read as words: "](" in the
// text of a block itself, of which the parser may make two texts.
func (r *markdownReading) brokenLinks(block ast.Node) {
	for n := block.FirstChild(); n != nil; n = n.NextSibling() {
		t, ok := n.(*ast.Text)
		if !ok {
			continue
		}
		end := t.Segment.Stop
		if next, ok := n.NextSibling().(*ast.Text); ok && next.Segment.Start == end {
			end = min(end+1, next.Segment.Stop)
		}
		if at := r.brokenLink(t.Segment.Start, end); at >= 0 {
			r.found.add(r.lines.at(at), "this looks like a link but is none: is its bracket closed, its target free of spaces?")
			return
		}
	}
}

// brokenLink is where "](" stands in the source from start to end, not escaped.
func (r *markdownReading) brokenLink(start, end int) int {
	for {
		i := bytes.Index(r.source[start:end], []byte("]("))
		if i < 0 {
			return -1
		}
		if start += i; start == 0 || r.source[start-1] != '\\' {
			return start
		}
		start += 2
	}
}

// line is where a node begins.
func (r *markdownReading) line(n ast.Node) string {
	for ; n != nil; n = n.Parent() {
		if at := n.Pos(); at >= 0 {
			return r.lines.at(at)
		}
		if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
			return r.lines.at(n.Lines().At(0).Start)
		}
	}
	return ""
}
