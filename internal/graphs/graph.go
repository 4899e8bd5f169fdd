// Package graphs draws directed graphs. The input is a [Graph], which has cards
// and edges, or a [Flow], which has paths from left to right with guards. The
// output is SVG, or source text for Graphviz and Mermaid. The same graph always
// gives the same bytes. Labels may contain any text, because all output is
// escaped. The package does not depend on cascades.
//
// Begin with layout.go, which assigns layers from top to bottom, and lanes for
// the edges that cannot be straight.
package graphs

import "strings"

// A Graph has at least one card, and edges between cards. The run begins at the
// first card.
type Graph struct {
	Name  string
	Cards []Card
	Ways  []Way
	Whole string // the label of the beginning, or ""
	Ran   bool   // the graph shows a run: cards without a Status and edges that were not taken are pale
}

// A Card shows one phase or tool.
type Card struct {
	Name   string // for [Graph.Spots]
	Title  string
	About  string
	Lines  []Line
	Kind   Kind
	Status string // the result in a run; "" if the run did not reach the card
}

// A Kind is the producer of a card's text.
type Kind int

// The kinds. The card of a tool is dashed. Dot and Mermaid also dash the card
// of a composed text.
const (
	Model Kind = iota
	Tool
	Text
)

// A Line is one line of a card, such as a check.
type Line struct {
	Moment string
	Text   string
	Mode   string // the colour of the dot, or ""
}

// Run is the moment of a line that shows the events of a run at the card. The
// mode of the line is the status of the card.
const Run = "run"

// String returns the line as plain text: post grammar_check ×3 (retry).
func (l Line) String() string {
	s := strings.TrimSpace(l.Moment + " " + l.Text)
	if mode := l.mode(); mode != "" {
		s += " (" + mode + ")"
	}
	return s
}

// A Way is an edge between two cards, by their indexes.
type Way struct {
	From, To int
	Kind     WayKind
	Label    string
	Taken    int // how often the run took the edge
}

// A WayKind is the reason for taking an edge.
type WayKind int

// The kinds of edges.
const (
	Next    WayKind = iota // no condition
	When                   // if a condition holds
	Chosen                 // if a model chooses it
	Failed                 // after a failure
	Skipped                // if the condition of the phase does not hold
)

// A shade is the look of a status: the colour of the most similar mode.
type shade struct{ class, fill string }

var shades = map[string]shade{
	"succeeded": {"human", "#dafbe1"}, "degraded": {"retry", "#fff8c5"}, "skipped": {"soft", "#eaeef2"},
	"blocked": {"blocking", "#ffebe9"}, "exhausted": {"blocking", "#ffebe9"}, "failed": {"blocking", "#ffebe9"},
	"over_budget": {"blocking", "#ffebe9"}, "cancelled": {"retry", "#fff8c5"}, "waiting": {"advisory", "#ddf4ff"},
}

// shadeOf returns the shade of a status. An unknown status looks like a running
// one.
func shadeOf(status string) shade {
	if s, known := shades[status]; known {
		return s
	}
	return shade{"advisory", "#ddf4ff"}
}

// mode returns the mode that the dot of the line shows.
func (l Line) mode() string {
	if _, known := shades[l.Mode]; l.Moment == Run && !known {
		return "goes on"
	}
	return l.Mode
}

// class returns the CSS class of the dot.
func (l Line) class() string {
	if l.Moment == Run {
		return shadeOf(l.Mode).class + " ran"
	}
	return l.Mode
}
