package backtest

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/reports"
	"github.com/seed61713e19/capstan/validators"
)

// shownRows bounds the changes and the attempts that a text lists; JSON and
// JUnit have them all.
const shownRows = 50

// Text writes the report for a person: the checks as a table, then what turned
// and which attempts would have fared otherwise.
func (r *Report) Text(out io.Writer) error {
	w := text{reports.To(out)}
	if r.Runs == 0 {
		w.Line("no recorded run of cascade %s%s", r.CascadeID, aside(r.Others > 0, " (%d of other cascades)", r.Others))
		return w.Err()
	}
	w.Line("%s, %s of cascade %s", reports.Count(r.Runs, "run"), reports.Count(r.Attempts, "attempt"), r.CascadeID)
	if r.Strange > 0 {
		w.Line("%s", r.unseen())
	}
	w.wards(r.Wards)
	w.changes(r)
	w.moves(r.Moves)
	w.Line("\nchanged attempts: %d released, %d retried, %d blocked, %d exhausted, %d failed, %d not made",
		r.Would(Released), r.Would(Retried), r.Would(Blocked), r.Would(Exhausted), r.Would(Failed), r.Would(NotMade))
	w.Line("model calls: %d saved, at least %d added", r.Saved, r.Added)
	if r.Verdicts.NotRun > 0 {
		w.Line("%s missing: a check that did not run counts with its recorded verdict, or else as passed", reports.Count(r.Verdicts.NotRun, "verdict"))
	}
	if r.Usage.Calls > 0 {
		w.Line("judges ran %s", reports.Count(r.Usage.Calls, "time"))
	}
	w.legend(r)
	return w.Err()
}

// unseen tells of the visits that were not looked at.
func (r *Report) unseen() string {
	return reports.Count(r.Strange, "visit") + " left out: the cascade has no such phase now, or their inputs are unknown"
}

// A text is the report as a person reads it.
type text struct{ *reports.Report }

func (w text) wards(rows []Row) {
	if len(rows) == 0 {
		return
	}
	w.Line("")
	shown := columns
	if !slices.ContainsFunc(rows, func(r Row) bool { return r.Spared > 0 }) {
		shown = shown[:len(shown)-1]
	}
	lines := [][]string{{"CHECK", "MODE"}}
	for _, c := range shown {
		lines[0] = append(lines[0], c.word)
	}
	for _, r := range rows {
		line := []string{clean(place{r.Cascade, r.Phase}.String() + " " + strings.TrimSpace(name(r.Moment, r.Validator)+" "+r.Expr)), r.Mode}
		for _, c := range shown {
			line = append(line, reports.Cell(c.of(r)))
		}
		lines = append(lines, line)
	}
	w.Table(lines)
}

// name is a check as it is called in a line: post grammar_check.
func name(moment, validator string) string {
	if moment == validator {
		return moment
	}
	return moment + " " + validator
}

func (w text) changes(r *Report) {
	list := r.Changes
	if len(list) == 0 {
		return
	}
	exprs := map[row]string{}
	for _, one := range r.Wards {
		exprs[row{place{one.Cascade, one.Phase}, one.Moment, one.Validator}] = one.Expr
	}
	w.Line("")
	for _, c := range list[:min(len(list), shownRows)] {
		expr := exprs[row{place{c.Cascade, c.Phase}, c.Moment, c.Validator}]
		w.Line("%s %s %s: %s", clean(c.Run), clean(c.Path), clean(strings.TrimSpace(name(c.Moment, c.Validator)+" "+expr)), turned(c))
		if reason := validators.OneLine(c.NowReason, 200); reason != "" {
			w.Line("    %s", reason)
		}
		if c.Text != "" {
			w.Line("    text: %s", c.Text)
		}
	}
	w.more(len(list))
}

func turned(c Change) string {
	switch c.Kind {
	case Unsaid:
		return "no verdict"
	case New:
		return "new, " + verdict(c.Now)
	default:
		return verdict(c.Was) + " → " + verdict(c.Now)
	}
}

func (w text) moves(list []Move) {
	if len(list) == 0 {
		return
	}
	w.Line("")
	for _, m := range list[:min(len(list), shownRows)] {
		w.Line("%s %s: was %s, would be %s%s%s%s", clean(m.Run), clean(m.Path), spaced(m.Was), spaced(m.Would),
			aside(m.By != "", " by %s", clean(m.By)), aside(m.Saved > 0, ", saves %s", reports.Count(m.Saved, "call")), aside(m.Added > 0, ", adds at least %d", m.Added))
	}
	w.more(len(list))
}

func (w text) more(n int) {
	if n > shownRows {
		w.Line("and %d more", n-shownRows)
	}
}

// aside is a remark, where there is one to make.
func aside(made bool, format string, args ...any) string {
	if !made {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// spaced is a fate as it is read.
func spaced(f Fate) string { return strings.ReplaceAll(string(f), "_", " ") }
