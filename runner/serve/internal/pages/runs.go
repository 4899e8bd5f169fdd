package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

// A runsView is the list of runs.
type runsView struct {
	frame
	Filter   url.Values
	Statuses []string
	Filtered bool
	Rows     []runRow
	Next     string // the address of the rest of the list; "" at its end
	First    string // that of its beginning; "" there
	Live     bool
	Cascades []string
	Base     string // where the API is
	CanStart bool
	Labels   bool // there are cascades whose labels can be asked for
}

// A runRow is a run in a list.
type runRow struct {
	journal.Summary
	URL  string
	Took time.Duration
}

// Running tells whether the run goes on.
func (r runRow) Running() bool { return r.Status == journal.Running }

// perPage is how many runs a page lists.
const perPage = 100

func (s *Site) runsPage(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	f, err := api.RunFilter(q, perPage)
	if err != nil {
		return err
	}
	f.Limit++
	if f.Among, err = s.labelled(r.Context(), q.Get("label"), f); err != nil {
		return err
	}
	runs, err := s.o.Store.Runs(r.Context(), f)
	if err != nil {
		return err
	}
	v := runsView{frame: s.frame("Runs", "runs"), Filter: q, Statuses: orders.Statuses, Live: f.Before == "" && f.Words == "" && f.Among == nil, Cascades: s.o.Cascades, Base: "http://" + r.Host}
	v.CanStart = s.o.Desk.Open() == nil && len(s.o.Cascades) > 0
	v.Labels = s.o.Scales != nil && len(s.o.Cascades) > 0
	v.Filtered = f.Status != "" || f.Cascade != "" || f.Text != "" || f.Words != "" || f.Among != nil || !f.Since.IsZero() || !f.Until.IsZero()
	if len(runs) == f.Limit {
		runs = runs[:f.Limit-1]
		v.Next = listAddress(q, runs[len(runs)-1].RunID)
	}
	if f.Before != "" {
		v.First = listAddress(q, "")
	}
	for _, run := range runs {
		v.Rows = append(v.Rows, newRunRow(run))
	}
	return s.renderPart(w, r, http.StatusOK, "runs", v)
}

func newRunRow(s journal.Summary) runRow {
	row := runRow{Summary: s, URL: runLink(s.RunID)}
	switch {
	case s.Finished != nil:
		row.Took = s.Finished.Sub(s.Started)
	case s.Status == journal.Running:
		row.Took = time.Since(s.Started)
	}
	return row
}

func listAddress(q url.Values, before string) string {
	return link("/", "status", q.Get("status"), "cascade", q.Get("cascade"), "q", q.Get("q"), "words", q.Get("words"), "label", q.Get("label"), "since", q.Get("since"), "until", q.Get("until"), "limit", q.Get("limit"), "before", before)
}

// Self is the address of the list as it is shown.
func (v runsView) Self() string { return listAddress(v.Filter, v.Filter.Get("before")) }

// Has tells whether a field of the filter has a value.
func (v runsView) Has(field, value string) bool { return v.Filter.Get(field) == value }

// Day gives since or until as a day; a midnight until which runs are shown is the
// end of the day before.
func (v runsView) Day(field string) string {
	text := v.Filter.Get(field)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text // a day, as the form has it
	}
	if field == "until" {
		t = t.Add(-time.Nanosecond)
	}
	return t.UTC().Format(time.DateOnly)
}

// Get gives a field of the filter.
func (v runsView) Get(field string) string { return v.Filter.Get(field) }

// runsLive tells the list when there is something new, once a second at most.
func (s *Site) runsLive(w http.ResponseWriter, r *http.Request) error {
	st := api.NewStream(w, "text/event-stream")
	w.WriteHeader(http.StatusOK)
	// Told at once, too: something may have changed since the page was made.
	s.follow(r, "", nil, func() error {
		if err := st.Send(0, "changed", "1"); err != nil {
			return err
		}
		if err := st.Flush(); err != nil {
			return err
		}
		return model.Wait(r.Context(), time.Second)
	}, st.Beat)
	return nil
}

// labelWords are what a list can be asked for of what people said of runs' texts.
var labelWords = []string{"good", "bad"}

// LabelWords are those of the form.
func (runsView) LabelWords() []string { return labelWords }

// labelled are the runs of a list in which somebody called a text good, or bad; nil
// where that is not asked for.
func (s *Site) labelled(ctx context.Context, label string, f journal.Filter) (map[string]bool, error) {
	switch {
	case label == "":
		return nil, nil
	case !slices.Contains(labelWords, label):
		return nil, orders.BadQuery("label must be one of %v", labelWords)
	case s.o.Scales == nil:
		return nil, orders.NotOffered("has no cascades whose labels it knows: name them when it is started")
	}
	texts := map[string]bool{}
	for _, name := range s.o.Cascades {
		scale, err := s.o.Scales.Weigh(ctx, name)
		if _, broken := errors.AsType[cascades.Diagnostics](err); broken {
			continue // its own pages say what is wrong with it
		}
		if err != nil {
			return nil, err
		}
		for _, l := range scale.Labels.Natural() {
			if l.Good == (label == "good") {
				texts[l.Text[:min(journal.TextDigits, len(l.Text))]] = true
			}
		}
	}
	f.Limit, f.Before, f.Words = 0, "", ""
	runs := map[string]bool{}
	for a, err := range s.o.Store.Attempts(ctx, f) {
		if err != nil {
			return nil, err
		}
		if texts[a.Text] {
			runs[a.RunID] = true
		}
	}
	return runs, nil
}
