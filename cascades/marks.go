package cascades

import "github.com/seed61713e19/capstan/runner/reports"

// Marks are what a run did with a cascade, for a graph that shows both. Phases
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

// A shade is how a graph colours a status: the colour of the mode that is most
// like it.
type shade struct{ class, fill string }

var shades = map[string]shade{
	"succeeded": {"human", "#dafbe1"}, "degraded": {"retry", "#fff8c5"}, "skipped": {"soft", "#eaeef2"},
	"blocked": {"blocking", "#ffebe9"}, "exhausted": {"blocking", "#ffebe9"}, "failed": {"blocking", "#ffebe9"},
	"over_budget": {"blocking", "#ffebe9"}, "cancelled": {"retry", "#fff8c5"}, "waiting": {"advisory", "#ddf4ff"},
}

// going is the shade of what goes on.
var going = shade{"advisory", "#ddf4ff"}

// of is what became of a phase, and how that is shown.
func (m *Marks) of(name string) (Mark, shade, bool) {
	if m == nil {
		return Mark{}, shade{}, false
	}
	mark, visited := m.Phases[name]
	s, known := shades[mark.Status]
	if !known {
		s, mark.Status = going, "goes on"
	}
	return mark, s, visited
}

// line is what a card says of it.
func (m Mark) line() cardLine {
	text := reports.Count(m.Attempts, "attempt")
	if m.Visits > 1 {
		text = reports.Count(m.Visits, "visit") + " · " + text
	}
	return cardLine{"run", text, m.Status}
}

// taken is how often a run took a way of c.
func (m *Marks) taken(c *Cascade, w way) int {
	if m == nil {
		return 0
	}
	passed := Passed{From: c.Phases[w.from].Name, To: c.Phases[w.to].Name}
	if w.kind == wayExhausted {
		passed.Left = w.label
	}
	return m.Taken[passed]
}

// class is the colour of a card's line.
func (l cardLine) class() string {
	if l.moment != "run" {
		return l.mode
	}
	if s, known := shades[l.mode]; known {
		return s.class + " ran"
	}
	return going.class + " ran"
}

// markStyle has what a drawing with marks needs besides svgStyle.
const markStyle = `
  .card.human,.card.blocking,.card.retry,.card.advisory{fill:var(--card);stroke-width:2.2}
  .card.human{stroke:var(--human)} .card.blocking{stroke:var(--blocking)} .card.retry{stroke:var(--retry)} .card.advisory{stroke:var(--advisory)} .card.soft{fill:var(--card)}
  .card.unvisited{opacity:.45} .way{opacity:.4} .taken{opacity:1;stroke-width:2.6;stroke:var(--ink)} circle.soft{fill:var(--soft)}
`

func cardClass(p *Phase, m *Marks) string {
	class := "card"
	if p.Tool != nil {
		class = "card tool"
	}
	if _, s, visited := m.of(p.Name); visited {
		class += " " + s.class
	} else if m != nil {
		class += " unvisited"
	}
	return class
}
