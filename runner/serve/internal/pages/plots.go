package pages

import (
	"html/template"
	"math"
)

// A PlotKind is the form of a series.
type PlotKind int

const (
	LinePlot PlotKind = iota // points joined, gaps left open
	BarPlot                  // from zero up
	StepPlot                 // a line without points
)

// A Plot contains series over common axes.
type Plot struct {
	X, Y   Axis
	Series []Series
	Limit  *PlotLimit // a horizontal line
	Empty  string     // the text of a plot without points
}

// An Axis is an axis of a plot. If Low and High are equal, it includes zero and all points.
type Axis struct {
	Low, High float64
	Ticks     []Tick               // nil makes ticks
	Format    func(float64) string // formats made ticks; may be nil
}

// A Tick is a labelled position on an axis.
type Tick struct {
	At    float64
	Label string
}

// A Series contains points in the order of X.
type Series struct {
	Kind   PlotKind
	Class  string // a, b or c, for the colour; "" is a
	Points []Point
}

// A Point is a value. If Y is not a number or too large, the point is a gap. If Low is less
// than High, they are the interval of Y.
type Point struct {
	X, Y      float64
	Low, High float64
	Label     string // shown on hover
	Word      string // shown beside the point
	URL       string // "" for no link
	Marked    bool   // is highlighted
}

func (p Point) known() bool { return math.Abs(p.Y) < maxPoints }

// A PlotLimit is a labelled horizontal line.
type PlotLimit struct {
	At    float64
	Label string
}

// Rows returns the points of all series without the gaps.
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

// Known reports whether the plot has points.
func (p Plot) Known() bool { return len(p.Rows()) > 0 }

// SVG returns the plot as markup.
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

// Spark returns the first series as a small plot without labels, for a row of a table. Its
// height is from low to high.
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
