package reading

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// standIn takes the place of what is no words: it parts them, and no letter is
// glued to it.
const standIn = "\ufffc"

// inline writes the words of a node, and notes on the block what in it is none.
func (w *walk) inline(n ast.Node, b *Block, words *strings.Builder) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			words.WriteString(unescaped(c.Value(w.source)))
			if c.HardLineBreak() {
				b.add(Markup, "a hard line break")
			}
			if c.HardLineBreak() || c.SoftLineBreak() {
				words.WriteByte(' ')
			}
		case *ast.String:
			words.WriteString(unescaped(c.Value))
		case *ast.CodeSpan:
			var code strings.Builder
			for t := c.FirstChild(); t != nil; t = t.NextSibling() {
				if t, ok := t.(*ast.Text); ok {
					code.Write(t.Value(w.source))
				}
			}
			b.add(Code, "`"+code.String()+"`")
			b.leaveOut(Code, code.String(), words)
		case *ast.Link:
			var label strings.Builder
			n := len(b.leftOut)
			w.inline(c, b, &label)
			b.add(Links, address(string(c.Destination), string(c.Title)))
			b.Things[len(b.Things)-1].label = Block{Words: oneLine(label.String()), leftOut: b.leftOut[n:]}.said()
			words.WriteString(label.String())
		case *ast.Image:
			var label strings.Builder
			w.inline(c, &Block{}, &label)
			b.add(Images, "!["+label.String()+"]("+address(string(c.Destination), string(c.Title))+")")
			b.leaveOut(Images, label.String(), words)
		case *ast.AutoLink:
			b.add(Links, string(c.URL(w.source)))
			b.leaveOut(Links, string(c.Label(w.source)), words)
		case *ast.RawHTML:
			var raw strings.Builder
			for i := range c.Segments.Len() {
				segment := c.Segments.At(i)
				raw.Write(segment.Value(w.source))
			}
			b.add(Markup, raw.String())
		default:
			w.inline(c, b, words)
		}
	}
}

// leaveOut writes a stand-in for what is no words.
func (b *Block) leaveOut(kind Kind, what string, words *strings.Builder) {
	b.leftOut = append(b.leftOut, Thing{Kind: kind, Text: oneLine(what)})
	words.WriteString(standIn)
}

// said are the words of a block with what the stand-ins in them stand for.
func (b Block) said() string { return b.filled(b.Words, 0) }

// filled is a part of a block's words with what the stand-ins in it stand for, the
// first of them being the n-th of the block, from 0: of a block "Use `go` and `vet`
// now", the part that ends it is "vet now" with an n of 1.
func (b Block) filled(part string, n int) string {
	if !strings.Contains(part, standIn) || strings.Count(b.Words, standIn) != len(b.leftOut) {
		return part // or some stand in the text itself
	}
	var out strings.Builder
	for i, words := range strings.Split(part, standIn) {
		if i > 0 {
			out.WriteString(b.leftOut[n+i-1].Text)
		}
		out.WriteString(words)
	}
	return out.String()
}

// address is where a link leads, and what it says when it is pointed at.
func address(target, title string) string {
	if title == "" {
		return target
	}
	return target + ` "` + title + `"`
}
