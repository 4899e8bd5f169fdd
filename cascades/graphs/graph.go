// Package graphs draws what leads to what. In come cards with the ways between
// them ([Graph]), or ways from left to right with what stands on each ([Flow]);
// out goes the text of a picture: SVG, laid out here, or what Graphviz and Mermaid
// lay out themselves. The same graph gives the same bytes, and any text may stand
// in it: none gets out of its label. Nothing here knows what a cascade is.
//
// Begin with layout.go: layers from the top, and lanes beside them for what cannot
// go straight.
package graphs

import "strings"

// A Graph is cards, of which the first is where all begins, and the ways between
// them. It has a card at least.
type Graph struct {
	Name  string
	Cards []Card
	Ways  []Way
	Whole string // told where all begins; "" for nothing
	Ran   bool   // it shows what a run did: cards without a Status are pale, and ways that were not taken
}

// A Card is what a graph shows of one thing.
type Card struct {
	Name   string // for [Graph.Spots]
	Title  string
	About  string
	Lines  []Line
	Kind   Kind
	Status string // what became of it in a run; "" where the run did not come by
}

// A Kind is what makes the text of a card's thing.
type Kind int

// The kinds. A tool's card is dashed, and so is, but in [Graph.SVG], that of a text
// which nobody says: it is put together.
const (
	Model Kind = iota
	Tool
	Text
)

// A Line is one line of a card, such as a check.
type Line struct {
	Moment string
	Text   string
	Mode   string // the colour of its dot; "" for none
}

// Run is the moment of a line that tells what a run did at the card. Its mode is
// the card's status.
const Run = "run"

// String is the line as plain text: post grammar_check ×3 (retry).
func (l Line) String() string {
	s := strings.TrimSpace(l.Moment + " " + l.Text)
	if mode := l.mode(); mode != "" {
		s += " (" + mode + ")"
	}
	return s
}

// A Way leads from one card to another, by their numbers.
type Way struct {
	From, To int
	Kind     WayKind
	Label    string
	Taken    int // how often a run took it
}

// A WayKind is why one goes a way.
type WayKind int

// The kinds of ways.
const (
	Next    WayKind = iota // nothing else is said
	When                   // a condition holds
	Chosen                 // a model picks it
	Failed                 // what was to be done was not
	Skipped                // what was to be done was not asked for
)

// A shade is how a status looks: the colour of the mode that is most like it.
type shade struct{ class, fill string }

var shades = map[string]shade{
	"succeeded": {"human", "#dafbe1"}, "degraded": {"retry", "#fff8c5"}, "skipped": {"soft", "#eaeef2"},
	"blocked": {"blocking", "#ffebe9"}, "exhausted": {"blocking", "#ffebe9"}, "failed": {"blocking", "#ffebe9"},
	"over_budget": {"blocking", "#ffebe9"}, "cancelled": {"retry", "#fff8c5"}, "waiting": {"advisory", "#ddf4ff"},
}

// shadeOf is the shade of a status; what is not known has that of what goes on.
func shadeOf(status string) shade {
	if s, known := shades[status]; known {
		return s
	}
	return shade{"advisory", "#ddf4ff"}
}

// mode is what the line's dot stands for.
func (l Line) mode() string {
	if _, known := shades[l.Mode]; l.Moment == Run && !known {
		return "goes on"
	}
	return l.Mode
}

// class is the colour of the line's dot.
func (l Line) class() string {
	if l.Moment == Run {
		return shadeOf(l.Mode).class + " ran"
	}
	return l.Mode
}
