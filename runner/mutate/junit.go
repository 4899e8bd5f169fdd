package mutate

import (
	"fmt"
	"io"

	"github.com/seed61713e19/capstan/runner/junit"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/faults"
)

// clean makes one line of a foreign text.
func clean(s string) string { return validators.OneLine(s, 300) }

// JUnit writes the report for a CI server: a case for each kind of fault that is
// bad for sure, which fails where the share caught is below least, with its
// survivors; and one for each phase that catches less than its file asks for, and
// for the whole.
func (r *Report) JUnit(out io.Writer, least float64) error {
	s := junit.Suite{Name: "mutate " + r.CascadeID}
	for _, p := range r.Phases {
		for _, op := range p.Operators {
			if op.Sure != faults.Always {
				continue
			}
			c := junit.Case{Name: op.Operator, Class: p.Phase}
			if !op.Caught.AtLeast(least) {
				c.Failure = &junit.Why{Message: op.Caught.String() + " caught", Text: r.listed(p.Phase, op.Operator)}
			}
			s.Cases = append(s.Cases, c)
		}
		if p.Expect > 0 {
			c := junit.Case{Name: "expect", Class: p.Phase}
			if !p.Always.AtLeast(p.Expect) {
				c.Failure = &junit.Why{Message: p.Always.String() + " caught" + asked(p.Expect)}
			}
			s.Cases = append(s.Cases, c)
		}
	}
	whole := junit.Case{Name: "all", Class: r.CascadeID}
	if r.Below(least) && least > 0 {
		whole.Failure = &junit.Why{Message: r.Always.String() + " caught" + asked(least)}
	}
	s.Cases = append(s.Cases, whole)
	return s.Write(out)
}

// listed are the survivors of one kind in one phase.
func (r *Report) listed(phase, operator string) string {
	text := ""
	for _, f := range r.Survivors {
		if f.Phase == phase && f.Operator == operator && f.Sure == faults.Always {
			text += fmt.Sprintf("%s %s %s: %s\n", f.Run, f.Path, f.Place, clean(f.Note))
		}
	}
	return text
}
