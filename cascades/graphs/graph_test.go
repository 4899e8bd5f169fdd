package graphs

import (
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// drawn is a graph of n cards and ways by chance: circles, ways to itself, two of a
// kind side by side, cards that nothing leads to.
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

// wellFormed reads a drawing to its end.
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

// Whatever the ways are, a drawing is well-formed, the same twice, and no card lies
// on another or outside the frame.
func TestSVG(t *testing.T) {
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

// An end that ways share stands once in what others lay out, with what is told of
// each way, and a way without a guard is told as one in all three.
func TestFlow(t *testing.T) {
	from, to := Box{"the text of <a>", "x.yaml:1:1"}, Box{`write "file"`, "x.yaml:2:1"}
	f := Flow{Name: "x.yaml", Headline: "a & b", Ways: []Passage{{From: from, To: to, Guards: []string{"g1", "g2"}}, {From: from, To: to, Through: "state.a"}}}
	const edges = `  n0 -> n1 [label="g1\ng2", color=darkgreen]
  n0 -> n1 [label="no gate", color=firebrick, style=dashed]
}
`
	if got := f.Dot(); !strings.HasSuffix(got, edges) || strings.Count(got, "  n1 [") != 1 {
		t.Errorf("got\n%s", got)
	}
	const chart = `flowchart LR
  n0["the text of #60;a#62;<br/>x.yaml:1:1"]
  n1[("write #34;file#34;<br/>x.yaml:2:1")]
  n0 -->|"g1<br/>g2"| n1
  n0 -.->|"no gate"| n1
`
	if got := f.Mermaid(); got != chart {
		t.Errorf("got\n%s", got)
	}
	drawing := f.SVG()
	wellFormed(t, drawing)
	if strings.Count(drawing, `class="way bare"`) != 1 || !strings.Contains(drawing, ">g1, g2<") || !strings.Contains(drawing, ">state.a<") {
		t.Errorf("got\n%s", drawing)
	}
}

// XML has no control characters but those that are blank.
func TestEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc d": "a\tb\nc d", "\x00\x1f\r\x7f": "\uFFFD\uFFFD\uFFFD\x7f", "\ufffe\uffff\ufffd\xff": "\uFFFD\uFFFD\uFFFD\uFFFD", `<a b="c">&'`: "&lt;a b=&#34;c&#34;&gt;&amp;&#39;",
	} {
		if got := escaped(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
