package batch

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/runner/engine"
)

var runName = patterns.Lazy(`^(b[0-9a-f]{12})-([0-9]{6,9})(?:\.([0-9]{1,9}))?$`)

// ParseRunID parses a name made by [RunID]. If the run is not part of a batch, the batch is "".
func ParseRunID(run string) (batch string, row, n int) {
	m := runName().FindStringSubmatch(run)
	if m == nil {
		return "", 0, 0
	}
	row, _ = strconv.Atoi(m[2])
	n, err := strconv.Atoi(m[3])
	if err != nil {
		n = 1
	}
	return m[1], row, n
}

// FromRuns returns the result of a batch from its stored runs. A run without an end counts as
// unfinished. Unreadable rows and expectations are not part of it, because only the dataset has
// them. each is called with every outcome in the order of the rows.
func FromRuns(name string, runs []string, find func(id string) (r engine.Result, seconds float64, err error), each func(Outcome)) (Result, error) {
	list, times := []Outcome{}, 1
	for _, id := range runs {
		if batch, row, n := ParseRunID(id); batch == name && batch != "" {
			list, times = append(list, Outcome{Row: row, Time: n, RunID: id}), max(times, n)
		}
	}
	slices.SortFunc(list, func(a, b Outcome) int { return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Time, b.Time)) })
	e := evaluation{tally: newTally(times)}
	for _, o := range list {
		r, seconds, err := find(o.RunID)
		if err != nil {
			return Result{}, err
		}
		o.Seconds = seconds
		o.setResult(r)
		for _, v := range o.Phases {
			if !slices.Contains(e.tally.order, v.Name) {
				e.tally.order = append(e.tally.order, v.Name)
			}
		}
		e.tally.Add(&o)
		e.add(&o)
		each(o)
	}
	e.rowEnds()
	report := e.tally.Result()
	report.Batch = name
	return report, nil
}
