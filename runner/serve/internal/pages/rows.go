package pages

import (
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/trace"
)

// A phaseRow is a phase in the timeline of a run.
type phaseRow struct {
	Path       event.Path
	Name       string
	Cascade    string
	Status     string
	Started    time.Time
	Tally      *tally // of a phase with each
	Side       int    // how many phases a group has
	Attempts   int
	Turns      int
	Rejections int // verdicts that were a no
	Errors     int // checks that could not say
	Usage      model.Usage
	Took       time.Duration
	Bar        timeBar
	Next       string
	Failing    names  // the checks that said no
	Broken     names  // those that could not say
	Why        string // there is no output, where no check tells
	URL        string
	Body       *phaseView // nil where it is fetched when it is opened
	Again      string     // the address of the form that runs it again from here; "" where it cannot be
	OOB        bool       // it takes the place of itself in a page
}

// names are different ones, in the order in which they came; those behind the third
// are "…".
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

// String is the names as a list.
func (n names) String() string { return strings.Join(n, ", ") }

// A timeBar is a part of a stretch of time, in thousandths.
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

// phaseRows are the phases of a run.
func phaseRows(run *journal.Run, t *trace.Run) []phaseRow {
	rows, end := make([]phaseRow, len(t.Phases)), t.Finished
	if run.Status == journal.Running {
		end = time.Now() // what goes on has gone on since the last event
	}
	for i, p := range t.Phases {
		rows[i] = newPhaseRow(run.RunID, p, t.Started, end)
	}
	return rows
}

// newPhaseRow is a phase in a timeline from start to end.
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
	row.count(p)
	return row
}

// count adds what is in a visit and in its branches, but not in the cascades
// within it.
func (row *phaseRow) count(p *trace.Phase) {
	for _, a := range p.Attempts {
		row.Turns += len(a.Turns)
	}
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
