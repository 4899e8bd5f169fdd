package graphs

import (
	"cmp"

	"github.com/seed61713e19/capstan/internal/reports"
)

// Marks are the phases and ways of a run. A graph ignores phases and ways that its cascade
// does not have. A nil Marks is no run.
type Marks struct {
	Phases map[string]Mark // those that were visited, by name
	Taken  map[Passed]int  // how often each way was taken
	Won    int             // the picked try of the whole file, from 1; 0 for none
}

// A Mark is the result of a phase.
type Mark struct {
	Status   string // of the last visit; "" while it goes on
	Visits   int
	Attempts int // of all visits
}

// A Passed is a way from one phase to the one that ran after it.
type Passed struct {
	From, To string
	Left     string // "exhausted", "failed" or "expired" if From had no output
}

// Mark adds the result of a phase to its card.
func (m *Marks) Mark(c *Card) {
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
	c.Lines = append(c.Lines, Line{Moment: Run, Text: text, Mode: c.Status})
}

// Count returns how often the run took a way between two phases.
func (m *Marks) Count(from, to string, w Way) int {
	if m == nil {
		return 0
	}
	passed := Passed{From: from, To: to}
	if w.Kind == Failed {
		passed.Left = w.Label
	}
	return m.Taken[passed]
}
