package trace

import (
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
)

// Marks are what the run did with the phases of its own cascade, for
// [cascades.Cascade.MermaidOf] and its like. A way that was taken is one from a
// visit to the next.
func (r *Run) Marks() *cascades.Marks {
	m := &cascades.Marks{Phases: map[string]cascades.Mark{}, Taken: map[cascades.Passed]int{}}
	for i, p := range r.Phases {
		mark := m.Phases[p.Name]
		mark.Status = p.Status
		mark.Visits++
		mark.Attempts += len(p.Attempts)
		m.Phases[p.Name] = mark
		if i > 0 {
			before := r.Phases[i-1]
			passed := cascades.Passed{From: before.Name, To: p.Name}
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
