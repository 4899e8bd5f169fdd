package pages_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/batch"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

// batched returns a world with a batch of three rows with two runs each. The bats are
// never accepted. The herons are accepted at the second attempt. The second run of the
// owls fails.
func batched(t testing.TB) (*servetest.World, batch.Result) {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "runs.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	asked := map[string]int{}
	m := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		topic := strings.TrimSuffix(strings.TrimPrefix(r.Messages[0].Content, "Write about "), ".")
		asked[topic]++
		switch {
		case topic == "owls" && asked[topic] == 2:
			return model.Response{}, errors.New("the <endpoint> is down")
		case topic == "owls" || topic == "herons" && len(r.Messages) > 1:
			topic += ", and an owl"
		}
		return model.Response{Text: topic, Model: "m", Finish: "stop", Usage: model.Usage{Calls: 1, InputTokens: 100, OutputTokens: 10, CostUSD: 0.01}}, nil
	})
	r, err := runner.New(runner.WithModel(m), runner.WithJournal(j))
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Parse("post.yaml", []byte(`
cascade_id: post
model: m
inputs_schema: {topic: what}
phases:
  - name: draft
    instructions: "Write about {{ input.topic }}."
    wards: {post: [{validator: contains, with: {text: owl}, mode: retry, max_attempts: 2}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "set.jsonl")
	if err := os.WriteFile(file, []byte(`{"topic": "owls"}`+"\n"+`{"topic": "bats"}`+"\n"+`{"topic": "herons"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := batch.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	report, err := (&batch.Batch{Cascade: c, Dataset: set, Times: 2}).Evaluate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(t.Context(), c, map[string]any{"topic": "owls"}, runner.WithRunID(report.Batch+"-no-row")); err != nil {
		t.Fatal(err)
	}
	return servetest.Over(t, j), report
}

// TestBatches compares the page of a batch with the report of eval.
func TestBatches(t *testing.T) {
	w, report := batched(t)
	list := w.Want(200, "GET", "/batches", nil).Text
	if !strings.Contains(list, `<a data-open href="/batches?batch=`+report.Batch+`">`) || strings.Count(list, "data-row") != 1 || !strings.Contains(list, `data-label="Runs">6<`) {
		t.Errorf("list:\n%s", list)
	}
	page := w.Want(200, "GET", "/batches?batch="+report.Batch, nil).Text
	flat := strings.Join(strings.Fields(page), " ")
	for _, want := range []string{
		fmt.Sprintf("<dt>Accepted</dt><dd><strong>%s</strong>", report.Accepted), fmt.Sprintf("<dt>Exhausted</dt><dd>%s</dd>", report.Exhausted),
		fmt.Sprintf("<dt>Failed</dt><dd>%s</dd>", report.Failed), fmt.Sprintf("<dt>Accepted at the first attempt</dt><dd>%s</dd>", report.FirstTry),
		fmt.Sprintf("<dt>pass@2</dt><dd>%s</dd><dt>pass^2</dt><dd>%s</dd>", report.Pass[1].Any.Share(), report.Pass[1].All.Share()),
		fmt.Sprintf(`data-label="Passed, first attempts">%s</td><td data-label="Passed, all attempts">%s<`, report.Gates[0].First, report.Gates[0].Passed),
		fmt.Sprintf("%.2f calls", report.PerAccepted.Calls), `<dt>Spent</dt><dd><span class="facts"><span>`, "the &lt;endpoint&gt; is down",
		fmt.Sprintf(`href="/runs/%s-000001.2"`, report.Batch), fmt.Sprintf(`href="/runs/%s-000002"`, report.Batch), fmt.Sprintf(`href="/runs/%s-000002.2"`, report.Batch),
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if report.Accepted.K != 3 || report.Exhausted.K != 2 || report.Failed.K != 1 || strings.Contains(page, "no-row") {
		t.Errorf("%+v:\n%s", report, page)
	}
	if none := w.Want(404, "GET", "/batches?batch=b000000000000", nil).Text; !strings.Contains(none, "no run of batch b000000000000 is kept") {
		t.Errorf("of another:\n%s", none)
	}
	if empty := servetest.New(t).Want(200, "GET", "/batches", nil).Text; !strings.Contains(empty, "No batch yet") {
		t.Errorf("of none:\n%s", empty)
	}
}
