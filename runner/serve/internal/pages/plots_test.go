package pages_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/serve/internal/pages"
)

// parsed checks that a plot is XML without active attributes, and counts its elements.
func parsed(t *testing.T, svg string) map[string]int {
	t.Helper()
	found := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			found[e.Name.Local]++
			for _, a := range e.Attr {
				if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

var gap = math.NaN()

// TestHostile checks labels with markup, and numbers of every size.
func TestHostile(t *testing.T) {
	evil := "</text><script>alert(1)</script>\" onload=\"x\u202e\x00&"
	for name, points := range map[string][]pages.Point{
		"none": nil, "gaps": {{X: 0, Y: gap}, {X: 1, Y: gap}}, "one": {{X: 3, Y: 0}}, "zeros": {{X: 0}, {X: 1}, {X: 2}},
		"words": {{Y: 1, Label: evil, URL: "/?q=" + evil, Word: evil, Marked: true}}, "tiny": {{X: 0, Y: 1e-300}, {X: 1, Y: 5e-324}},
		"huge": {{X: 0, Y: 1e300}, {X: 1, Y: math.MaxFloat64}}, "sure": {{X: 0, Y: 1, Low: 0, High: math.MaxFloat64}, {X: 1, Y: 2, Low: 1, High: 3}},
		"endless": {{X: 0, Y: math.Inf(1)}, {X: 1, Y: 1}}, "below": {{X: 0, Y: -4}, {X: 1, Y: 2}},
	} {
		for _, kind := range []pages.PlotKind{pages.LinePlot, pages.BarPlot, pages.StepPlot} {
			p := pages.Plot{Series: []pages.Series{{Kind: kind, Points: points}}, Limit: &pages.PlotLimit{At: 1, Label: evil}, Empty: "nothing <yet>"}
			found := parsed(t, string(p.SVG()))
			if found["script"] > 0 {
				t.Errorf("%s: a script", name)
			}
			if (name == "none" || name == "gaps" || name == "huge") == p.Known() {
				t.Errorf("%s: known %v", name, p.Known())
			}
			parsed(t, string(p.Spark(0, 1)))
		}
	}
}

// TestGaps checks that unknown values are gaps.
func TestGaps(t *testing.T) {
	p := pages.Plot{Series: []pages.Series{{Points: []pages.Point{{X: 0, Y: 1}, {X: 1, Y: gap}, {X: 2, Y: 1}, {X: 3, Y: 1}}}}}
	svg := string(p.SVG())
	if found := parsed(t, svg); found["circle"] != 3 {
		t.Errorf("%d circles", found["circle"])
	}
	_, line, _ := strings.Cut(svg, `class="line" d="`)
	line, _, _ = strings.Cut(line, `"`)
	if strings.Count(line, "M") != 2 || strings.Count(line, "L") != 1 {
		t.Errorf("the line is %s", line)
	}
	if len(p.Rows()) != 3 {
		t.Errorf("%d rows", len(p.Rows()))
	}
}

// TestTicksAreRound checks that an axis has a few round numbers.
func TestTicksAreRound(t *testing.T) {
	for _, high := range []float64{0.00031, 0.7, 1, 3, 9.3, 10, 47, 1234567} {
		svg := string(pages.Plot{X: pages.Axis{Ticks: []pages.Tick{}}, Series: []pages.Series{{Points: []pages.Point{{Y: high}}}}}.SVG())
		if n := strings.Count(svg, `class="grid"`); n < 3 || n > 6 {
			t.Errorf("%g: %d ticks: %s", high, n, svg)
		}
	}
}
