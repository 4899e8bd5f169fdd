package pages

import (
	"net/http"
	"time"

	"github.com/seed61713e19/capstan/internal/measures/batch"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// A batchesView is the result of one batch, or the list of batches.
type batchesView struct {
	frame
	Batch  string
	Report *batch.Result // nil in the list of batches
	Failed []batch.Outcome
	More   int // failed rows that are not listed
	Rows   []batchRow
}

type batchRow struct {
	Name, Cascade string
	Runs          int
	Started       time.Time // of its newest run
}

// maxListed is the number of newest runs that the list of batches reads. maxFailed is the
// maximum number of failed rows on a page.
const (
	maxListed = 20_000
	maxFailed = 100
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
		if name, _, _ := batch.ParseRunID(run.RunID); name == v.Batch {
			names, took[run.RunID] = append(names, run.RunID), newRunRow(run).Took
		}
	}
	if len(names) == 0 {
		return orders.NewProblem(http.StatusNotFound, "not_found", "no run of batch "+v.Batch+" is kept")
	}
	report, err := batch.FromRuns(v.Batch, names, func(id string) (engine.Result, float64, error) {
		result, err := s.o.Store.Result(r.Context(), id)
		return result, took[id].Seconds(), err
	}, v.addFailed)
	if err != nil {
		return err
	}
	v.Report, report.CascadeID = &report, runs[0].CascadeID
	return s.render(w, http.StatusOK, "batches", v)
}

// addFailed adds a row without an output.
func (v *batchesView) addFailed(o batch.Outcome) {
	switch {
	case o.Status == engine.Succeeded:
	case len(v.Failed) == maxFailed:
		v.More++
	default:
		o.Output, o.Verdicts, o.Phases = nil, nil, nil
		v.Failed = append(v.Failed, o)
	}
}

// batchesOf returns the batches of runs, the newest first.
func batchesOf(runs []journal.Summary) (list []batchRow) {
	at := map[string]int{}
	for _, run := range runs {
		name, _, _ := batch.ParseRunID(run.RunID)
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
