package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

type runsView struct {
	frame
	Filter   url.Values
	Statuses []string
	Filtered bool
	Rows     []runRow
	Next     string // the address of the next page; "" at the end
	First    string // the address of the first page; "" there
	Live     bool
	Cascades []string
	Base     string // the address of the API
	CanStart bool
	Labels   bool // the list can be filtered by labels
}

type runRow struct {
	journal.Summary
	URL  string
	Took time.Duration
}

// Running reports whether the run is running.
func (r runRow) Running() bool { return r.Status == journal.Running }

// perPage is the number of runs on a page.
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
	v := runsView{frame: s.frame("Runs", "runs"), Filter: q, Statuses: nextsteps.Statuses, Live: f.Before == "" && f.Words == "" && f.Among == nil, Cascades: s.o.Cascades, Base: "http://" + r.Host}
	v.CanStart = s.o.Orders.Enabled() == nil && len(s.o.Cascades) > 0
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

// Self returns the address of the list.
func (v runsView) Self() string { return listAddress(v.Filter, v.Filter.Get("before")) }

// Has reports whether a field of the filter has a value.
func (v runsView) Has(field, value string) bool { return v.Filter.Get(field) == value }

// Day returns the day of the field since or until.
func (v runsView) Day(field string) string {
	text := v.Filter.Get(field)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text // already a day
	}
	if field == "until" {
		t = t.Add(-time.Nanosecond)
	}
	return t.UTC().Format(time.DateOnly)
}

// Get returns a field of the filter.
func (v runsView) Get(field string) string { return v.Filter.Get(field) }

// runsLive reports changes of the list, with a pause of a second.
func (s *Site) runsLive(w http.ResponseWriter, r *http.Request) error {
	st := api.NewStream(w, "text/event-stream")
	w.WriteHeader(http.StatusOK)
	// The first event follows at once: the list may have changed since the page was made.
	s.o.Live.Follow(r, "", nil, func() error {
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

// labelWords are the values of the filter for labels.
var labelWords = []string{"good", "bad"}

func (runsView) LabelWords() []string { return labelWords }

// labelled returns the runs with a text that somebody labelled, nil without this filter.
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
		if _, broken := errors.AsType[syntax.Diagnostics](err); broken {
			continue // its own pages show the mistakes
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
