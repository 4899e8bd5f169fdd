package pages

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The sizes of a plot and of its margins.
const (
	width, height           = 360, 190
	left, right             = 44, 12
	top, bottom             = 12, 28
	sparkWidth, sparkHeight = 120, 24
)

// Larger values are not drawn; smaller ranges count as empty.
const maxPoints, least = 1e15, 1e-15

// A scale maps values to positions.
type scale struct{ from, to, start, end float64 }

func (s scale) at(v float64) float64 {
	if s.to == s.from {
		return (s.start + s.end) / 2
	}
	return s.start + (s.end-s.start)*(v-s.from)/(s.to-s.from)
}

// A drawing is a plot with its scales and its SVG so far.
type drawing struct {
	Plot
	strings.Builder
	x, y scale
}

func newDrawing(p Plot) *drawing {
	d := &drawing{Plot: p}
	xs, ys := reach{math.Inf(1), math.Inf(-1)}, reach{0, 0}
	zero := false
	for _, s := range p.Series {
		zero = zero || s.Kind == BarPlot
		for _, at := range s.Points {
			xs.take(at.X)
			ys.take(at.Y)
			if at.Low < at.High && at.High < 20*at.Y { // a very wide interval would flatten the rest
				ys.take(at.High)
			}
		}
	}
	if p.Limit != nil {
		ys.take(p.Limit.At)
	}
	if zero {
		xs.low, xs.high = xs.low-0.5, xs.high+0.5
	}
	if p.X.Low < p.X.High {
		xs = reach{p.X.Low, p.X.High}
	}
	if p.Y.Low < p.Y.High {
		ys = reach{p.Y.Low, p.Y.High}
	} else if p.Known() {
		if ys.high-ys.low < least {
			ys.high = ys.low + 1
		}
		step := stepOf(ys.high - ys.low)
		ys.high = math.Ceil(ys.high/step) * step
	}
	d.x = scale{xs.low, xs.high, left, width - right}
	d.y = scale{ys.low, ys.high, height - bottom, top}
	return d
}

// A reach is a range of values.
type reach struct{ low, high float64 }

func (r *reach) take(v float64) {
	if math.Abs(v) < maxPoints {
		r.low, r.high = min(r.low, v), max(r.high, v)
	}
}

// stepOf returns a round number of which three to six fit into high.
func stepOf(high float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(high/3)))
	for _, times := range []float64{1, 2, 5, 10} {
		if high <= 4*times*unit {
			return times * unit
		}
	}
	return 10 * unit
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

func (d *drawing) text(x, y float64, class, s string) {
	d.printf(`<text x="%s" y="%s" class="%s">%s</text>`, num(x), num(y), class, escaped(s))
}

// num formats a position with one decimal.
func num(v float64) string { return strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64) }

// escaped escapes a text for markup. It replaces control characters, characters that change the
// direction of writing, and invalid ones.
func escaped(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError || r == '\uFFFE' || r == '\uFFFF' {
			return '\uFFFD'
		}
		return r
	}, s)
	return html.EscapeString(s)
}

// axes draws the axes, with lines at the ticks.
func (d *drawing) axes() {
	for _, t := range d.Y.ticks(d.y) {
		y := d.y.at(t.At)
		d.printf(`<path class="grid" d="M%d %sH%d"/>`, left, num(y), width-right)
		d.text(left-6, y+3.5, "end", t.Label)
	}
	taken := math.Inf(-1)
	for _, t := range d.X.ticks(d.x) {
		x := d.x.at(t.At)
		half := 3.1 * float64(utf8.RuneCountInString(t.Label))
		x = max(left-10+half, min(x, width-2-half)) // keep the label inside the plot
		if x-half < taken {
			continue // the labels would overlap
		}
		taken = x + half + 6
		d.text(x, height-bottom+16, "middle", t.Label)
	}
	d.printf(`<path class="axis" d="M%d %dH%d"/>`, left, height-bottom, width-right)
}

// ticks returns the ticks of an axis, by default at round numbers.
func (a Axis) ticks(s scale) []Tick {
	if a.Ticks != nil || s.to <= s.from {
		return a.Ticks
	}
	if a.Format == nil {
		a.Format = func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	}
	step := stepOf(s.to - s.from)
	for at := math.Ceil(s.from/step) * step; at <= s.to+step/1000; at += step {
		a.Ticks = append(a.Ticks, Tick{at, a.Format(at)})
	}
	return a.Ticks
}

func (d *drawing) series(s Series) {
	class := cmp.Or(s.Class, "a")
	d.printf(`<g class="%s">`, class)
	switch s.Kind {
	case BarPlot:
		d.bars(s.Points)
	case StepPlot:
		d.line(s.Points)
	default:
		d.band(s.Points)
		d.line(s.Points)
		d.dots(s.Points, 2.6)
	}
	d.printf("</g>")
}

// band draws the intervals of points as separate bars.
func (d *drawing) band(points []Point) {
	for _, p := range points {
		if !p.known() || p.Low >= p.High {
			continue
		}
		d.printf(`<path class="sure" d="M%s %sV%s"/>`, num(d.x.at(p.X)), num(d.y.at(max(p.Low, d.y.from))), num(d.y.at(min(p.High, d.y.to))))
	}
}

// line joins neighbouring points without a gap between them.
func (d *drawing) line(points []Point) {
	var path strings.Builder
	pen := "M"
	for _, p := range points {
		if !p.known() {
			pen = "M"
			continue
		}
		path.WriteString(pen + num(d.x.at(p.X)) + " " + num(d.y.at(min(max(p.Y, d.y.from), d.y.to))))
		pen = "L"
	}
	if path.Len() > 0 {
		d.printf(`<path class="line" d="%s"/>`, path.String())
	}
}

func (d *drawing) dots(points []Point, radius float64) {
	for _, p := range points {
		if !p.known() {
			continue
		}
		x, y := d.x.at(p.X), d.y.at(min(max(p.Y, d.y.from), d.y.to))
		d.linked(p, func() {
			if p.Marked {
				d.printf(`<circle class="marked" cx="%s" cy="%s" r="6"/>`, num(x), num(y))
			}
			d.printf(`<circle class="dot" cx="%s" cy="%s" r="%s"/>`, num(x), num(y), num(radius))
			if p.URL != "" || p.Label != "" {
				d.printf(`<circle class="hit" cx="%s" cy="%s" r="8"/>`, num(x), num(y))
			}
		})
		if p.Word != "" {
			d.beside(x, y, p.Word)
		}
	}
}

// beside writes a word above a point, or below a point at the top.
func (d *drawing) beside(x, y float64, word string) {
	half := 3.1 * float64(utf8.RuneCountInString(word))
	x = max(left+half, min(x, width-4-half))
	if y -= 9; y < top+6 {
		y += 24
	}
	d.text(x, y, "word middle", word)
}

func (d *drawing) bars(points []Point) {
	each := min((d.x.end-d.x.start)/max(d.x.to-d.x.from, 1), 40)
	zero := d.y.at(max(d.y.from, 0))
	for _, p := range points {
		if !p.known() {
			continue
		}
		x, y := d.x.at(p.X), d.y.at(p.Y)
		d.linked(p, func() {
			d.printf(`<rect class="hit" x="%s" y="%d" width="%s" height="%d"/>`, num(x-each/2), top, num(each), height-top-bottom)
			if p.Y > 0 {
				d.printf(`<rect class="block" x="%s" y="%s" width="%s" height="%s"/>`, num(x-each*0.4), num(min(y, zero-1)), num(max(each*0.8, 0.8)), num(max(zero-y, 1)))
			}
		})
	}
}

// linked draws a point with its label and its link. The link cannot be reached by keys, because
// the table beside the plot has the same links.
func (d *drawing) linked(p Point, body func()) {
	around := "g"
	if p.URL == "" {
		d.printf("<g>")
	} else {
		around = "a"
		d.printf(`<a href="%s" tabindex="-1">`, escaped(p.URL))
	}
	if p.Label != "" {
		d.printf("<title>%s</title>", escaped(p.Label))
	}
	body()
	d.printf("</%s>", around)
}

func (d *drawing) limit() {
	if d.Limit == nil {
		return
	}
	y := d.y.at(d.Limit.At)
	d.printf(`<path class="limit" d="M%d %sH%d"/>`, left, num(y), width-right)
	d.text(width-right, y-4, "limit-word end", d.Limit.Label)
}
