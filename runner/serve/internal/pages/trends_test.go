package pages_test

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve"
)

// evil is a name with markup.
const evil = `<img src=x onerror=alert(1)>&"'`

// past returns a world with runs on many days, some with retries and rejections, under names
// with markup.
func past(t testing.TB, days, each int, change ...func(*serve.Options)) *servetest.World {
	t.Helper()
	var now atomic.Int64
	start := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-days)
	now.Store(start.UnixNano())
	j, err := journal.Open(filepath.Join(t.TempDir(), "runs.db"), journal.Options{Now: func() time.Time { return time.Unix(0, now.Add(int64(time.Millisecond))) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	n := 0
	m := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		n++
		text := "A long enough text about owls."
		if n%3 == 0 {
			text = "Short."
		}
		if len(r.Messages) > 0 && strings.Contains(r.Messages[len(r.Messages)-1].Content, "Is it warm") {
			text = fmt.Sprintf(`{"valid": %v, "reason": "said <b>so</b>", "score": %.2f}`, n%4 != 0, float64(n%10)/10)
		}
		return model.Response{Text: text, Model: "m", Usage: model.Usage{Calls: 1, InputTokens: 100, OutputTokens: 10, CostUSD: 0.001 * float64(1+n%5)}}, nil
	})
	r, err := runner.New(runner.WithModel(m), runner.WithJournal(j))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"post", evil} {
		c, err := cascades.Parse("past.yaml", []byte(fmt.Sprintf(`
cascade_id: %q
model: m
validators:
  warm: {judge: "Is it warm?"}
phases:
  - name: draft
    instructions: Write.
    wards: {post: [{validator: min_length, with: {min: 10}, mode: retry, max_attempts: 2}, {validator: warm, mode: advisory}]}
`, name)), runner.ReadFile, r.Known())
		if err != nil {
			t.Fatal(err)
		}
		for day := range days {
			if day%7 == 3 {
				continue // a day without runs
			}
			now.Store(start.AddDate(0, 0, day).Add(time.Hour).UnixNano())
			for range each {
				_, _ = r.Run(t.Context(), c, nil, runner.WithRunID(fmt.Sprintf("run-%d-%d-%d", i, day, n)))
			}
		}
	}
	return servetest.Over(t, j, change...)
}

var sinces = regexp.MustCompile(`href="/rejections\?[^"]*since=([^&"]*)`)

var hrefs = regexp.MustCompile(`href="([^"]*)"`)

// follow returns the address of the first link with this beginning.
func follow(t testing.TB, page, begin string) string {
	t.Helper()
	for _, m := range hrefs.FindAllStringSubmatch(page, -1) {
		if to := strings.ReplaceAll(m[1], "&amp;", "&"); strings.HasPrefix(to, begin) {
			return to
		}
	}
	t.Fatalf("nothing leads to %s in %s", begin, page)
	return ""
}

// TestTrendsLeadToRuns checks the links from points to runs, and from gates to rejections and
// attempts.
func TestTrendsLeadToRuns(t *testing.T) {
	w := past(t, 10, 2)
	page := w.Want(200, "GET", "/trends?cascade=post&phase=draft", nil).Text
	runs := w.Want(200, "GET", follow(t, page, "/?cascade=post&since="), nil).Text
	if n := strings.Count(runs, `name="run"`); n != 2 {
		t.Errorf("a point leads to %d runs: %s", n, runs)
	}
	gate := w.Want(200, "GET", follow(t, page, "/trends?cascade=post&days=30&gate=min_length"), nil).Text
	days := map[string]bool{}
	for _, m := range sinces.FindAllStringSubmatch(gate, -1) {
		days[m[1]] = true
	}
	if len(days) != 10 { // nine days with runs, and all together
		t.Errorf("noes of %d days: %v", len(days), days)
	}
	noes := w.Want(200, "GET", follow(t, gate, "/rejections?"), nil).Text
	to := follow(t, noes, "/runs/run-0-")
	path, name, _ := strings.Cut(to, "#")
	if attempt := w.Want(200, "GET", path, nil).Text; !strings.Contains(attempt, `id="`+name+`"`) {
		t.Errorf("%s is not on its page", to)
	}
	for path, status := range map[string]int{
		"/trends?days=-1": 400, "/trends?days=x": 400, "/rejections": 400, "/rejections?gate=x&since=y": 400, "/trends?cascade=none": 200, "/rejections?gate=none": 200,
		"/trends?days=0": 200, "/trends?gate=warm": 200, "/trends?phase=draft": 200, "/?since=2026-01-02&until=2026-01-02": 200, "/v1/runs?until=nonsense": 400,
	} {
		w.Want(status, "GET", path, nil)
	}
}

// TestNothingIsNoRate checks that pages without runs show no rates.
func TestNothingIsNoRate(t *testing.T) {
	w := servetest.New(t)
	for _, path := range []string{"/trends", "/trends?cascade=post&phase=x", "/trends?gate=x"} {
		page := w.Want(200, "GET", path, nil).Text
		if strings.Contains(page, "0.0 %") || strings.Contains(page, "NaN") || !strings.Contains(page, "none in these days") {
			t.Error(page)
		}
	}
	w.Start("post", map[string]any{"topic": "owls"})
	if page := w.Want(200, "GET", "/trends", nil).Text; !strings.Contains(page, "1 of 1, 100.0 % (2.5-100.0)") {
		t.Error(page)
	}
}

// TestTrendsAreSeen shows trends of days, weeks and months on a wide and on a narrow
// screen.
func TestTrendsAreSeen(t *testing.T) {
	w := past(t, 300, 1)
	b := newBrowser(t, w.HTTP.URL)
	for name, path := range map[string]string{
		"month": "/trends", "years": "/trends?days=0&cascade=post", "quarter": "/trends?days=90&cascade=post&phase=draft", "gate": "/trends?gate=warm&days=365",
		"noes": "/rejections?gate=warm", "evil": "/trends?days=7&cascade=" + url.QueryEscape(evil), "none": "/trends?cascade=none",
	} {
		b.open(path)
		b.looks("trends-"+name, func() {
			if small := js[float64](b, "Math.min(...Array.from(document.querySelectorAll('.plot text')).map(function (e) { return e.getBoundingClientRect().height }), 99)"); small < 9 {
				t.Errorf("%s: letters %g high", name, small)
			}
		})
	}
}
