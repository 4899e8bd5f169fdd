package backtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/wards"
)

// Report returns the result in every format. The text has the checks as a table, then the
// changed verdicts and attempts. In JUnit, an unchanged check passes, each changed verdict
// and attempt fails, and a check without a verdict is an error.
func (r *Result) Report() *reports.Report {
	out := &reports.Report{Name: "backtest " + r.CascadeID, Data: r, Cases: r.cases()}
	if r.Runs == 0 {
		out.Text.Line("no recorded run of cascade %s%s", r.CascadeID, aside(r.OtherRuns > 0, " (%d of other cascades)", r.OtherRuns))
		return out
	}
	w := text{&out.Text}
	w.Line("%s, %s of cascade %s", reports.Count(r.Runs, "run"), reports.Count(r.Attempts, "attempt"), r.CascadeID)
	if r.UnknownVisits > 0 {
		w.Line("%s", r.leftOut())
	}
	w.wards(r.Wards)
	w.changes(r)
	w.attemptChanges(r.AttemptChanges)
	w.Line("\nchanged attempts: %d released, %d retried, %d blocked, %d exhausted, %d failed, %d not made",
		r.CountAfter(Released), r.CountAfter(Retried), r.CountAfter(Blocked), r.CountAfter(Exhausted), r.CountAfter(Failed), r.CountAfter(NotMade))
	w.Line("model calls: %d saved, at least %d added", r.Saved, r.Added)
	if r.Verdicts.NotRun > 0 {
		w.Line("%s missing: a check that did not run counts with its recorded verdict, or else as passed", reports.Count(r.Verdicts.NotRun, "verdict"))
	}
	if r.Usage.Calls > 0 {
		w.Line("judges ran %s", reports.Count(r.Usage.Calls, "time"))
	}
	w.legend(r)
	return out
}

func (r *Result) cases() []reports.Case {
	var list []reports.Case
	for _, row := range r.Wards {
		if row.Changed() == 0 && row.NoVerdict == 0 {
			list = append(list, reports.Case{Name: name(row.Moment, row.Validator), Class: place{row.Cascade, row.Phase}.String()})
		}
	}
	if r.UnknownVisits > 0 {
		list = append(list, reports.Case{Name: r.leftOut(), Class: r.CascadeID})
	}
	status := map[Kind]reports.Status{NoVerdict: reports.Broken, NowFails: reports.Failed, NowPasses: reports.Failed}
	for _, c := range r.Changes {
		if s, fails := status[c.Kind]; fails {
			list = append(list, reports.Case{
				Name: fmt.Sprintf("%s %s %s", c.Run, c.Path, name(c.Moment, c.Validator)), Class: place{c.Cascade, c.Phase}.String(),
				Status: s, Message: transition(c) + ": " + c.AfterReason, Detail: c.Text,
			})
		}
	}
	for _, m := range r.AttemptChanges {
		list = append(list, reports.Case{
			Name: fmt.Sprintf("%s %s", m.Run, m.Path), Class: place{m.Cascade, m.Phase}.String(), Status: reports.Failed,
			Message: fmt.Sprintf("was %s, would be %s%s", m.Before, m.After, aside(m.By != "", " by %s: %s", m.By, m.Reason)), Detail: m.Text,
		})
	}
	return list
}

// leftOut describes the visits that were not compared.
func (r *Result) leftOut() string {
	return reports.Count(r.UnknownVisits, "visit") + " left out: the cascade has no such phase now, or their inputs are unknown"
}

// A text is the text of a report.
type text struct{ *reports.Text }

func (w text) wards(rows []Row) {
	if len(rows) == 0 {
		return
	}
	w.Line("")
	shown := columns
	if !slices.ContainsFunc(rows, func(r Row) bool { return r.Skipped > 0 }) {
		shown = shown[:len(shown)-1]
	}
	lines := [][]string{{"CHECK", "MODE"}}
	for _, c := range shown {
		lines[0] = append(lines[0], c.word)
	}
	for _, r := range rows {
		line := []string{reports.Name(place{r.Cascade, r.Phase}.String() + " " + strings.TrimSpace(name(r.Moment, r.Validator)+" "+r.Expr)), r.Mode}
		for _, c := range shown {
			line = append(line, reports.Cell(c.of(r)))
		}
		lines = append(lines, line)
	}
	w.Table(lines)
}

// name is a check as a line shows it, such as "post grammar_check".
func name(moment, validator string) string {
	return (&wards.Ward{Name: validator, Moment: wards.Moment(moment)}).String()
}

func (w text) changes(r *Result) {
	if len(r.Changes) == 0 {
		return
	}
	exprs := map[row]string{}
	for _, one := range r.Wards {
		exprs[row{place{one.Cascade, one.Phase}, one.Moment, one.Validator}] = one.Expr
	}
	w.Line("")
	reports.List(w.Text, r.Changes, func(c Change) {
		expr := exprs[row{place{c.Cascade, c.Phase}, c.Moment, c.Validator}]
		w.Line("%s %s %s: %s", reports.Name(c.Run), reports.Name(c.Path), reports.Name(strings.TrimSpace(name(c.Moment, c.Validator)+" "+expr)), transition(c))
		if reason := reports.Fit(c.AfterReason, 200); reason != "" {
			w.Line("    %s", reason)
		}
		if c.Text != "" {
			w.Line("    text: %s", c.Text)
		}
	})
}

func transition(c Change) string {
	switch c.Kind {
	case NoVerdict:
		return "no verdict"
	case New:
		return "new, " + verdict(c.After)
	default:
		return verdict(c.Before) + " → " + verdict(c.After)
	}
}

func (w text) attemptChanges(list []AttemptChange) {
	if len(list) == 0 {
		return
	}
	w.Line("")
	reports.List(w.Text, list, func(m AttemptChange) {
		w.Line("%s %s: was %s, would be %s%s%s%s", reports.Name(m.Run), reports.Name(m.Path), spaced(m.Before), spaced(m.After),
			aside(m.By != "", " by %s", reports.Name(m.By)), aside(m.Saved > 0, ", saves %s", reports.Count(m.Saved, "call")), aside(m.Added > 0, ", adds at least %d", m.Added))
	})
}

// aside formats a remark. It returns "" if made is false.
func aside(reached bool, format string, args ...any) string {
	if !reached {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// spaced is a fate as people read it.
func spaced(f Outcome) string { return strings.ReplaceAll(string(f), "_", " ") }
