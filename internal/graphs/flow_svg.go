package graphs

import "strings"

// Sizes of a drawn flow, in pixels.
const (
	flowRow  = 64.0
	flowEdge = 20.0
	flowBox  = 42.0
)

// flowStyle has the styles of paths with and without a guard.
const flowStyle = `
  .guarded{stroke:var(--human)} .bare{stroke:var(--blocking);stroke-dasharray:6 4} .gates{fill:var(--human)} .none{fill:var(--blocking)}
`

// SVG returns the flow as a standalone drawing, like [Graph.SVG], with one path
// per row.
func (f Flow) SVG() string {
	left, middle, right := 0.0, 120.0, 0.0
	for _, p := range f.Ways {
		left = max(left, p.From.width())
		middle = max(middle, textWidth(strings.Join(p.Guards, ", "), lineSize)+40, textWidth(p.Through, lineSize)+40)
		right = max(right, p.To.width())
	}
	w := &svg{}
	w.begin(f.Headline, svgStyle+flowStyle, max(left+middle+right, textWidth(f.Headline, titleSize)*1.1)+2*flowEdge, flowRow*float64(len(f.Ways)+1))
	w.text(flowEdge, 30, "title", f.Headline)
	for i, p := range f.Ways {
		w.passage(p, flowRow*float64(i)+flowRow*0.75, left, middle, right)
	}
	w.printf("</svg>\n")
	return w.String()
}

func (b Box) width() float64 {
	return max(textWidth(b.Title, lineSize), textWidth(b.About, lineSize)) + 24
}

// passage draws one path; y is the top of its boxes.
func (w *svg) passage(p Passage, y, left, middle, right float64) {
	edge, class, head := "guarded", "gates", "head"
	if p.Bare {
		edge, class, head = "bare", "none", "headx"
	}
	end := func(x, width float64, class string, b Box) {
		w.printf(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="8"/>`+"\n", class, x, y, width, flowBox)
		w.text(x+12, y+17, "line", b.Title)
		w.text(x+12, y+33, "soft", b.About)
	}
	x := flowEdge + left
	end(flowEdge, left, "card", p.From)
	end(x+middle, right, "card tool", p.To)
	w.path("way "+edge, head, "M%.1f %.1fH%.1f", x, y+flowBox/2, x+middle-2)
	w.text(x+16, y+15, class, strings.Join(p.Guards, ", "))
	w.text(x+16, y+34, "soft", p.Through)
}
