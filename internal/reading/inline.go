package reading

import (
	"bytes"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// A writer makes the text of a block, without its marks. It remembers where the bytes
// are from.
type writer struct {
	source  []byte
	text    []byte
	offsets []alignment
	inlines []Inline
	links   []Link
	cells   []Span // of a row, in the text
	last    int    // the end in the source of what was written
	emphasis
}

func (r *reader) writer() *writer { return &writer{source: r.source} }

// put appends bytes from an offset of the source.
func (w *writer) put(b []byte, at int) {
	if n := len(w.offsets); len(b) > 0 && (n == 0 || w.offsets[n-1].source+len(w.text)-w.offsets[n-1].text != at) {
		w.offsets = append(w.offsets, alignment{len(w.text), at})
	}
	w.text = append(w.text, b...)
	w.last = at + len(b)
}

// children writes the inline nodes below a node.
func (w *writer) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c)
	}
}

func (w *writer) node(n ast.Node) {
	from := len(w.text)
	switch n := n.(type) {
	case *ast.Text:
		w.plain(n.Segment.Start, n.Segment.Stop)
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.put([]byte("\n"), n.Segment.Stop)
		}
	case *ast.String:
		w.put(n.Value, w.last)
	case *ast.CodeSpan:
		w.code(n)
	case *ast.Link:
		w.within(func() { w.children(n) })
		w.link(n, from)
	case *ast.Image:
		w.image(n)
	case *ast.AutoLink:
		label := n.Label(w.source)
		at := n.Pos() + 1
		w.put(label, at)
		s := Span{at - 1, at + len(label) + 1}
		w.inlines = append(w.inlines, Inline{Autolink, Span{from, len(w.text)}, s, string(label)})
		w.links = append(w.links, Link{Span: s, Text: string(label), Target: string(n.URL(w.source))})
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			segment := n.Segments.At(i)
			w.html(Span{segment.Start, segment.Stop})
		}
	default:
		w.children(n)
	}
}

// plain writes a part of the source without backslashes, entities and marks of emphasis.
func (w *writer) plain(start, stop int) {
	from := start // what comes before is written
	for at := start; at < stop; {
		switch c := w.source[at]; c {
		case '\\':
			if at+1 < stop && util.IsPunct(w.source[at+1]) {
				w.put(w.source[from:at], from)
				from = at + 1
				at++
			}
			at++
		case '&':
			w.put(w.source[from:at], from)
			from = at
			size, letters := entity(w.source[at:stop])
			if size > 0 {
				w.put(letters, at)
				from = at + size
			}
			at += max(size, 1)
		case '*', '_', '~':
			end := at
			for end < stop && w.source[end] == c {
				end++
			}
			w.put(w.source[from:end], from)
			w.run(at, end)
			from, at = end, end
		default:
			at++
		}
	}
	w.put(w.source[from:stop], from)
}

// maxEntity is the length of the longest entity of HTML, in bytes.
const maxEntity = 34

// entity returns the length of the entity at the start of a text and the characters
// that it represents.
func entity(text []byte) (size int, letters []byte) {
	end := bytes.IndexByte(text[:min(len(text), maxEntity)], ';')
	if end < 2 {
		return 0, nil
	}
	written := string(text[:end+1])
	shown := html.UnescapeString(written)
	if shown == written || !utf8.ValidString(shown) {
		return 0, nil
	}
	return end + 1, []byte(shown)
}

func (w *writer) code(n *ast.CodeSpan) {
	from := len(w.text)
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			w.put(t.Segment.Value(w.source), t.Segment.Start)
		}
	}
	s := Span{Start: max(n.Pos(), 0), End: endOf(n, w.last)}
	w.inlines = append(w.inlines, Inline{CodeSpan, Span{from, len(w.text)}, s, string(w.text[from:])})
	w.last = s.End
}

// link notes a link whose words have been written from an offset of the text on.
func (w *writer) link(n *ast.Link, from int) {
	s := Span{Start: max(n.Pos(), 0), End: endOf(n, w.last)}
	w.inlines = append(w.inlines, Inline{LinkText, Span{from, len(w.text)}, s, ""})
	w.links = append(w.links, Link{Span: s, Target: target(n.Destination), Title: target(n.Title), words: Span{from, len(w.text)}})
	w.last = s.End
}

func (w *writer) image(n *ast.Image) {
	inner := &writer{source: w.source, last: max(n.Pos(), 0)}
	inner.children(n)
	inner.finish()
	w.links = append(w.links, inner.links...)
	w.last = max(w.last, inner.last)
	s := Span{Start: max(n.Pos(), 0), End: endOf(n, w.last)}
	w.inlines = append(w.inlines, Inline{Image, Span{len(w.text), len(w.text)}, s, string(inner.text)})
	w.links = append(w.links, Link{Span: s, Text: string(inner.text), Target: target(n.Destination), Title: target(n.Title), Image: true})
	w.last = s.End
}

// target is a target or a title without backslashes and entities. An entity ends with a
// semicolon: ?a=1&copy=2 has none.
func target(written []byte) string {
	text := util.UnescapePunctuations(written)
	var b strings.Builder
	for at := 0; at < len(text); {
		size, letters := 0, []byte(nil)
		if text[at] == '&' {
			size, letters = entity(text[at:])
		}
		if size == 0 {
			size, letters = 1, text[at:at+1]
		}
		b.Write(letters)
		at += size
	}
	return b.String()
}

// endOf returns the end of an inline node in the source.
func endOf(n ast.Node, otherwise int) int {
	if end, ok := n.AttributeString(endsAt); ok {
		return end.(int)
	}
	return otherwise
}
