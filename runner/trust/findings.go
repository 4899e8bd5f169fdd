package trust

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/junit"
	"github.com/seed61713e19/capstan/runner/reports"
	"github.com/seed61713e19/capstan/wards"
)

// A Finding is something of a report that wants somebody to do something.
type Finding struct {
	Rule    string            // drifted-gate, stale-evidence, unmeasured-gate, contradicting-labels, unused-labels, note
	Level   string            // error, warning or note, as SARIF has them
	Message string            // in words
	Where   cascades.Position // of the gate; nowhere for what is of none
}

// Findings are what the report wants somebody to do, gate after gate, labels last.
// Only a gate that has drifted is an error.
func (r *Report) Findings() (list []Finding) {
	for _, g := range r.Gates {
		add := func(rule, level, format string, args ...any) {
			list = append(list, Finding{rule, level, g.Phase + ", " + g.what() + ": " + fmt.Sprintf(format, args...), g.gate.Position})
		}
		if g.Drift != nil && g.Drift.Alarm != nil {
			add("drifted-gate", "error", "%s", g.Drift)
		}
		if g.Evidence == "stale" {
			add("stale-evidence", "warning", "%s", staleEvidence)
		}
		switch {
		case g.Passed.Known() && !g.FalsePass.Known() && !g.FalseBlock.Known():
			add("unmeasured-gate", "note", "false pass and false block are unknown: no text is labelled")
		case g.Passed.Known() && !g.FalsePass.Known():
			add("unmeasured-gate", "note", "false pass is unknown: no text that it judged is labelled bad")
		case !g.Passed.Known() && g.Stale > 0:
			add("unmeasured-gate", "note", "all %d verdicts belong to an earlier version of the gate or to another model", g.Stale)
		}
	}
	return append(list, r.aside()...)
}

// aside are the findings that are of no gate, most of them of labels.
func (r *Report) aside() (list []Finding) {
	for _, c := range r.Contradictions {
		list = append(list, Finding{Rule: "contradicting-labels", Level: "warning", Message: fmt.Sprintf(
			"contradicting labels: text %s, phase %s, %s: good says %s, bad says %s", c.Text[:12], c.Phase, c.Gate, strings.Join(c.Good, ", "), strings.Join(c.Bad, ", "))})
	}
	if r.Unknown > 0 {
		list = append(list, Finding{Rule: "unused-labels", Level: "note", Message: reports.Count(r.Unknown, "labelled text") + " of no run in this report"})
	}
	if r.Uncounted > 0 {
		list = append(list, Finding{Rule: "unused-labels", Level: "note", Message: reports.Count(r.Uncounted, "labelled text") +
			" in no rate: how they were drawn is unknown. If they were drawn at random, import them with --order random"})
	}
	for _, note := range r.Notes {
		list = append(list, Finding{Rule: "note", Level: "note", Message: "note: " + note})
	}
	return list
}

// JUnit writes a case for each gate, which fails where it has drifted, and one for
// labels. What else is known of a gate its case says, as for people.
func (r *Report) JUnit(w io.Writer) error {
	s := junit.Suite{Name: "trust " + r.CascadeID}
	for _, g := range r.Gates {
		var said strings.Builder
		g.tell(reports.To(&said))
		c := junit.Case{Name: g.what(), Class: g.Phase, Said: strings.TrimLeft(said.String(), "\n")}
		if g.Drift != nil && g.Drift.Alarm != nil {
			c.Failure = &junit.Why{Message: g.Drift.String()}
		}
		s.Cases = append(s.Cases, c)
	}
	labels := junit.Case{Name: "labels", Class: r.CascadeID}
	for _, l := range r.aside() {
		labels.Said += l.Message + "\n"
	}
	s.Cases = append(s.Cases, labels)
	return s.Write(w)
}

// what is the gate in its phase, and name where it stands in the cascade.
func (g *Gate) what() string {
	return (&wards.Ward{Name: g.Gate, Moment: wards.Moment(g.Moment)}).String()
}
