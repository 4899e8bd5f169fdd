package pages

import (
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

// A phaseRow is a phase in the timeline of a run.
type phaseRow struct {
	Path       event.Path
	Name       string
	Cascade    string
	Status     string
	Started    time.Time
	Tally      *tally // nil unless the phase is a fan-out
	Side       int    // number of phases of a group
	Attempts   int
	Turns      int
	Rejections int // failed verdicts
	Errors     int // checks without a verdict
	Usage      model.Usage
	Took       time.Duration
	Bar        timeBar
	Next       string
	Failing    names  // the checks that failed
	Broken     names  // the checks without a verdict
	Reason     string // the reason of a failed item without a failed check
	URL        string
	Body       *phaseView // nil if the page loads it later
	Again      string     // the address of the form that repeats the run from here; "" if there is none
	OOB        bool       // replaces the same row of the page
}

// names has at most three different names, and "…" instead of further names.
type names []string

func (n *names) add(name string) {
	switch {
	case slices.Contains(*n, name) || len(*n) > 3:
	case len(*n) == 3:
		*n = append(*n, "…")
	default:
		*n = append(*n, name)
	}
}

func (n names) String() string { return strings.Join(n, ", ") }

// A timeBar is a part of a period, in thousandths.
type timeBar struct{ From, Width float64 }

func newBar(from, to, start, end time.Time) timeBar {
	whole := float64(end.Sub(start))
	if whole <= 0 {
		return timeBar{0, 1000}
	}
	if to.IsZero() {
		to = end
	}
	b := timeBar{1000 * float64(from.Sub(start)) / whole, 1000 * float64(to.Sub(from)) / whole}
	b.From = max(0, min(b.From, 998))
	b.Width = max(2, min(b.Width, 1000-b.From))
	return b
}

// phaseRows returns the rows of a run's phases.
func phaseRows(run *journal.Run, t *trace.Run) []phaseRow {
	rows, end := make([]phaseRow, len(t.Phases)), t.Finished
	if run.Status == journal.Running {
		end = time.Now() // phases that run have lasted longer than to the last event
	}
	for i, p := range t.Phases {
		rows[i] = newPhaseRow(run.RunID, p, t.Started, end)
	}
	return rows
}

// newPhaseRow returns the row of a phase in a timeline from start to end.
func newPhaseRow(run string, p *trace.Phase, start, end time.Time) phaseRow {
	row := phaseRow{
		Path: p.Path, Name: rowName(p), Cascade: p.Cascade, Status: p.Status, Started: p.Started, Attempts: len(p.Attempts), Usage: p.Usage(),
		Took: p.Took(), Bar: newBar(p.Started, p.Finished, start, end), Next: p.Next,
		URL: phaseLink(run, p.Path),
	}
	if p.Items > 0 || len(p.Branches) > 0 && p.Branches[0].Item >= 0 {
		row.Tally = new(newTally(p))
	} else {
		row.Side = len(p.Branches)
	}
	_, row.Turns = p.Counts()
	row.count(p)
	return row
}

// count adds the verdicts of a phase and its branches, without inner cascades.
func (row *phaseRow) count(p *trace.Phase) {
	p.Visit(trace.Visitor{Verdict: func(v *trace.Verdict) {
		switch {
		case v.Skipped():
		case v.Valid == nil:
			row.Errors++
			row.Broken.add(v.Validator)
		case !*v.Valid:
			row.Rejections++
			row.Failing.add(v.Validator)
		}
	}})
	for _, b := range p.Branches {
		row.count(b)
	}
}
