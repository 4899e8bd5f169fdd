package trace

import (
	"slices"

	"github.com/seed61713e19/capstan/internal/graphs"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/runner/event"
)

// Marks are what the run did with the phases of its own cascade, for
// [cascades.Cascade.Graph]. A way that was taken is one from a visit to the next.
// Where the whole cascade is tried several times, they are those of the try that
// was picked, until then of the last one that has begun.
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

// Try returns the try at the whole cascade that a visit came to last, or nil for a
// visit to a phase. A phase with the same name has a model.
func (p *Phase) Try() *Attempt {
	try := p.Last()
	if p.Name != keywords.Tries || try == nil || try.Sounding < 0 || len(try.Turns) > 0 {
		return nil
	}
	return try
}
