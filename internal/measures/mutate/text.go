package mutate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/faults"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/reports"
)

// Report returns the result in every format. A survivor is a finding in its text if isFile reports
// that the name of its run is a file, and otherwise in the cascade's file. A case is a kind of
// fault in one phase. It fails if the caught share of faults that are always bad is below the
// minimum. Further cases fail if a phase or all texts have fewer caught than required.
func (r *Result) Report(file string, isFile func(string) bool, least float64) *reports.Report {
	out := &reports.Report{Name: "mutate " + r.CascadeID, Data: r}
	w := text{&out.Text}
	w.Line("%s of cascade %s, %s, seed %d", reports.Count(r.Texts, "good text"), r.CascadeID, reports.Count(r.Planted, "planted fault"), r.Seed)
	for _, p := range r.Phases {
		w.phase(p)
		for _, op := range p.Operators {
			c := reports.Case{Name: op.Operator, Class: p.Phase, Findings: r.findings(p.Phase, op, file, isFile)}
			if op.Sure != faults.Always {
				c.Name += " (usually bad)"
			} else if !op.Caught.AtLeast(least) {
				c.Status, c.Message = reports.Failed, op.Caught.String()+" caught"
			}
			out.Cases = append(out.Cases, c)
		}
		if p.Expect > 0 {
			out.Cases = append(out.Cases, required("expect", p.Phase, p.Always, p.Expect))
		}
	}
	out.Cases = append(out.Cases, required("all", r.CascadeID, r.Always, least))
	w.falseBlocks(r.FalseBlocks)
	w.survivors(r.Survivors)
	if len(r.Unguarded) > 0 {
		w.Line("\nno gate judges the text of: %s", strings.Join(r.Unguarded, ", "))
	}
	for _, l := range r.NotAsked {
		w.Line("not run: %s, %s: %s", l.Phase, l.Gate, l.Reason)
	}
	w.Line("")
	w.Table(legend)
	return out
}

// required returns a case that fails if the caught share is below the minimum.
func required(name, class string, caught Count, least float64) reports.Case {
	c := reports.Case{Name: name, Class: class}
	if least > 0 && !caught.AtLeast(least) {
		c.Status, c.Message = reports.Failed, caught.String()+" caught"+requirement(least)
	}
	return c
}

// findings returns the survivors of one kind in one phase.
func (r *Result) findings(phase string, op Operator, file string, isFile func(string) bool) (list []reports.Finding) {
	for _, s := range r.Survivors {
		if s.Phase != phase || s.Operator != op.Operator || s.Sure != op.Sure {
			continue
		}
		f := reports.Finding{
			Rule: s.Operator, Level: reports.Note, File: file,
			Message: fmt.Sprintf("%s %s %s: %s passes every gate", s.Run, s.Path, s.Place, reports.Name(s.Note)),
		}
		if s.Sure == faults.Always {
			f.Level = reports.Warning
		}
		if isFile(s.Run) {
			f.File, f.Line = s.Run, reports.LineOf(s.Place)
		}
		list = append(list, f)
	}
	return list
}

// A text is the text of a report.
type text struct{ *reports.Text }

func (w text) phase(p Phase) {
	w.Line("\nphase %s: %s", p.Phase, kinds(p.Operators))
	if p.Expect > 0 {
		w.Line("%s faults that are bad for sure caught%s", p.Always, requirement(p.Expect))
	}
	rows := [][]string{{"FAULT", "SURE", "CAUGHT", "BY"}}
	for _, op := range p.Operators {
		var by []string
		for _, g := range p.Gates {
			if n := op.By[g.Gate]; n > 0 {
				by = append(by, fmt.Sprintf("%s %d", g.Gate, n))
			}
		}
		rows = append(rows, []string{op.Operator, string(op.Sure), op.Caught.String(), strings.Join(by, ", ")})
	}
	w.Table(rows)
	rows = [][]string{{"GATE", "MODE", "ALWAYS", "USUALLY", "ALONE"}}
	for _, g := range p.Gates {
		if g.Asked {
			rows = append(rows, []string{reports.Name(g.Gate), g.Mode, g.Always.String(), g.Usually.String(), reports.Cell(g.Only)})
		}
	}
	if len(rows) > 1 {
		w.Table(rows)
	}
	for _, g := range p.Gates {
		if g.Useless() {
			w.Line("%s caught none of them", reports.Name(g.Gate))
		}
	}
}

// kinds returns how many of the kinds of faults that are bad for sure were caught always, in
// part and never.
func kinds(list []Operator) string {
	var always, part, never int
	for _, op := range list {
		switch {
		case op.Sure != faults.Always:
		case op.Caught.K == op.Caught.N:
			always++
		case op.Caught.K == 0:
			never++
		default:
			part++
		}
	}
	return fmt.Sprintf("%s of faults that are bad for sure: %d caught always, %d in part, %d never",
		reports.Count(always+part+never, "kind"), always, part, never)
}

// legend explains the columns of the tables.
var legend = [][]string{
	{"  SURE", "always: the fault makes every text bad; usually: it makes most texts bad"},
	{"  CAUGHT", "faults that a gate rejected, of those planted"},
	{"  ALWAYS, USUALLY", "faults of that kind that the gate rejected"},
	{"  ALONE", "faults that no other gate rejected"},
}

func requirement(least float64) string { return ", at least " + stats.Percent(least) + " required" }

func (w text) falseBlocks(list []FalseBlock) {
	if len(list) == 0 {
		return
	}
	w.Line("\ngood texts that a gate rejects as they are (it did not run on their faults):")
	reports.List(w.Text, list, func(f FalseBlock) {
		reason := f.Reason
		if f.NoVerdict != "" {
			reason = "no verdict: " + f.NoVerdict
		}
		w.Line("  %s %s, %s (%s): %s", reports.Name(f.Run), reports.Name(f.Path), reports.Name(f.Gate), f.Mode, reason)
	})
}

// survivors lists the faults that are always bad, followed by the usually bad faults.
func (w text) survivors(list []Survivor) {
	for _, s := range []struct {
		sure faults.Surety
		head string
	}{{faults.Always, "\npassed every gate, and bad for sure:"}, {faults.Usually, "\npassed every gate, and usually bad:"}} {
		own := slices.DeleteFunc(slices.Clone(list), func(f Survivor) bool { return f.Sure != s.sure })
		if len(own) > 0 {
			w.Line("%s", s.head)
		}
		reports.List(w.Text, own, func(f Survivor) {
			w.Line("  %s %s %s: %s: %s%s", reports.Name(f.Run), reports.Name(f.Path), f.Place, f.Operator, reports.Name(f.Note), remark(f))
			if f.Text != "" {
				w.Line("      %s", f.Text)
			}
		})
	}
}

func remark(f Survivor) string {
	switch {
	case len(f.NoVerdict) > 0:
		return " (no verdict: " + reports.Name(strings.Join(f.NoVerdict, "; ")) + ")"
	case len(f.Advisory) > 0:
		return " (noted by " + strings.Join(f.Advisory, ", ") + ")"
	}
	return ""
}
