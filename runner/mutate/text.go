package mutate

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/reports"
	"github.com/seed61713e19/capstan/validators/faults"
)

// shown bounds the survivors and refused texts that a text lists; JSON, JUnit and
// SARIF have them all.
const shown = 50

// Text writes the report for a person.
func (r *Report) Text(out io.Writer) error {
	w := text{reports.To(out)}
	w.Line("%s of cascade %s, %s, seed %d", reports.Count(r.Texts, "good text"), r.CascadeID, reports.Count(r.Planted, "planted fault"), r.Seed)
	for _, p := range r.Phases {
		w.phase(p)
	}
	w.refused(r.Refused)
	w.survivors(r.Survivors)
	if len(r.Unguarded) > 0 {
		w.Line("\nno gate judges the text of: %s", strings.Join(r.Unguarded, ", "))
	}
	for _, l := range r.LeftOut {
		w.Line("not run: %s, %s: %s", l.Phase, l.Gate, l.Why)
	}
	w.legend()
	return w.Err()
}

// A text is the report as a person reads it.
type text struct{ *reports.Report }

func (w text) phase(p Phase) {
	w.Line("\nphase %s: %s", p.Phase, kinds(p.Operators))
	if p.Expect > 0 {
		w.Line("%s faults that are bad for sure caught%s", p.Always, asked(p.Expect))
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
			rows = append(rows, []string{clean(g.Gate), g.Mode, g.Always.String(), g.Usually.String(), reports.Cell(g.Only)})
		}
	}
	if len(rows) > 1 {
		w.Table(rows)
	}
	for _, g := range p.Gates {
		if g.Useless() {
			w.Line("%s caught none of them", clean(g.Gate))
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
func (w text) legend() {
	w.Line("")
	w.Table([][]string{
		{"  SURE", "always: the fault makes every text bad; usually: it makes most texts bad"},
		{"  CAUGHT", "faults that a gate rejected, of those planted"},
		{"  ALWAYS, USUALLY", "faults of that kind that the gate rejected"},
		{"  ALONE", "faults that no other gate rejected"},
	})
}

func asked(least float64) string {
	if least == 0 {
		return ""
	}
	return ", at least " + measure.Percent(least) + " required"
}

func (w text) refused(list []Refused) {
	if len(list) == 0 {
		return
	}
	w.Line("\ngood texts that a gate rejects as they are (it did not run on their faults):")
	for _, f := range list[:min(len(list), shown)] {
		why := f.Reason
		if f.Unsaid != "" {
			why = "no verdict: " + f.Unsaid
		}
		w.Line("  %s %s, %s (%s): %s", clean(f.Run), clean(f.Path), clean(f.Gate), f.Mode, why)
	}
	w.more(len(list))
}

// survivors lists those that are bad for sure first.
func (w text) survivors(list []Survivor) {
	left := shown
	for _, s := range []struct {
		sure faults.Surety
		head string
	}{{faults.Always, "\npassed every gate, and bad for sure:"}, {faults.Usually, "\npassed every gate, and usually bad:"}} {
		head := s.head
		for _, f := range list {
			if f.Sure != s.sure || left == 0 {
				continue
			}
			if head != "" {
				w.Line("%s", head)
				head = ""
			}
			left--
			w.Line("  %s %s %s: %s: %s%s", clean(f.Run), clean(f.Path), f.Place, f.Operator, clean(f.Note), noted(f))
			if f.Text != "" {
				w.Line("      %s", f.Text)
			}
		}
	}
	w.more(len(list))
}

func noted(f Survivor) string {
	switch {
	case len(f.Unsaid) > 0:
		return " (no verdict: " + clean(strings.Join(f.Unsaid, "; ")) + ")"
	case len(f.Noted) > 0:
		return " (noted by " + strings.Join(f.Noted, ", ") + ")"
	}
	return ""
}

func (w text) more(n int) {
	if n > shown {
		w.Line("  and %d more", n-shown)
	}
}
