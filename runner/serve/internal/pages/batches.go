package pages

import (
	"net/http"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/batch"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

// A batchesView is what one batch came to, or which there are.
type batchesView struct {
	frame
	Batch  string
	Report *batch.Report // nil where none is chosen
	Not    []batch.Outcome
	More   int // rows without an output that are not listed
	Rows   []batchRow
}

// A batchRow is a batch in the list.
type batchRow struct {
	Name, Cascade string
	Runs          int
	Started       time.Time // of its newest run
}

// The list of batches is made of so many of the newest runs; so many rows without
// an output have a line each.
const (
	maxListed = 20_000
	maxNot    = 100
)

func (s *Site) batchesPage(w http.ResponseWriter, r *http.Request) error {
	v := batchesView{frame: s.frame("Batches", "batches"), Batch: r.URL.Query().Get("batch")}
	f := journal.Filter{Limit: maxListed}
	if v.Batch != "" {
		f = journal.Filter{Text: v.Batch + "-"}
	}
	runs, err := s.o.Store.Runs(r.Context(), f)
	if err != nil {
		return err
	}
	if v.Batch == "" {
		v.Rows = batchesOf(runs)
		return s.render(w, http.StatusOK, "batches", v)
	}
	took, names := map[string]time.Duration{}, []string{}
	for _, run := range runs {
		if name, _, _ := batch.Of(run.RunID); name == v.Batch {
			names, took[run.RunID] = append(names, run.RunID), newRunRow(run).Took
		}
	}
	if len(names) == 0 {
		return orders.NewProblem(http.StatusNotFound, "not_found", "no run of batch "+v.Batch+" is kept")
	}
	report, err := batch.Kept(v.Batch, names, func(id string) (runner.Result, float64, error) {
		result, err := s.o.Store.Result(r.Context(), id)
		return result, took[id].Seconds(), err
	}, v.told)
	if err != nil {
		return err
	}
	v.Report, report.CascadeID = &report, runs[0].CascadeID
	return s.render(w, http.StatusOK, "batches", v)
}

// told keeps what has no output.
func (v *batchesView) told(o batch.Outcome) {
	switch {
	case o.Status == runner.Succeeded:
	case len(v.Not) == maxNot:
		v.More++
	default:
		o.Output, o.Verdicts, o.Phases = nil, nil, nil
		v.Not = append(v.Not, o)
	}
}

// batchesOf are those that the runs are of, the newest first.
func batchesOf(runs []journal.Summary) (list []batchRow) {
	at := map[string]int{}
	for _, run := range runs {
		name, _, _ := batch.Of(run.RunID)
		if name == "" {
			continue
		}
		i, known := at[name]
		if !known {
			i, at[name] = len(list), len(list)
			list = append(list, batchRow{Name: name, Cascade: run.CascadeID, Started: run.Started})
		}
		list[i].Runs++
	}
	return list
}
