package pages_test

import (
	"context"
	"iter"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/internal/pages"
)

var start = time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC) // a Monday

// A source is a store with fixed runs. It counts the attempts that were read.
type source struct {
	pages.Store
	version  int64
	runs     []journal.Summary
	attempts []journal.Attempt
	read     int
}

func (s *source) Version(context.Context) (int64, error) { return s.version, nil }

func (s *source) Runs(_ context.Context, f journal.Filter) (list []journal.Summary, err error) {
	for _, r := range s.runs {
		if f.Cascade == "" || f.Cascade == r.CascadeID {
			list = append(list, r)
		}
	}
	return list, nil
}

func (s *source) Attempts(_ context.Context, f journal.Filter) iter.Seq2[journal.Attempt, error] {
	return func(yield func(journal.Attempt, error) bool) {
		for _, a := range s.attempts {
			if a.Started.Before(f.Since) {
				continue
			}
			if s.read++; !yield(a, nil) {
				return
			}
		}
	}
}

func run(id, cascade, status string, day int, usd float64) journal.Summary {
	return journal.Summary{RunID: id, CascadeID: cascade, Status: status, Started: start.AddDate(0, 0, day), Usage: model.Usage{CostUSD: usd}}
}

func attempt(run string, day, number int, outcome string, verdicts ...journal.Judgement) journal.Attempt {
	return journal.Attempt{RunID: run, Started: start.AddDate(0, 0, day), Phase: "draft", Number: number, Outcome: outcome, Took: time.Second, Usage: model.Usage{CostUSD: 0.5}, Verdicts: verdicts}
}

func verdict(valid bool) journal.Judgement {
	return journal.Judgement{Validator: "tone", Moment: "post", Valid: &valid, Took: 100 * time.Millisecond}
}

var (
	runs     = []journal.Summary{run("a", "post", "succeeded", 0, 1), run("b", "post", "blocked", 2, 2), run("c", "mail", "waiting", 2, 4), run("d", "post", "failed", 2, 0)}
	attempts = []journal.Attempt{
		attempt("a", 0, 1, "retry", verdict(false)), attempt("a", 0, 2, "succeeded", verdict(true)),
		attempt("b", 2, 1, "blocked", verdict(false), journal.Judgement{Validator: "tone", Moment: "post", Broke: true}, journal.Judgement{Validator: "tone", Moment: "post"}),
		attempt("gone", 2, 1, "succeeded", verdict(true)), // of a run that was left out
		{RunID: "c", Started: start.AddDate(0, 0, 2), Phase: "draft", Number: 1, Edited: true, Outcome: "succeeded"},
	}
)

func ask(t *testing.T, site *pages.Site, s pages.Scope) *pages.TrendReport {
	t.Helper()
	r, err := site.CountTrends(t.Context(), s, journal.Filter{}, start.AddDate(0, 0, 3))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func site(s *source) *pages.Site { return pages.New(pages.Options{Store: s}) }

// TestScopes checks that each run counts for the scope and for the part of the scope, on the
// day of its start.
func TestScopes(t *testing.T) {
	c := site(&source{runs: runs, attempts: attempts})
	all := ask(t, c, pages.Scope{})
	w := all.Whole
	if len(all.Spans) != 4 || w.N != 4 || w.Passed.K != 1 || w.Passed.N != 2 || w.Errors != 1 || w.CostUSD != 7 || w.Again != 1 || w.Took != 3*time.Second {
		t.Errorf("all: %d spans, %+v", len(all.Spans), w)
	}
	if all.Spans[0].N != 1 || all.Spans[1].N != 0 || !math.IsNaN(all.Spans[1].Seconds()) || all.Spans[1].Passed.Known() || all.Spans[2].N != 3 {
		t.Errorf("days: %+v", all.Spans)
	}
	if len(all.Parts) != 2 || all.Parts[0].Cascade != "post" || all.Parts[0].Whole.N != 3 {
		t.Errorf("parts: %+v", all.Parts)
	}
	post := ask(t, c, pages.Scope{Cascade: "post"})
	if post.Whole.N != 3 || len(post.Parts) != 2 || post.Parts[0].Gate != "" || post.Parts[1].Gate != "tone" {
		t.Errorf("post: %+v, %+v", post.Whole, post.Parts)
	}
	draft := ask(t, c, pages.Scope{Cascade: "post", Phase: "draft"})
	if w := draft.Whole; w.N != 2 || w.Again != 1 || w.Passed.K != 1 || w.Passed.N != 3 || w.Retries() != 0.5 || w.CostUSD != 1.5 || len(draft.Parts) != 1 {
		t.Errorf("draft: %+v, %+v", w, draft.Parts)
	}
	for _, s := range []pages.Scope{{Gate: "tone"}, {Cascade: "post", Phase: "draft", Gate: "tone", Moment: "post"}} {
		if w := ask(t, c, s).Whole; w.N != 4 || w.Again != 2 || w.Errors != 1 || w.Passed.K != 1 || w.Passed.N != 3 {
			t.Errorf("%+v: %+v", s, w)
		}
	}
	if none := ask(t, c, pages.Scope{Cascade: "nothing"}); none.Whole.N != 0 || none.Whole.Passed.Known() || len(none.Spans) != 4 {
		t.Errorf("nothing: %+v", none)
	}
}

// TestSpans checks that spans are few, and have no gaps.
func TestSpans(t *testing.T) {
	c := site(&source{})
	for _, days := range []int{0, 1, 29, 61, 62, 365, 1000, 4000, 100_000} {
		until := start.AddDate(0, 0, days)
		r, err := c.CountTrends(t.Context(), pages.Scope{}, journal.Filter{Since: start}, until)
		if err != nil {
			t.Fatal(err)
		}
		n := len(r.Spans)
		if first, last := r.Spans[0], r.Spans[n-1]; first.From.After(start) || !last.Until.After(until) || last.From.After(until) {
			t.Errorf("%d days: from %v until %v", days, first.From, last.Until)
		}
		for i := 1; i < n; i++ {
			if !r.Spans[i].From.Equal(r.Spans[i-1].Until) {
				t.Errorf("%d days: a gap before %v", days, r.Spans[i].From)
			}
		}
		if n > 62 && days < 62*366 {
			t.Errorf("%d days: %d spans", days, n)
		}
		t.Logf("%d days: %d spans, %s, %s", days, n, r.Spans[0].Word(), r.Spans[0].Short())
	}
	if r, _ := c.CountTrends(t.Context(), pages.Scope{}, journal.Filter{Since: start.AddDate(0, 0, 9)}, start); len(r.Spans) != 1 {
		t.Errorf("backwards: %d spans", len(r.Spans))
	}
}

// TestTrendsReadAttemptsOnce checks that the attempts are not read again before the store
// has changed.
func TestTrendsReadAttemptsOnce(t *testing.T) {
	s := &source{runs: slices.Clone(runs), attempts: attempts}
	c := site(s)
	first := ask(t, c, pages.Scope{})
	if again := ask(t, c, pages.Scope{}); s.read != len(attempts) || !reflect.DeepEqual(again, first) {
		t.Errorf("read %d attempts of %d: %+v", s.read, len(attempts), again)
	}
	ask(t, c, pages.Scope{Gate: "tone"})
	if s.read != len(attempts) {
		t.Errorf("another scope read %d attempts more", s.read-len(attempts))
	}
	s.attempts = append(slices.Clone(attempts), attempt("c", 2, 2, "succeeded", verdict(true)))
	s.version++
	if r := ask(t, c, pages.Scope{}); r.Whole.Again != first.Whole.Again+1 {
		t.Errorf("a run has another attempt: %+v", r.Whole)
	}
	s.runs = s.runs[1:]
	s.version++
	if r := ask(t, c, pages.Scope{}); r.Whole.N != 3 || r.Whole.CostUSD != 6 {
		t.Errorf("a run was deleted: %+v", r.Whole)
	}
}
