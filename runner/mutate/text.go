package mutate

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/validators/faults"
)

// shown bounds the survivors and refused texts that a text lists; JSON, JUnit and
// SARIF have them all.
const shown = 50

// Text writes the report for a person.
func (r *Report) Text(out io.Writer) error {
	w := &text{out: out}
	w.line("%s of cascade %s, %s, seed %d", count(r.Texts, "good text"), r.CascadeID, count(r.Planted, "planted fault"), r.Seed)
	for _, p := range r.Phases {
		w.phase(p)
	}
	w.refused(r.Refused)
	w.survivors(r.Survivors)
	if len(r.Unguarded) > 0 {
		w.line("\nno gate judges the text of: %s", strings.Join(r.Unguarded, ", "))
	}
	for _, l := range r.LeftOut {
		w.line("not asked: %s, %s: %s", l.Phase, l.Gate, l.Why)
	}
	w.line("\nbad for sure: %s caught", r.Always)
	if r.Usually.Known() {
		w.line("usually bad:  %s caught", r.Usually)
	}
	return w.err
}

type text struct {
	out io.Writer
	err error
}

func (w *text) line(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, format+"\n", args...)
	}
}

func (w *text) table(rows [][]string) {
	if w.err != nil {
		return
	}
	t := tabwriter.NewWriter(w.out, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	w.err = t.Flush()
}

func (w *text) phase(p Phase) {
	w.line("\nphase %s: %s caught%s", p.Phase, p.Always, asked(p.Expect))
	rows := [][]string{{"FAULT", "SURE", "CAUGHT", "BY"}}
	for _, op := range p.Operators {
		var by []string
		for _, g := range p.Gates {
			if n := op.By[g.Gate]; n > 0 {
				by = append(by, fmt.Sprintf("%s %d", g.Gate, n))
			}
		}
		rows = append(rows, []string{op.Operator, string(op.Sure), fmt.Sprintf("%d of %d", op.Caught.K, op.Caught.N), strings.Join(by, ", ")})
	}
	w.table(rows)
	rows = [][]string{{"GATE", "MODE", "ALWAYS", "USUALLY", "ALONE"}}
	for _, g := range p.Gates {
		if g.Asked {
			rows = append(rows, []string{clean(g.Gate), g.Mode, g.Always.String(), g.Usually.String(), number(g.Only)})
		}
	}
	if len(rows) > 1 {
		w.table(rows)
	}
	for _, g := range p.Gates {
		if g.Useless() {
			w.line("%s has caught none of them", clean(g.Gate))
		}
	}
}

func asked(least float64) string {
	if least == 0 {
		return ""
	}
	return ", " + measure.Percent(least) + " asked for"
}

func (w *text) refused(list []Refused) {
	if len(list) == 0 {
		return
	}
	w.line("\ngood texts that a gate does not let by as they are, and was not asked about again:")
	for _, f := range list[:min(len(list), shown)] {
		why := f.Reason
		if f.Unsaid != "" {
			why = "could not say: " + f.Unsaid
		}
		w.line("  %s %s, %s (%s): %s", clean(f.Run), clean(f.Path), clean(f.Gate), f.Mode, why)
	}
	w.more(len(list))
}

// survivors lists those that are bad for sure first.
func (w *text) survivors(list []Survivor) {
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
				w.line("%s", head)
				head = ""
			}
			left--
			w.line("  %s %s %s: %s: %s%s", clean(f.Run), clean(f.Path), f.Place, f.Operator, clean(f.Note), noted(f))
			if f.Text != "" {
				w.line("      %s", f.Text)
			}
		}
	}
	w.more(len(list))
}

func noted(f Survivor) string {
	switch {
	case len(f.Unsaid) > 0:
		return " (could not say: " + clean(strings.Join(f.Unsaid, "; ")) + ")"
	case len(f.Noted) > 0:
		return " (noted by " + strings.Join(f.Noted, ", ") + ")"
	}
	return ""
}

func (w *text) more(n int) {
	if n > shown {
		w.line("  and %d more", n-shown)
	}
}

func number(n int) string {
	if n == 0 {
		return "·"
	}
	return fmt.Sprint(n)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
