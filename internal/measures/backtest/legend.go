package backtest

import (
	"slices"
)

// columns are the columns of the table of checks, with their meanings and counts.
var columns = []struct {
	word, means string
	of          func(Row) int
}{
	{"SAME", "the verdict would equal the recorded one", func(r Row) int { return r.Counts.Same }},
	{"NOW REJECTS", "it passed the text, and would reject it", func(r Row) int { return r.NowFails }},
	{"NOW PASSES", "it rejected the text, and would pass it", func(r Row) int { return r.NowPasses }},
	{"NEW PASS", "the run has no verdict of it on this text, and it would pass the text", func(r Row) int { return r.NewPass }},
	{"NEW REJECT", "the run has no verdict of it on this text, and it would reject the text", func(r Row) int { return r.NewFail }},
	{"REMOVED", "it ran then, and the cascade no longer has it", func(r Row) int { return r.Removed }},
	{"NO VERDICT", "it ran now and gave no verdict", func(r Row) int { return r.NoVerdict }},
	{"NOT RUN", "it did not run now: --judges runs judges, --run-programs runs programs", func(r Row) int { return r.NotRun }},
	{"SKIPPED", "it ran then and would not run now: a free check rejects the text", func(r Row) int { return r.Skipped }},
}

// endings are the meanings of outcomes.
var endings = []struct {
	fate  Outcome
	means string
}{
	{Released, "its checks passed the text"},
	{Retried, "a check rejected the text, and another attempt followed"},
	{Blocked, "a blocking check ended the run"},
	{Exhausted, "the last attempt was rejected"},
	{Failed, "something broke, or a check gave no verdict"},
	{NotMade, "the run would have ended or continued before it"},
}

// legend explains the words that the report contains.
func (w text) legend(r *Result) {
	var lines [][]string
	for _, c := range columns {
		if slices.ContainsFunc(r.Wards, func(row Row) bool { return c.of(row) > 0 }) {
			lines = append(lines, []string{"  " + c.word, c.means})
		}
	}
	for _, f := range endings {
		if r.CountAfter(f.fate) > 0 || slices.ContainsFunc(r.AttemptChanges, func(m AttemptChange) bool { return m.Before == f.fate || m.After == f.fate }) {
			lines = append(lines, []string{"  " + spaced(f.fate), f.means})
		}
	}
	if r.Saved > 0 {
		lines = append(lines, []string{"  saved", "model calls that the run made and would not make"})
	}
	if r.Added > 0 {
		lines = append(lines, []string{"  added", "model calls that the run did not make and would make, estimated from such attempts"})
	}
	if len(lines) > 0 {
		w.Line("")
		w.Table(lines)
	}
}

// verdict returns an answer for people.
func verdict(a Answer) string {
	switch a {
	case Pass:
		return "passed"
	case Fail:
		return "rejected"
	}
	return string(a)
}
