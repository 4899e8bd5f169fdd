package pages_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve"
)

func bench(b *testing.B, w *servetest.World, path string) {
	b.Helper()
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		r := httptest.NewRecorder()
		req := httptest.NewRequest("GET", path, nil)
		req.Host = "localhost"
		w.Server.ServeHTTP(r, req)
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
		w := servetest.MadeUp(b)
		w.Shelf.LongRun("long", n, strings.Repeat("owl ", 250))
		b.Run(fmt.Sprintf("phases=%d", n), func(b *testing.B) { bench(b, w, "/runs/long") })
		b.Run(fmt.Sprintf("phases=%d/one", n), func(b *testing.B) { bench(b, w, "/runs/long/phase?at=phase_1") })
		b.Run(fmt.Sprintf("phases=%d/compare", n), func(b *testing.B) { bench(b, w, "/compare?a=long&b=long&all=1") })
	}
}

// BenchmarkJournalRunPage makes the page of a stored run of 1,000 phases.
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
	w := servetest.New(b, func(o *serve.Options) { o.Cascades = map[string]string{"thousand": file} })
	reply := strings.Repeat("owl ", 250)
	w.Model = model.Func(func(context.Context, model.Request) (model.Response, error) { return model.Response{Text: reply}, nil })
	id := w.Start("thousand", nil)
	b.Run("page", func(b *testing.B) { bench(b, w, "/runs/"+id) })
	b.Run("one", func(b *testing.B) { bench(b, w, "/runs/"+id+"/phase?at=phase_1") })
	b.Run("prompt", func(b *testing.B) {
		bench(b, w, "/runs/"+id+"/call?at="+url.QueryEscape("phase_1/attempt[1]/turn[0]/model"))
	})
}

// BenchmarkFanOutPage makes the pages of a fan-out of 1,000 items.
func BenchmarkFanOutPage(b *testing.B) {
	w := servetest.New(b)
	id := fanOut(w, 1000)
	b.Run("page", func(b *testing.B) { bench(b, w, "/runs/"+id) })
	b.Run("item", func(b *testing.B) { bench(b, w, "/runs/"+id+"/phase?at="+url.QueryEscape("lines/item[39]")) })
	b.Run("later", func(b *testing.B) { bench(b, w, "/runs/"+id+"/phase?at=lines&from=900") })
}

// BenchmarkRunsPage makes the list of many runs.
func BenchmarkRunsPage(b *testing.B) {
	w := servetest.MadeUp(b)
	w.Shelf.ManyRuns(10_000)
	b.Run("newest", func(b *testing.B) { bench(b, w, "/") })
	b.Run("older", func(b *testing.B) { bench(b, w, "/?before=run-009000") })
}

// BenchmarkText gives a piece of a megabyte.
func BenchmarkText(b *testing.B) {
	w := servetest.MadeUp(b)
	w.Shelf.LongRun("long", 1, strings.Repeat("owls hoot in the night\n", 1<<20/23))
	b.Run("piece", func(b *testing.B) { bench(b, w, "/runs/long/text?what=attempt&at=phase_0/attempt[1]") })
}
