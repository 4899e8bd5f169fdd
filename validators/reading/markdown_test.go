package reading

import (
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	xast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var theirs = markdownWith(extension.NewFootnoteBlockParser(), extension.NewTableParagraphTransformer(), parser.WithInlineParsers(
	util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(parser.NewLinkParser(), 200),
	util.Prioritized(parser.NewAutoLinkParser(), 300), util.Prioritized(parser.NewRawHTMLParser(), 400)))

// FuzzMarkdown wants of every text the tree that goldmark's own tables,
// footnotes, code and links give.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{
		"a\n| a | b |\n|:--|--:|\n| 1 | `x\\|y` | 3 |\n| 2\n\n> |a|\n> |-|\n> ||\n> |\\||",
		"a | b | c\n-|-\n1|2", "a\n-|-|\n|", "a\n---", "a\n--- ", "0\n\f-", "0\n|\v-", "a\n:-: |\v- \nb", "| a |\n    |-|", "\ta\n\t|-|\n\t- |\n\t  |-|\n\t  b|", "a\\\n|-|\n|", "|\n|-|\n|\n||\n| |",
		"a\n-|-\n\n    b\n", "a\r\n|-|\r\n|b|\r\n", "a\n||\n-|", "a\n|-\n-|-\nb\n::|\n",
		"a[^1] b[^n]\n\n[^1]: one\n\n    more\n\n\tless\nno\n[^n]:\n[^ ]: x\n[^\\]]: y\n[^a[b]: z", "> [^1]: a\n> [^2]: b\n\n- [^3]:", "[^", "[^a]", "[^a]:", "   [^a]:\tb", "- \t[^a]: b\n\t  c", "[^" + strings.Repeat("a", 999) + "]: b", "[^" + strings.Repeat("a", 998) + "]: b",
		"```]\\```]\\ `a `` b` ``` c\n\n```", "> `` a\n> b ` c ``\n> `d\n\n`", "[a `b] c` [d]\n\n[d]: e", "> [a\n> b][c\n>\td] [c  d]\n>\n> [c d]: e 'f'\n", "- \t[a\n  \tb](c\n  \t'd\n\te') ![a\n b]\n\n[a b]: c",
		"[^a]: |b|\n    |-|\n    |c|", "a\n[^b]: c\n|-|\n", "[^a]: [b]: c\n\n[b]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if _, why := Tangled(source); why != "" {
			return
		}
		if ours, theirs := shape(markdown(), source), shape(theirs, source); ours != theirs {
			t.Errorf("%q is\n%snot\n%s", source, ours, theirs)
		}
	})
}

// shape writes a tree, with the places of its nodes; those of cells, which say
// nothing, and how they are aligned are left out.
func shape(p parser.Parser, source string) string {
	var b strings.Builder
	depth := 0
	_ = ast.Walk(p.Parse(text.NewReader([]byte(source))), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			depth--
			return ast.WalkContinue, nil
		}
		fmt.Fprintf(&b, "%s%s", strings.Repeat(" ", depth), n.Kind())
		depth++
		if _, is := n.(*xast.TableCell); !is {
			fmt.Fprintf(&b, " at %d", n.Pos())
		}
		switch n := n.(type) {
		case *ast.Text:
			fmt.Fprintf(&b, " %v %v %v", n.Segment, n.SoftLineBreak(), n.HardLineBreak())
		case *xast.Footnote:
			fmt.Fprintf(&b, " %q", n.Ref)
		}
		if n.Type() == ast.TypeBlock && n.Lines() != nil {
			fmt.Fprintf(&b, " %v", n.Lines().Sliced(0, n.Lines().Len()))
		}
		b.WriteString("\n")
		return ast.WalkContinue, nil
	})
	return b.String()
}
