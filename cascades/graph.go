package cascades

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/graphs"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/wards"
)

// Graph returns the graph of the phases with their checks and all edges between
// them. The marks of a run may be nil.
func (c *Cascade) Graph(m *graphs.Marks) graphs.Graph {
	g := graphs.Graph{Name: c.ID, Ways: c.edges(m), Whole: c.tried(m), Ran: m != nil}
	for _, p := range c.Phases {
		g.Cards = append(g.Cards, p.card(m))
	}
	return g
}

// maxLines is the maximum number of lines of a card.
const maxLines = 12

func (p *Phase) card(m *graphs.Marks) graphs.Card {
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
	m.Mark(&c)
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
	for _, member := range p.Together {
		add("beside", "phase", member.Name+": "+about(member))
	}
	for _, h := range p.Handoffs {
		if h.Ends {
			add("end", "ends", strings.TrimSpace("ends the run "+h.Description))
		}
	}
	if p.asksInTurn() {
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
		add("%d soundings", p.Soundings.most())
	}
	if p.TokenBudget != nil {
		add("at most %s", p.TokenBudget.text())
	}
	if n := len(p.Tackle); n > 0 {
		add("%s", reports.Count(n, "tool"))
	}
	if p.When != nil {
		add("when %s", reports.Fit(p.When.String(), 24))
	}
	return strings.Join(parts, " · ")
}

// edges returns the edges between phases without duplicates. Each edge has the
// number of times that the run took it.
func (c *Cascade) edges(m *graphs.Marks) []graphs.Way {
	var out []graphs.Way
	seen := map[graphs.Way]bool{}
	for i := range c.Phases {
		for _, w := range c.ways(i) {
			w.Label = reports.Fit(w.Label, 32)
			if w.Taken = m.Count(c.Phases[w.From].Name, c.Phases[w.To].Name, w); w.Taken > 1 {
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
