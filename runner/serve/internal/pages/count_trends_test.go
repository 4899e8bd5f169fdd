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

// A source is a store with fixed runs, which counts the attempts that it gave.
type source struct {
	runs     []journal.Summary
	attempts []journal.Attempt
	read     int
}

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
			if a.Started.Before(f.Since) || !a.Started.Before(f.Until) {
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

func ask(t *testing.T, c *pages.TrendCounter, s pages.Scope) *pages.TrendReport {
	t.Helper()
	r, err := c.Ask(t.Context(), s, journal.Filter{}, start.AddDate(0, 0, 3))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestScopes holds that each thing is counted once for the scope and once for the
// part that it is in, on the day on which its run began.
func TestScopes(t *testing.T) {
	c := pages.NewTrendCounter(&source{runs: runs, attempts: attempts})
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

// TestSpans holds that spans lie one behind the other, reach from the first time to
// the last, and are few.
func TestSpans(t *testing.T) {
	c := pages.NewTrendCounter(&source{})
	for _, days := range []int{0, 1, 29, 61, 62, 365, 1000, 4000, 100_000} {
		until := start.AddDate(0, 0, days)
		r, err := c.Ask(t.Context(), pages.Scope{}, journal.Filter{Since: start}, until)
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
	if r, _ := c.Ask(t.Context(), pages.Scope{}, journal.Filter{Since: start.AddDate(0, 0, 9)}, start); len(r.Spans) != 1 {
		t.Errorf("backwards: %d spans", len(r.Spans))
	}
}

// TestCounterReadsDaysOnce asks again, after nothing changed, after one run went on,
// and after a run of an earlier day was deleted.
func TestCounterReadsDaysOnce(t *testing.T) {
	s := &source{runs: slices.Clone(runs), attempts: attempts}
	c := pages.NewTrendCounter(s)
	first := ask(t, c, pages.Scope{})
	if s.read != len(attempts) {
		t.Fatalf("read %d attempts of %d", s.read, len(attempts))
	}
	if again := ask(t, c, pages.Scope{}); s.read != len(attempts) || !reflect.DeepEqual(again, first) {
		t.Errorf("read %d attempts more: %+v", s.read-len(attempts), again)
	}
	ask(t, c, pages.Scope{Gate: "tone"})
	if s.read != len(attempts) {
		t.Errorf("another scope read %d attempts more", s.read-len(attempts))
	}
	s.runs[2].Events++
	s.attempts = append(slices.Clone(attempts), attempt("c", 2, 2, "succeeded", verdict(true)))
	s.read = 0
	if r := ask(t, c, pages.Scope{}); s.read != 4 || r.Whole.Again != first.Whole.Again+1 {
		t.Errorf("one run went on: read %d attempts, %+v", s.read, r.Whole)
	}
	s.runs, s.read = s.runs[1:], 0
	if r := ask(t, c, pages.Scope{}); s.read != 0 || r.Whole.N != 3 || r.Whole.CostUSD != 6 {
		t.Errorf("a run was deleted: read %d attempts, %+v", s.read, r.Whole)
	}
}
