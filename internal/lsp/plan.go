package lsp

import (
	"context"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/reports"
)

// planOf returns the plan of the last valid text, and a line of text for each
// phase.
func (s *server) planOf(d *document) (plan *cascades.Plan, lines map[string]string) {
	if d.plan == nil {
		plan := s.options.Plan(d.good)
		d.plan = &plan
	}
	lines = map[string]string{}
	for _, one := range d.plan.Phases {
		for _, phase := range append([]cascades.PhasePlan{one}, one.Together...) {
			lines[phase.Name] = planText(phase)
		}
	}
	return d.plan, lines
}

// worst returns the worst case of a phase in the last valid text.
func (s *server) worst(d *document, phase string) string {
	if d.good == nil {
		return "Its worst case is known when the file is right."
	}
	_, lines := s.planOf(d)
	return lines[phase]
}

// planText returns the worst case of a phase as a line of text.
func planText(p cascades.PhasePlan) string {
	v := p.Visit
	return fmt.Sprintf("at worst %s × %s: %s, %s with tools, %s",
		count(p.Visits, "visit"), count(v.Attempts, "attempt"), count(v.ModelCalls, "model call"), count(v.ModelCallsWithTools, "call"), count(v.JudgeCalls, "judge call")) +
		withCost("; each visit: ", v)
}

// count returns a number with its noun. A number without a limit is "any number".
func count(n int, noun string) string {
	if n >= cascades.Most {
		return "any number of " + noun + "s"
	}
	return reports.Count(n, noun)
}

// withCost returns tokens and cost after a prefix, or "" if no model is called.
func withCost(before string, c cascades.Counts) string {
	if c.ModelCallsWithTools == 0 {
		return ""
	}
	return before + c.Tokens.Text()
}

// CodeLens shows the worst case of the run above the file, and the worst case of each phase above
// the phase.
func (s *server) CodeLens(_ context.Context, p *protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	list := []protocol.CodeLens{}
	d := s.open[fileOf(p.TextDocument.URI)]
	if d == nil || d.good == nil {
		return list, nil
	}
	plan, lines := s.planOf(d)
	lens := func(line int, title string) {
		list = append(list, protocol.CodeLens{Range: d.page().rangeOf(line, 0, 0), Command: protocol.Command{Title: title, Command: "capstan.plan"}})
	}
	for _, t := range d.tokens {
		if t.key && len(t.path) == 0 && t.text == "cascade_id" {
			total := plan.Total
			title := fmt.Sprintf("at worst %s, %s with tools, %s", count(total.ModelCalls, "model call"), count(total.ModelCallsWithTools, "call"), count(total.Attempts, "attempt"))
			if len(plan.BoundBy) > 0 {
				title += ", bounded by " + strings.Join(plan.BoundBy, " and ")
			}
			lens(t.line, title+withCost("; ", total))
		}
		if title := lines[t.text]; title != "" && defines(t) == phases {
			lens(t.line, title)
		}
	}
	return list, nil
}
