package cascades

import (
	"cmp"

	"github.com/seed61713e19/capstan/cascades/graphs"
	"github.com/seed61713e19/capstan/runner/reports"
)

// Marks are what a run did with a cascade, for a [Cascade.Graph] that shows both. Phases
// and ways that the cascade does not have are left out.
type Marks struct {
	Phases map[string]Mark // those that were visited, by name
	Taken  map[Passed]int  // how often each way was taken
	Won    int             // the try at the whole that was picked, from 1; 0 for none
}

// A Mark is what became of a phase.
type Mark struct {
	Status   string // of the last visit; "" while it goes on
	Visits   int
	Attempts int // of all visits
}

// A Passed is a way from one phase to the one that ran after it.
type Passed struct {
	From, To string
	Left     string // "exhausted", "failed" or "expired", where From was left without an output
}

// mark puts what became of a phase on its card.
func (m *Marks) mark(c *graphs.Card) {
	if m == nil {
		return
	}
	mark, visited := m.Phases[c.Name]
	if !visited {
		return
	}
	text := reports.Count(mark.Attempts, "attempt")
	if mark.Visits > 1 {
		text = reports.Count(mark.Visits, "visit") + " · " + text
	}
	c.Status = cmp.Or(mark.Status, "goes on")
	c.Lines = append(c.Lines, graphs.Line{Moment: graphs.Run, Text: text, Mode: c.Status})
}

// taken is how often a run took a way of c.
func (m *Marks) taken(c *Cascade, w graphs.Way) int {
	if m == nil {
		return 0
	}
	passed := Passed{From: c.Phases[w.From].Name, To: c.Phases[w.To].Name}
	if w.Kind == graphs.Failed {
		passed.Left = w.Label
	}
	return m.Taken[passed]
}
