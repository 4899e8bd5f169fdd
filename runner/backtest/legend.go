package backtest

import "slices"

// columns are the words above the table of checks, each with what it means and
// how often a check came to it.
var columns = []struct {
	word, means string
	of          func(Row) int
}{
	{"SAME", "the verdict would be the one that was recorded", func(r Row) int { return r.Counts.Same }},
	{"TO NO", "it said yes, and would say no", func(r Row) int { return r.ToNo }},
	{"TO YES", "it said no, and would say yes", func(r Row) int { return r.ToYes }},
	{"NEW YES", "there was no verdict of it on this text, and it would say yes", func(r Row) int { return r.NewYes }},
	{"NEW NO", "there was no verdict of it on this text, and it would say no", func(r Row) int { return r.NewNo }},
	{"GONE", "it was asked then, and the cascade does not have it any more", func(r Row) int { return r.Gone }},
	{"UNSAID", "it was asked now and could not say", func(r Row) int { return r.Unsaid }},
	{"NOT RUN", "it was not asked now: judges are with --judges, programs with --run-programs", func(r Row) int { return r.NotRun }},
	{"SKIPPED", "it was asked then and would not be: a free check refuses the text", func(r Row) int { return r.Spared }},
}

// endings say in words what became of an attempt, or would have.
var endings = []struct {
	fate  Fate
	means string
}{
	{Released, "its checks let the text pass"},
	{Retried, "the text was sent back, and another attempt made"},
	{Blocked, "a blocking check ended the run"},
	{Exhausted, "no attempt was left after the last no"},
	{Failed, "something broke, or a check could not say"},
	{NotMade, "the run would have ended, or gone on, before it"},
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
		lines = append(lines, []string{"  saved", "calls of models that were made and would not have been"})
	}
	if r.Added > 0 {
		lines = append(lines, []string{"  added", "calls of models that were not made and would have been, as many as such attempts took"})
	}
	if len(lines) > 0 {
		w.Line("")
		w.Table(lines)
	}
}
