package cascades

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/graphs"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/wards"
)

// Graph returns the phases of the cascade with their checks, and every way
// between them, for drawing. The marks of a run may be nil.
func (c *Cascade) Graph(m *Marks) graphs.Graph {
	g := graphs.Graph{Name: c.ID, Ways: c.edges(m), Whole: c.tried(m), Ran: m != nil}
	for _, p := range c.Phases {
		g.Cards = append(g.Cards, p.card(m))
	}
	return g
}

// maxLines is the maximum number of lines of a card.
const maxLines = 12

func (p *Phase) card(m *Marks) graphs.Card {
	c := graphs.Card{Name: p.Name, Title: reports.Fit(p.Name, 40), About: about(p)}
	switch {
	case p.Tool != nil:
		c.Kind = graphs.Tool
	case p.Compose != nil:
		c.Kind = graphs.Text
	}
	add := func(moment, mode, text string) {
		c.Lines = append(c.Lines, graphs.Line{Moment: moment, Text: reports.Fit(text, 36), Mode: mode})
	}
	m.mark(&c)
	for _, s := range p.Subs {
		add("before", "cascade", s.Cascade.ID)
	}
	ward := func(check *Check) {
		w := check.Ward
		if w.Mode == wards.Retry {
			add(string(w.Moment), string(w.Mode), fmt.Sprintf("%s ×%d", w.Name, w.MaxAttempts))
		} else {
			add(string(w.Moment), string(w.Mode), w.Name)
		}
	}
	for _, check := range slices.Concat(p.Wards.Pre, p.Wards.Tool, p.Wards.Result, p.Wards.Turn) {
		ward(check)
	}
	if p.SchemaWard != nil {
		add("output", string(wards.Retry), fmt.Sprintf("output_schema ×%d", p.SchemaWard.MaxAttempts))
	}
	if p.Rules.Loop != nil {
		add("until", string(wards.Retry), fmt.Sprintf("%s ×%d", p.Rules.Loop.Ward.Name, p.Rules.Loop.Ward.MaxAttempts))
	}
	for _, check := range p.Wards.Post {
		ward(check)
	}
	for _, one := range p.Together {
		add("beside", "phase", one.Name+": "+about(one))
	}
	for _, h := range p.Handoffs {
		if h.Ends {
			add("end", "ends", strings.TrimSpace("ends the run "+h.Description))
		}
	}
	if p.asksOnTheWay() {
		add("asks", "human", "a person: on the way")
	}
	if p.Human != nil {
		add("asks", "human", "a person: "+p.Human.Type)
	}
	if more := len(c.Lines) - maxLines; more > 0 {
		c.Lines = append(c.Lines[:maxLines], graphs.Line{Text: fmt.Sprintf("and %d more", more)})
	}
	return c
}

func about(p *Phase) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch {
	case p.Tool != nil && p.Tool.Validator != nil:
		add("gate %s", reports.Fit(p.Tool.Name, 30))
	case p.Tool != nil:
		add("tool %s", reports.Fit(p.Tool.Name, 30))
	case p.Compose != nil:
		add("composed")
	case p.Together != nil:
		add("%d phases together", len(p.Together))
	case len(p.Model) > 0:
		add("%s", reports.Fit(p.Model.String(), 30))
	default:
		add("model")
	}
	if p.Each != nil {
		add("for each %s, at most %d", p.Each.As, p.Each.most())
	}
	if p.Rules.MaxTurns > 1 {
		add("%d turns", p.Rules.MaxTurns)
	}
	if p.Soundings != nil {
		add("%d soundings", p.Soundings.Tries())
	}
	if p.TokenBudget != nil {
		add("at most %s", p.TokenBudget)
	}
	if n := len(p.Tackle); n > 0 {
		add("%s", reports.Count(n, "tool"))
	}
	if p.When != nil {
		add("when %s", reports.Fit(p.When.String(), 24))
	}
	return strings.Join(parts, " · ")
}

// edges returns every way between phases, one for each kind and label, and how
// often a run took it.
func (c *Cascade) edges(m *Marks) []graphs.Way {
	var out []graphs.Way
	seen := map[graphs.Way]bool{}
	for i := range c.Phases {
		for _, w := range c.ways(i) {
			w.Label = reports.Fit(w.Label, 32)
			if w.Taken = m.taken(c, w); w.Taken > 1 {
				w.Label = strings.TrimSpace(fmt.Sprintf("%s ×%d", w.Label, w.Taken))
			}
			if !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	return out
}

// Marks are the phases and ways of a run, for [Cascade.Graph]. Phases and ways that the
// cascade does not have are ignored.
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

// mark adds the result of a phase to its card.
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

// taken returns how often a run took a way of c.
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
