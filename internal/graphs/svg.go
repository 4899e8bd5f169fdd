package graphs

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// svgStyle has the colours of a drawing, for light and dark pages.
const svgStyle = `
  svg{--bg:#fff;--ink:#1f2328;--soft:#656d76;--line:#8c959f;--card:#f6f8fa;--edge:#d0d7de;--blocking:#cf222e;--retry:#bf8700;--advisory:#0969da;--cascade:#8250df;--human:#1a7f37}
  @media(prefers-color-scheme:dark){svg{--bg:#0d1117;--ink:#e6edf3;--soft:#9aa4af;--line:#8b949e;--card:#161b22;--edge:#484f58;--blocking:#f85149;--retry:#d29922;--advisory:#4493f8;--cascade:#ab7df8;--human:#3fb950}}
  text{font-family:system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;font-size:11px;fill:var(--ink)}
  .bg{fill:var(--bg)} .card{fill:var(--card);stroke:var(--edge);stroke-width:1.2} .tool{stroke-dasharray:5 4;stroke:var(--line)}
  .title{font-size:14px;font-weight:600} .soft{fill:var(--soft)} .rule{stroke:var(--edge)}
  .way{fill:none;stroke:var(--line);stroke-width:1.4} .chosen{stroke-dasharray:6 4} .skipped{stroke-dasharray:1.5 4;stroke-linecap:round} .exhausted{stroke:var(--blocking)}
  .label{fill:var(--soft);stroke:var(--bg);stroke-width:4px;paint-order:stroke;stroke-linejoin:round}
  .blocking{fill:var(--blocking)} .retry{fill:var(--retry)} .advisory{fill:var(--advisory)} .shadow{fill:var(--bg);stroke:var(--line)} .cascade{fill:var(--cascade)} .human{fill:var(--human)}
  circle.blocking:not(.ran){fill:var(--ink)}
  .dot{fill:var(--line)} .head{fill:var(--line)} .headx{fill:var(--blocking)}
`

// runStyle has the additional styles for the drawing of a run.
const runStyle = `
  .card.human,.card.blocking,.card.retry,.card.advisory{fill:var(--card);stroke-width:2.2}
  .card.human{stroke:var(--human)} .card.blocking{stroke:var(--blocking)} .card.retry{stroke:var(--retry)} .card.advisory{stroke:var(--advisory)} .card.soft{fill:var(--card)}
  .card.unvisited{opacity:.85} .way{opacity:.6} .taken{opacity:1;stroke-width:2.6;stroke:var(--ink)} circle.soft{fill:var(--soft)}
`

// SVG returns the graph as a drawing: cards from top to bottom, with lines
// coloured by mode, and all edges. The drawing loads no files and follows the
// light or dark colours of the page.
func (g Graph) SVG() string {
	l := g.layout()
	w := &svg{}
	style := svgStyle
	if g.Ran {
		style += runStyle
	}
	w.begin(g.Name, style, l.width, l.height)
	w.ends(l, g.Whole)
	for _, wire := range l.wires {
		w.wire(l, wire)
	}
	for i := range l.boxes {
		w.box(&l.boxes[i], g.Ran)
	}
	for _, wire := range l.wires {
		w.label(l, wire)
	}
	w.printf("</svg>\n")
	return w.String()
}

// A Spot is the position of a card in a drawing, in its units.
type Spot struct {
	Name                string
	X, Y, Width, Height float64
}

// Spots returns the positions of the cards in [Graph.SVG], in order.
func (g Graph) Spots() []Spot {
	l := g.layout()
	list := make([]Spot, len(l.boxes))
	for i, b := range l.boxes {
		list[i] = Spot{b.Name, b.x, b.y, b.w, b.h}
	}
	return list
}

type svg struct{ strings.Builder }

func (w *svg) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// begin writes the start of a drawing with a size.
func (w *svg) begin(title, style string, width, height float64) {
	w.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img">`+"\n", width, height, width, height)
	w.printf("<title>%s</title>\n<style>%s</style>\n", escaped(title), style)
	w.printf(`<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0 0.5 7.5 4 0 7.5z"/></marker>` +
		`<marker id="headx" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="headx" d="M0 0.5 7.5 4 0 7.5z"/></marker></defs>` + "\n")
	w.printf(`<rect class="bg" width="100%%" height="100%%"/>` + "\n")
}

// escaped returns a text for XML, without control characters.
func escaped(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0xFFFE || r == 0xFFFF || r == utf8.RuneError {
			return '\uFFFD'
		}
		return r
	}, s)
	return html.EscapeString(s)
}

func (w *svg) text(x, y float64, class, s string) {
	w.printf(`<text x="%.1f" y="%.1f" class="%s">%s</text>`+"\n", x, y, class, escaped(s))
}

func (w *svg) box(b *box, ran bool) {
	w.printf(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="8"/>`+"\n", b.class(ran), b.x, b.y, b.w, b.h)
	w.text(b.x+14, b.y+21, "title", b.Title)
	w.text(b.x+14, b.y+37, "soft", b.About)
	if len(b.Lines) > 0 {
		w.printf(`<line class="rule" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n", b.x, b.y+headSize, b.x+b.w, b.y+headSize)
	}
	for i, line := range b.Lines {
		y := b.y + headSize + 17 + lineStep*float64(i)
		if line.Mode != "" {
			w.printf(`<circle class="%s" cx="%.1f" cy="%.1f" r="3.5"><title>%s</title></circle>`+"\n", escaped(line.class()), b.x+18, y-4, escaped(line.mode()))
		}
		w.text(b.x+28, y, "soft", line.Moment)
		w.text(b.x+28+momentWidth, y, "line", line.Text)
	}
}

// class returns the CSS classes of a card.
func (c Card) class(ran bool) string {
	class := "card"
	if c.Kind == Tool {
		class = "card tool"
	}
	if c.Status != "" {
		class += " " + shadeOf(c.Status).class
	} else if ran {
		class += " unvisited"
	}
	return class
}

// ends draws the start with its label, and the possible ends.
func (w *svg) ends(l *layout, whole string) {
	first := &l.boxes[0]
	w.printf(`<circle class="dot" cx="%.1f" cy="%.1f" r="5"/>`+"\n", first.middle(), first.y-26)
	w.path("way", "head", "M%.1f %.1fV%.1f", first.middle(), first.y-21, first.y-2)
	if whole != "" {
		w.text(first.middle()+labelGap, first.y-22, "label", whole)
	}
	goesOn := make([]bool, len(l.boxes))
	for _, w := range l.wires {
		goesOn[w.From] = true
	}
	for i := range l.boxes {
		if !goesOn[i] {
			b := &l.boxes[i]
			w.path("way", "", "M%.1f %.1fv14", b.middle(), b.y+b.h)
			w.printf(`<circle class="dot" cx="%.1f" cy="%.1f" r="5"/>`+"\n", b.middle(), b.y+b.h+19)
		}
	}
}

func (w *svg) path(class, head, format string, args ...any) {
	marker := ""
	if head != "" {
		marker = fmt.Sprintf(` marker-end="url(#%s)"`, head)
	}
	w.printf(`<path class="%s"%s d="%s"/>`+"\n", class, marker, fmt.Sprintf(format, args...))
}

var wayClass = map[WayKind]string{Next: "way", When: "way", Chosen: "way chosen", Failed: "way exhausted", Skipped: "way skipped"}

func (w *svg) wire(l *layout, wire wire) {
	a, b := &l.boxes[wire.From], &l.boxes[wire.To]
	head := "head"
	if wire.Kind == Failed {
		head = "headx"
	}
	class := wayClass[wire.Kind]
	if wire.Taken > 0 {
		class += " taken"
	}
	if wire.lane == 0 {
		x1, y1, x2, y2 := l.out(wire), a.y+a.h, l.in(wire), b.y-2
		w.path(class, head, "M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x1, y1, x1, y1+layerGap*0.6, x2, y2-layerGap*0.6, x2, y2)
		return
	}
	lane, y1, y2 := l.beside(wire)
	from, to, r := a.x+a.w, b.x+b.w, 8.0
	if wire.left() {
		from, to, r = a.x, b.x, -8
	}
	turn := 8.0
	if y2 < y1 {
		turn = -8
	}
	w.path(class, head, "M%.1f %.1fH%.1fq%.1f 0 %.1f %.1fV%.1fq0 %.1f %.1f %.1fH%.1f",
		from, y1, lane-r, r, r, turn, y2-turn, turn, -r, turn, to+r/4)
}

// out returns the point at which a straight wire leaves its box. The method in
// returns the point at which it enters the next box. Neighbouring wires are
// ordered by their targets.
func (l *layout) out(w wire) float64 {
	return l.port(w, w.From, l.outs[w.From], func(o wire) int { return o.To })
}

func (l *layout) in(w wire) float64 {
	return l.port(w, w.To, l.ins[w.To], func(o wire) int { return o.From })
}

func (l *layout) port(w wire, at int, beside []int, other func(wire) int) float64 {
	place := 0
	for _, i := range beside {
		o := l.wires[i]
		x, y := l.boxes[other(o)].middle(), l.boxes[other(w)].middle()
		if x < y || x == y && o.Kind < w.Kind {
			place++
		}
	}
	b := &l.boxes[at]
	step := min(26, b.w/float64(len(beside)+1))
	return b.middle() + step*(float64(place)-float64(len(beside)-1)/2)
}

// beside returns the lane of a wire beside the boxes, and the heights at which
// the wire leaves and enters.
func (l *layout) beside(w wire) (lane, y1, y2 float64) {
	a, b := &l.boxes[w.From], &l.boxes[w.To]
	lane = l.right + laneGap*float64(w.lane)
	if w.left() {
		lane = l.left + laneGap*float64(w.lane)
	}
	shift := float64(min(abs(w.lane), 4)-1) * 7
	y1, y2 = a.y+a.h-12-shift, b.y+14+shift
	if w.From == w.To {
		y1, y2 = a.y+a.h-10, a.y+12
	}
	return lane, y1, y2
}

func abs(n int) int { return max(n, -n) }

// label draws the label of a straight wire, or of a wire in a lane. The label
// is vertical if the wire is long enough.
func (w *svg) label(l *layout, wire wire) {
	if wire.Label == "" {
		return
	}
	width := textWidth(wire.Label, lineSize)
	if wire.lane == 0 {
		a, b := &l.boxes[wire.From], &l.boxes[wire.To]
		x, y := (l.out(wire)+l.in(wire)-width)/2, (a.y+a.h+b.y)/2
		if ways := l.outs[wire.From]; len(ways) > 1 && l.wires[ways[len(ways)/2]] == wire {
			y += 13 // the middle one would overlap its neighbours
		}
		w.text(x, y, "label", wire.Label)
		return
	}
	lane, y1, y2 := l.beside(wire)
	middle := (y1 + y2) / 2
	if l.upright(wire) {
		w.printf(`<text transform="translate(%.1f %.1f)rotate(90)" text-anchor="middle" class="label">%s</text>`+"\n", lane+5, middle, escaped(wire.Label))
		return
	}
	x := lane + 6
	if wire.left() {
		x = lane - 6 - width
	}
	w.text(x, middle+4, "label", wire.Label)
}
