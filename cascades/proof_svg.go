package cascades

import "strings"

// The measures of a drawn proof.
const (
	proofRow  = 64.0
	proofEdge = 20.0
	proofBox  = 42.0
)

// proofStyle is what a way with a gate looks like, and one without.
const proofStyle = `
  .guarded{stroke:var(--human)} .bare{stroke:var(--blocking);stroke-dasharray:6 4} .gates{fill:var(--human)} .none{fill:var(--blocking)}
`

// SVG is [Proof.Dot] as a drawing that stands alone, as [Cascade.SVG] is: each way
// from where its text comes from, past its gates, to the tool that writes. One
// without a gate is red and dashed.
func (p *Proof) SVG() string {
	left, middle, right := 0.0, 120.0, 0.0
	for _, w := range p.Ways {
		left = max(left, boxWidth(w.From.String(), w.From.At.String()))
		middle = max(middle, textWidth(w.gated(), lineSize)+40, textWidth(strings.Join(w.Through, " → "), lineSize)+40)
		right = max(right, boxWidth(w.Tool, w.At.String()))
	}
	w := &svg{}
	w.begin(p.headline(), svgStyle+proofStyle, max(left+middle+right, textWidth(p.headline(), titleSize)*1.1)+2*proofEdge, proofRow*float64(len(p.Ways)+1))
	w.text(proofEdge, 30, "title", p.headline())
	for i, way := range p.Ways {
		w.proven(way, proofRow*float64(i)+proofRow*0.75, left, middle, right)
	}
	w.printf("</svg>\n")
	return w.String()
}

func boxWidth(title, about string) float64 {
	return max(textWidth(title, lineSize), textWidth(about, lineSize)) + 24
}

// proven draws one way; y is the top of its boxes.
func (w *svg) proven(way ProofWay, y, left, middle, right float64) {
	edge, gates, head := "guarded", "gates", "head"
	if !way.Guarded() {
		edge, gates, head = "bare", "none", "headx"
	}
	box := func(x, width float64, class, title, about string) {
		w.printf(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="8"/>`+"\n", class, x, y, width, proofBox)
		w.text(x+12, y+17, "line", title)
		w.text(x+12, y+33, "soft", about)
	}
	x := proofEdge + left
	box(proofEdge, left, "card", way.From.String(), way.From.At.String())
	box(x+middle, right, "card tool", way.Tool, way.At.String())
	w.path("way "+edge, head, "M%.1f %.1fH%.1f", x, y+proofBox/2, x+middle-2)
	w.text(x+16, y+15, gates, way.gated())
	w.text(x+16, y+34, "soft", strings.Join(way.Through, " → "))
}
