package pages

import (
	"html/template"
	"math"
)

// A PlotKind says how a series is drawn.
type PlotKind int

// The kinds of series.
const (
	LinePlot PlotKind = iota // points joined, gaps left open
	BarPlot                  // from zero up
	StepPlot                 // a line without points, for many of them
)

// A Plot is numbers over a common ground.
type Plot struct {
	X, Y   Axis
	Series []Series
	Limit  *PlotLimit // a line across
	Empty  string     // what is said where there is no number
}

// A Axis is a direction of a plot. Where Low and High are the same it reaches as
// far as the points do, and from zero.
type Axis struct {
	Low, High float64
	Ticks     []Tick               // nil makes some
	Format    func(float64) string // writes a made tick; nil as few digits as tell them apart
}

// A Tick is a place on an axis with its word.
type Tick struct {
	At    float64
	Label string
}

// A Series is points that belong together, in the order of X.
type Series struct {
	Kind   PlotKind
	Class  string // the page's colour: a, b, c; "" is a
	Points []Point
}

// A Point is a number at a place; a Y that is none, or has more than fifteen digits
// before its point, is a gap. Where Low is below High they are how sure it is.
type Point struct {
	X, Y      float64
	Low, High float64
	Label     string // what it says when pointed at
	Word      string // that stands beside it
	URL       string // where it leads; "" nowhere
	Marked    bool   // it is the one that is meant
}

func (p Point) known() bool { return math.Abs(p.Y) < maxPoints }

// A PlotLimit is a line across a plot, with its word.
type PlotLimit struct {
	At    float64
	Label string
}

// Rows are the points of all series that are no gaps, for a table beside the plot.
func (p Plot) Rows() []Point {
	var list []Point
	for _, s := range p.Series {
		for _, at := range s.Points {
			if at.known() {
				list = append(list, at)
			}
		}
	}
	return list
}

// Known tells whether there is anything to draw.
func (p Plot) Known() bool { return len(p.Rows()) > 0 }

// SVG is the plot.
func (p Plot) SVG() template.HTML {
	d := newDrawing(p)
	d.printf(`<svg class="plot" viewBox="0 0 %d %d" aria-hidden="true" focusable="false">`, width, height)
	if !p.Known() {
		d.text(width/2, height/2, "none middle", p.Empty)
	} else {
		d.axes()
		for _, s := range p.Series {
			d.series(s)
		}
		d.limit()
	}
	d.printf("</svg>")
	return template.HTML(d.String())
}

// Spark is the first series alone, small, without words: for a row of a table.
// Its height is from low to high.
func (p Plot) Spark(low, high float64) template.HTML {
	d := &drawing{Plot: p, x: scale{math.Inf(1), math.Inf(-1), 2, sparkWidth - 2}, y: scale{low, high, sparkHeight - 2, 2}}
	d.printf(`<svg class="spark" viewBox="0 0 %d %d" aria-hidden="true" focusable="false">`, sparkWidth, sparkHeight)
	if len(p.Series) > 0 {
		var bare []Point
		for _, at := range p.Series[0].Points {
			d.x.from, d.x.to = min(d.x.from, at.X), max(d.x.to, at.X)
			bare = append(bare, Point{X: at.X, Y: at.Y})
		}
		d.line(bare)
		d.dots(bare, 1.2)
	}
	d.printf("</svg>")
	return template.HTML(d.String())
}
