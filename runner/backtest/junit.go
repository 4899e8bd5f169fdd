package backtest

import (
	"fmt"
	"io"

	"github.com/seed61713e19/capstan/runner/junit"
)

// JUnit writes the report for a CI server: a passed case for each check that has
// nothing to tell, a failure for each verdict that turned and for each attempt
// that would have fared otherwise, an error for each that could not be said. A
// new check's no fails by what it would have done. A passed case tells how many
// visits were not looked at.
func (r *Report) JUnit(out io.Writer) error {
	s := junit.Suite{Name: "backtest " + r.CascadeID}
	for _, row := range r.Wards {
		if row.Flips() == 0 && row.Unsaid == 0 {
			s.Cases = append(s.Cases, junit.Case{Name: name(row.Moment, row.Validator), Class: place{row.Cascade, row.Phase}.String()})
		}
	}
	if r.Strange > 0 {
		s.Cases = append(s.Cases, junit.Case{Name: r.unseen(), Class: r.CascadeID})
	}
	for _, c := range r.Changes {
		t := junit.Case{Name: fmt.Sprintf("%s %s %s", c.Run, c.Path, name(c.Moment, c.Validator)), Class: place{c.Cascade, c.Phase}.String()}
		what := &junit.Why{Message: turned(c) + ": " + c.NowReason, Text: c.Text}
		switch c.Kind {
		case Unsaid:
			t.Error = what
		case ToNo, ToYes:
			t.Failure = what
		default:
			continue
		}
		s.Cases = append(s.Cases, t)
	}
	for _, m := range r.Moves {
		s.Cases = append(s.Cases, junit.Case{
			Name: fmt.Sprintf("%s %s", m.Run, m.Path), Class: place{m.Cascade, m.Phase}.String(),
			Failure: &junit.Why{Message: fmt.Sprintf("was %s, would be %s%s", m.Was, m.Would, aside(m.By != "", " by %s: %s", m.By, m.Reason)), Text: m.Text},
		})
	}
	return s.Write(out)
}
