package serve_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

// longRun is a run of that many phases, each of two attempts with a verdict.
func (s *shelf) longRun(id string, phases int, text string) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := &shelved{
		summary: journal.Summary{RunID: id, CascadeID: "long", Status: runner.Succeeded, Started: begun, Finished: new(begun.Add(time.Hour)), Phases: phases},
		start:   runner.Start{RunID: id, CascadeID: "long"},
	}
	s.add(r)
	n := 0
	tell := func(e event.Event) {
		n++
		e.Time = begun.Add(time.Duration(n) * 100 * time.Millisecond)
		s.tell(r, e)
	}
	tell(event.Event{Kind: event.RunStarted, RunID: id, CascadeID: "long", Input: map[string]any{"topic": "owls"}})
	for i := range phases {
		name := fmt.Sprintf("phase_%d", i)
		at := event.Path(name)
		tell(event.Event{Kind: event.PhaseStarted, Path: at, Phase: name})
		for k := 1; k <= 2; k++ {
			a := at.At("attempt", k)
			turn, call := a.At("turn", 0), a.At("turn", 0).Join("model")
			tell(event.Event{Kind: event.AttemptStarted, Path: a, Phase: name, Attempt: k})
			tell(event.Event{Kind: event.TurnStarted, Path: turn, Phase: name, Attempt: k, Turn: new(0)})
			tell(event.Event{Kind: event.ModelCalled, Path: call, Request: &model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: text}}}})
			tell(event.Event{Kind: event.ModelReplied, Path: call, Response: &model.Response{Text: text, Usage: model.Usage{Calls: 1, InputTokens: 1000, OutputTokens: 200, CostUSD: 0.01}}})
			tell(event.Event{Kind: event.VerdictGiven, Path: a.At("post", 0), Verdict: &event.Verdict{
				Path: a.At("post", 0), Phase: name, Attempt: k, Moment: "post", Validator: "word_count", Mode: "retry", Valid: new(k == 2), Reason: "the text has 3 words",
			}})
			tell(event.Event{Kind: event.AttemptFinished, Path: a, Phase: name, Attempt: k, Status: map[int]string{1: "retry", 2: runner.Succeeded}[k], Text: text})
		}
		tell(event.Event{Kind: event.PhaseFinished, Path: at, Phase: name, Status: runner.Succeeded, Output: text})
	}
	tell(event.Event{Kind: event.RunFinished, RunID: id, Status: runner.Succeeded, Output: text, Usage: &model.Usage{Calls: phases * 2}})
}

func (s *shelf) manyRuns(n int) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range n {
		s.runs = append(s.runs, &shelved{summary: journal.Summary{
			RunID: fmt.Sprintf("run-%06d", i), CascadeID: "post", Status: runner.Succeeded, Started: begun.Add(-time.Duration(i) * time.Minute), Finished: new(begun),
		}})
	}
}

func bench(b *testing.B, w *world, path string) {
	b.Helper()
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		r := httptest.NewRecorder()
		req := httptest.NewRequest("GET", path, nil)
		req.Host = "localhost"
		w.server.ServeHTTP(r, req)
		if r.Code != 200 {
			b.Fatalf("%d %s", r.Code, r.Body)
		}
		size = r.Body.Len()
	}
	b.ReportMetric(float64(size), "page-bytes")
}

// BenchmarkRunPage makes the page of a run.
func BenchmarkRunPage(b *testing.B) {
	for _, n := range []int{10, 1000} {
		w := madeUp(b)
		w.shelf.longRun("long", n, strings.Repeat("owl ", 250))
		b.Run(fmt.Sprintf("phases=%d", n), func(b *testing.B) { bench(b, w, "/runs/long") })
		b.Run(fmt.Sprintf("phases=%d/one", n), func(b *testing.B) { bench(b, w, "/runs/long/phase?at=phase_1") })
		b.Run(fmt.Sprintf("phases=%d/compare", n), func(b *testing.B) { bench(b, w, "/compare?a=long&b=long&all=1") })
	}
}

// BenchmarkJournalRunPage makes the page of a run of 1,000 phases that a journal
// keeps.
func BenchmarkJournalRunPage(b *testing.B) {
	file := filepath.Join(b.TempDir(), "thousand.yaml")
	var text strings.Builder
	text.WriteString("cascade_id: thousand\nmodel: m\nbudget: {max_phases: 2000}\nphases:\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "  - {name: phase_%d, instructions: Write., wards: {post: [{validator: word_count, with: {min: 1}}]}}\n", i)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	w := newWorld(b, func(_ *serve.Options, c *orders.CrewOptions) { c.Cascades = map[string]string{"thousand": file} })
	said := strings.Repeat("owl ", 250)
	w.model = model.Func(func(context.Context, model.Request) (model.Response, error) { return model.Response{Text: said}, nil })
	id := w.start("thousand", nil)
	b.Run("page", func(b *testing.B) { bench(b, w, "/runs/"+id) })
	b.Run("one", func(b *testing.B) { bench(b, w, "/runs/"+id+"/phase?at=phase_1") })
	b.Run("prompt", func(b *testing.B) {
		bench(b, w, "/runs/"+id+"/call?at="+url.QueryEscape("phase_1/attempt[1]/turn[0]/model"))
	})
}

// BenchmarkFanOutPage makes the page of a fan-out of 1,000 items, one of its
// items and a later list of them.
func BenchmarkFanOutPage(b *testing.B) {
	w := newWorld(b)
	id := w.fanOut(1000)
	b.Run("page", func(b *testing.B) { bench(b, w, "/runs/"+id) })
	b.Run("item", func(b *testing.B) { bench(b, w, "/runs/"+id+"/phase?at="+url.QueryEscape("lines/item[39]")) })
	b.Run("later", func(b *testing.B) { bench(b, w, "/runs/"+id+"/phase?at=lines&from=900") })
}

// BenchmarkRunsPage makes the list of many runs.
func BenchmarkRunsPage(b *testing.B) {
	w := madeUp(b)
	w.shelf.manyRuns(10_000)
	b.Run("newest", func(b *testing.B) { bench(b, w, "/") })
	b.Run("older", func(b *testing.B) { bench(b, w, "/?before=run-009000") })
}

// BenchmarkText gives a piece of a megabyte.
func BenchmarkText(b *testing.B) {
	w := madeUp(b)
	w.shelf.longRun("long", 1, strings.Repeat("owls hoot in the night\n", 1<<20/23))
	b.Run("piece", func(b *testing.B) { bench(b, w, "/runs/long/text?what=attempt&at=phase_0/attempt[1]") })
}
