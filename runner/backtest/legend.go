package backtest

import "slices"

// columns are the words above the table of checks, each with what it means and
// how often a check came to it.
var columns = []struct {
	word, means string
	of          func(Row) int
}{
	{"SAME", "the verdict would equal the recorded one", func(r Row) int { return r.Counts.Same }},
	{"NOW REJECTS", "it passed the text, and would reject it", func(r Row) int { return r.ToNo }},
	{"NOW PASSES", "it rejected the text, and would pass it", func(r Row) int { return r.ToYes }},
	{"NEW PASS", "the run has no verdict of it on this text, and it would pass the text", func(r Row) int { return r.NewYes }},
	{"NEW REJECT", "the run has no verdict of it on this text, and it would reject the text", func(r Row) int { return r.NewNo }},
	{"REMOVED", "it ran then, and the cascade no longer has it", func(r Row) int { return r.Gone }},
	{"NO VERDICT", "it ran now and gave no verdict", func(r Row) int { return r.Unsaid }},
	{"NOT RUN", "it did not run now: --judges runs judges, --run-programs runs programs", func(r Row) int { return r.NotRun }},
	{"SKIPPED", "it ran then and would not run now: a free check rejects the text", func(r Row) int { return r.Spared }},
}

// endings explain what became of an attempt, or would have.
var endings = []struct {
	fate  Fate
	means string
}{
	{Released, "its checks passed the text"},
	{Retried, "a check rejected the text, and another attempt followed"},
	{Blocked, "a blocking check ended the run"},
	{Exhausted, "the last attempt was rejected"},
	{Failed, "something broke, or a check gave no verdict"},
	{NotMade, "the run would have ended or continued before it"},
}

// legend explains the words that the text has used, and no other.
func (w text) legend(r *Report) {
	var lines [][]string
	for _, c := range columns {
		if slices.ContainsFunc(r.Wards, func(row Row) bool { return c.of(row) > 0 }) {
			lines = append(lines, []string{"  " + c.word, c.means})
		}
	}
	for _, f := range endings {
		if r.Would(f.fate) > 0 || slices.ContainsFunc(r.Moves, func(m Move) bool { return m.Was == f.fate || m.Would == f.fate }) {
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

// verdict is a recorded or new verdict as people read it.
func verdict(said Answer) string {
	switch said {
	case Yes:
		return "passed"
	case No:
		return "rejected"
	}
	return string(said)
}
