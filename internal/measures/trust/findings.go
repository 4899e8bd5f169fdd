package trust

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/wards"
)

// Report returns the result in every format. The text is one screen, or everything if all is set.
// Each gate is a case with its findings, at its place in the cascade's file. The case fails if the
// gate has drifted. The last case has all other findings.
func (r *Result) Report(file string, all bool) *reports.Report {
	out := &reports.Report{Name: "trust " + r.CascadeID, Text: r.summary(), Data: r}
	if all {
		out.Text = r.details()
	}
	for _, g := range r.Gates {
		var t reports.Text
		g.describe(&t)
		c := reports.Case{Name: g.check(), Class: g.Phase, Detail: strings.TrimLeft(t.String(), "\n"), Findings: g.findings()}
		for i := range c.Findings {
			f := &c.Findings[i]
			f.Message = g.Phase + ", " + c.Name + ": " + f.Message
			f.File, f.Line, f.Column = cmp.Or(g.gate.Position.File, file), g.gate.Position.Line, g.gate.Position.Column
		}
		if g.drifted() {
			c.Status, c.Message = reports.Failed, g.Drift.String()
		}
		out.Cases = append(out.Cases, c)
	}
	out.Cases = append(out.Cases, reports.Case{Name: "labels", Class: r.CascadeID, Findings: r.aside(file)})
	return out
}

// findings returns the findings about the gate. Only drift is an error.
func (g *Gate) findings() (list []reports.Finding) {
	add := func(rule string, level reports.Level, format string, args ...any) {
		list = append(list, reports.Finding{Rule: rule, Level: level, Message: fmt.Sprintf(format, args...)})
	}
	if g.drifted() {
		add("drifted-gate", reports.Error, "%s", g.Drift)
	}
	if g.Evidence == "stale" {
		add("stale-evidence", reports.Warning, "%s", staleEvidence)
	}
	switch {
	case g.Passed.Known() && !g.FalsePass.Known() && !g.FalseBlock.Known():
		add("unmeasured-gate", reports.Note, "false pass and false block are unknown: no text is labelled")
	case g.Passed.Known() && !g.FalsePass.Known():
		add("unmeasured-gate", reports.Note, "false pass is unknown: no text that it judged is labelled bad")
	case !g.Passed.Known() && g.Stale > 0:
		add("unmeasured-gate", reports.Note, "all %d verdicts belong to an earlier version of the gate or to another model", g.Stale)
	}
	return list
}

// aside returns the findings about no gate.
func (r *Result) aside(file string) (list []reports.Finding) {
	add := func(rule string, level reports.Level, message string) {
		list = append(list, reports.Finding{Rule: rule, Level: level, Message: message, File: file})
	}
	for _, c := range r.Contradictions {
		add("contradicting-labels", reports.Warning, fmt.Sprintf("contradicting labels: text %s, phase %s, %s: good says %s, bad says %s",
			c.Text[:12], c.Phase, c.Gate, strings.Join(c.Good, ", "), strings.Join(c.Bad, ", ")))
	}
	if r.Unknown > 0 {
		add("unused-labels", reports.Note, reports.Count(r.Unknown, "labelled text")+" of no run in this report")
	}
	if r.Uncounted > 0 {
		add("unused-labels", reports.Note, reports.Count(r.Uncounted, "labelled text")+
			" in no rate: how they were drawn is unknown. If they were drawn at random, import them with --order random")
	}
	for _, note := range r.Notes {
		add("note", reports.Note, "note: "+note)
	}
	return list
}

// check returns the name of the gate with its moment.
func (g *Gate) check() string {
	return (&wards.Ward{Name: g.Gate, Moment: wards.Moment(g.Moment)}).String()
}

func (g *Gate) drifted() bool { return g.Drift != nil && g.Drift.Alarm != nil }
