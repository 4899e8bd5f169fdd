package batch

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/validators/patterns"
)

var runName = patterns.Lazy(`^(b[0-9a-f]{12})-([0-9]{6,9})(?:\.([0-9]{1,9}))?$`)

// Of reads the name of a run, as [RunID] makes it: the batch, the row, and for the
// how-many-th time. The batch is "" where it is no batch's.
func Of(run string) (batch string, row, n int) {
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

// Kept is the report of a batch by the runs of it that are kept, named in any
// order, and one that has not ended as unfinished. What only the set tells is not in
// it: rows that cannot be read or are not begun, and what rows expect. Each outcome
// is told too, in the order of the rows.
func Kept(name string, runs []string, find func(id string) (r runner.Result, seconds float64, err error), told func(Outcome)) (Report, error) {
	list, times := []Outcome{}, 1
	for _, id := range runs {
		if batch, row, n := Of(id); batch == name && batch != "" {
			list, times = append(list, Outcome{Row: row, Time: n, RunID: id}), max(times, n)
		}
	}
	slices.SortFunc(list, func(a, b Outcome) int { return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Time, b.Time)) })
	e := evaluation{tally: newTally(times)}
	for _, o := range list {
		r, seconds, err := find(o.RunID)
		if err != nil {
			return Report{}, err
		}
		o.Seconds = seconds
		o.note(r)
		for _, v := range o.Phases {
			if !slices.Contains(e.tally.order, v.Phase) {
				e.tally.order = append(e.tally.order, v.Phase)
			}
		}
		e.tally.Add(&o)
		e.add(&o)
		told(o)
	}
	e.rowEnds()
	report := e.tally.Report()
	report.Batch = name
	return report, nil
}
