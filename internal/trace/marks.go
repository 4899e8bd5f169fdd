package trace

import (
	"slices"

	"github.com/seed61713e19/capstan/internal/graphs"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/runner/event"
)

// Marks returns the marks of the phases of the run's own cascade, for
// [cascades.Cascade.Graph]. Each pair of consecutive visits marks an edge.
// If soundings try the whole cascade, the marks are those of the winning try.
// Before a try wins, they are those of the latest try.
func (r *Run) Marks() *graphs.Marks {
	m := &graphs.Marks{Phases: map[string]graphs.Mark{}, Taken: map[graphs.Passed]int{}}
	visits := r.Phases
	for _, p := range r.Phases {
		if try := p.Try(); try != nil {
			visits, m.Won = try.Phases, 0
			if p.Status != "" {
				m.Won = p.Won() + 1
			}
		}
	}
	for i, p := range visits {
		mark := m.Phases[p.Name]
		mark.Status = p.Status
		mark.Visits++
		mark.Attempts += len(p.Attempts)
		m.Phases[p.Name] = mark
		if i > 0 {
			before := visits[i-1]
			passed := graphs.Passed{From: before.Name, To: p.Name}
			if before.Status == "exhausted" || before.Status == "failed" {
				passed.Left = before.Status
			}
			if slices.ContainsFunc(before.Answers, func(a event.Answer) bool { return a.Expired }) && passed.Left != "" {
				passed.Left = event.Expired
			}
			m.Taken[passed]++
		}
	}
	return m
}

// Try returns the winning or latest try of the whole cascade, or nil for a visit to
// a phase. A phase with the same name calls a model, and therefore has turns.
func (p *Phase) Try() *Attempt {
	try := p.Last()
	if p.Name != keywords.Tries || try == nil || try.Sounding < 0 || len(try.Turns) > 0 {
		return nil
	}
	return try
}
