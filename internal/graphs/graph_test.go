package graphs

import (
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// odd is a graph of a run with texts that need escaping.
var odd = Graph{
	Name: `b"r<title>anches`, Ran: true,
	Cards: []Card{
		{Title: "triage", About: "model", Lines: []Line{{Run, "2 visits", "succeeded"}}, Status: "succeeded"},
		{Title: `x");y-->z`, About: "gate", Kind: Tool, Lines: []Line{{Run, "1 visit", "<i>odd"}, {"post", `j"]<i>`, `"><x>`}}, Status: "<i>odd"},
		{Title: "end", About: "composed", Kind: Text},
	},
	Ways: []Way{{0, 1, Chosen, `it is a "<b>wish</b>"`, 1}, {1, 0, When, `content contains "\n"`, 0}, {1, 2, Failed, "exhausted", 2}, {0, 2, Skipped, "skipped", 0}},
}

// TestMermaid compares the text of a flowchart.
func TestMermaid(t *testing.T) {
	const want = `flowchart TD
  p0["<b>triage</b><br/>model<br/>run 2 visits #40;succeeded#41;"]
  style p0 fill:#dafbe1,color:#1f2328
  p1["<b>x#34;#41;#59;y--#62;z</b><br/>gate<br/>run 1 visit #40;goes on#41;<br/>post j#34;#93;#60;i#62; #40;#34;#62;#60;x#62;#41;"]
  class p1 tool
  style p1 fill:#ddf4ff,color:#1f2328
  p2["<b>end</b><br/>composed"]
  class p2 tool
  p0 -.->|"it is a #34;#60;b#62;wish#60;/b#62;#34;"| p1
  linkStyle 0 stroke-width:3px
  p1 -->|"content contains #34;#92;n#34;"| p0
  p1 ==>|"exhausted"| p2
  linkStyle 2 stroke-width:3px
  p0 -->|"skipped"| p2
  classDef tool stroke-dasharray: 4 3
`
	if got := odd.Mermaid(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestDot checks that labels cannot leave their quotes.
func TestDot(t *testing.T) {
	got := odd.Dot()
	for _, want := range []string{
		`digraph "b\"r<title>anches" {`, `run 2 visits (succeeded)", style="rounded,filled", fillcolor="#dafbe1"]`, `p1 [label="x\");y-->z\ngate\n`, `style="rounded,dashed,filled"`,
		`p0 -> p1 [label="it is a \"<b>wish</b>\"", style=dashed, penwidth=2.5]`, `label="content contains \"\\n\""`, `[label="exhausted", color=firebrick, penwidth=2.5]`, `style=dotted]`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	quoted := regexp.MustCompile(`"(\\.|[^"\\])*"`)
	if left := quoted.ReplaceAllString(got, ""); strings.ContainsAny(left, `"'<`) {
		t.Errorf("outside quotes: %s", left)
	}
}

// TestSVG checks that a drawing shows all texts, and the events of a run only
// if there was one.
func TestSVG(t *testing.T) {
	drawing := odd.SVG()
	wellFormed(t, drawing)
	for _, want := range []string{"triage", `x");y-->z`, `j"]<i>`, `it is a "<b>wish</b>"`, "exhausted"} {
		if !strings.Contains(drawing, ">"+html.EscapeString(want)+"</text>") {
			t.Errorf("%s is not shown in\n%s", want, drawing)
		}
	}
	for want, n := range map[string]int{`class="card human"`: 1, `class="card tool advisory"`: 1, `class="card unvisited"`: 1, " taken\"": 2, ">goes on<": 1} {
		if got := strings.Count(drawing, want); got != n {
			t.Errorf("%s is there %d times, want %d", want, got, n)
		}
	}
	if plain := (Graph{Cards: odd.Cards[2:]}).SVG(); strings.Contains(plain, "unvisited") || strings.Contains(plain, "taken") {
		t.Error("a drawing without a run shows one")
	}
}

// drawn returns a random graph of n cards with cycles, loops, duplicate edges
// and isolated cards.
func drawn(r *rand.Rand, n int) Graph {
	g := Graph{Name: "<&>", Whole: strings.Repeat("w", r.IntN(60)), Ran: n%2 == 0}
	for i := range n {
		c := Card{Title: strings.Repeat("W", r.IntN(40)), About: "about", Kind: Kind(r.IntN(3))}
		for range r.IntN(5) {
			c.Lines = append(c.Lines, Line{Moment: "post", Text: strings.Repeat("m", r.IntN(36)), Mode: `"><x>`})
		}
		g.Cards = append(g.Cards, c)
		for range r.IntN(4) {
			g.Ways = append(g.Ways, Way{From: i, To: r.IntN(n), Kind: WayKind(r.IntN(5)), Label: strings.Repeat("l", r.IntN(32)), Taken: r.IntN(2)})
		}
	}
	return g
}

// wellFormed parses a whole drawing.
func wellFormed(t *testing.T, drawing string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(drawing))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, drawing)
		}
	}
}

// TestLayout checks random graphs: a drawing is well-formed and reproducible,
// and cards neither overlap nor leave the frame.
func TestLayout(t *testing.T) {
	for seed := range uint64(200) {
		g := drawn(rand.New(rand.NewPCG(seed, 0)), 1+int(seed)%12)
		drawing := g.SVG()
		wellFormed(t, drawing)
		if strings.Contains(drawing, "NaN") || strings.Contains(drawing, "Inf") || drawing != g.SVG() {
			t.Fatalf("seed %d: a number is none, or another each time\n%s", seed, drawing)
		}
		var width, height float64
		if _, err := fmt.Sscanf(drawing[strings.Index(drawing, "viewBox"):], `viewBox="0 0 %g %g"`, &width, &height); err != nil {
			t.Fatal(err)
		}
		spots := g.Spots()
		for i, a := range spots {
			if a.X < 0 || a.Y < 0 || a.X+a.Width > width || a.Y+a.Height > height {
				t.Errorf("seed %d: card %d lies outside %v × %v: %+v", seed, i, width, height, a)
			}
			for j, b := range spots[:i] {
				if a.X < b.X+b.Width && b.X < a.X+a.Width && a.Y < b.Y+b.Height && b.Y < a.Y+a.Height {
					t.Errorf("seed %d: card %d lies on card %d", seed, i, j)
				}
			}
		}
	}
}

// TestFlow checks that shared ends are drawn once, and that a path without a
// guard is marked.
func TestFlow(t *testing.T) {
	from, to := Box{"a text", "x.yaml:1:1"}, Box{`write "file"`, "x.yaml:2:1"}
	f := Flow{Name: "x.yaml", Headline: "a & b", Ways: []Passage{{From: from, To: to, Guards: []string{"g1", "g2"}}, {From: from, To: to, Through: "state.a", Guards: []string{"none"}, Bare: true}}}
	const edges = `  n0 -> n1 [label="g1\ng2", color=darkgreen]
  n0 -> n1 [label="none", color=firebrick, style=dashed]
}
`
	if got := f.Dot(); !strings.HasSuffix(got, edges) || strings.Count(got, "  n1 [") != 1 {
		t.Errorf("got\n%s", got)
	}
	if got := f.Mermaid(); !strings.HasSuffix(got, "  n0 -->|\"g1<br/>g2\"| n1\n  n0 -.->|\"none\"| n1\n") {
		t.Errorf("got\n%s", got)
	}
	drawing := f.SVG()
	wellFormed(t, drawing)
	if strings.Count(drawing, `class="way bare"`) != 1 || !strings.Contains(drawing, ">g1, g2<") || !strings.Contains(drawing, ">state.a<") {
		t.Errorf("got\n%s", drawing)
	}
}

// TestEscaped checks that control characters, which XML does not allow, are
// removed.
func TestEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc d": "a\tb\nc d", "\x00\x1f\r\x7f": "\uFFFD\uFFFD\uFFFD\x7f", "\ufffe\uffff\ufffd\xff": "\uFFFD\uFFFD\uFFFD\uFFFD", `<a b="c">&'`: "&lt;a b=&#34;c&#34;&gt;&amp;&#39;",
	} {
		if got := escaped(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
