//go:build unix

package runner_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	bill "github.com/seed61713e19/capstan/internal/measures/cost"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/measures/trust"
	"github.com/seed61713e19/capstan/internal/processor"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

const weighed = `cascade_id: bench
phases:
  - name: draft
    instructions: "Write of {{ input.topic }}."
    rules: {max_attempts: 4, retry_instructions: "No: {{ validation_error }}"}
    wards:
      post: [{expr: "len(content) > 40", name: long, mode: retry}, {validator: no_secrets, mode: retry}, {judge: "Is it friendly?", name: tone, mode: retry}]`

// BenchmarkWeighed measures capstan measure stats and capstan measure cost over
// 100,000 stored attempts of 25,000 runs: processor time and wall time. 250
// texts have a label. go test ./runner -run - -bench Weighed -benchtime 3x
func BenchmarkWeighed(b *testing.B) {
	const runs = 25_000
	j, err := journal.Open(filepath.Join(b.TempDir(), "runs.db"), journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	r := newRunner(b, runner.WithModel(model.Func(fourTries)), runner.WithModelName("m"), runner.WithJournal(j))
	c := parsed(b, r, weighed)
	gates, err := c.Gates("", nil)
	if err != nil {
		b.Fatal(err)
	}
	var all sync.WaitGroup
	for part := range 8 {
		all.Go(func() {
			for n := part; n < runs; n += 8 {
				if _, err := r.Run(context.Background(), c, map[string]any{"topic": fmt.Sprint("owl ", n)}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	var labels []stats.Label
	for n := range 250 {
		labels = append(labels, stats.Label{Text: stats.TextDigest(letter(n)), Phase: "draft", Gate: stats.All, Good: n%2 > 0, By: "ann", Draw: &stats.Draw{Order: stats.Random}})
	}
	q := trust.Question{
		CascadeID: "bench", Gates: gates, Labels: stats.NewLedger(labels), FalseAlarms: stats.FalseAlarms,
		Past: func(string) ([]cascades.Gate, error) { return gates, nil },
	}
	for name, also := range map[string]func(*bill.Builder, *journal.Attempt){"trust": func(*bill.Builder, *journal.Attempt) {}, "cost": (*bill.Builder).Add} {
		b.Run(name, func(b *testing.B) {
			used := processor.Time()
			for b.Loop() {
				costs := bill.NewBuilder("bench")
				answer, err := q.Ask(func(yield func(journal.Attempt, error) bool) {
					for a, err := range j.Attempts(b.Context(), journal.Filter{Cascade: "bench"}) {
						also(costs, &a)
						if !yield(a, err) {
							return
						}
					}
				})
				costs.Result(nil)
				if err != nil || answer.Attempts != 4*runs || answer.Gates[2].Natural.Texts().N() != 250 {
					b.Fatalf("%v: %+v", err, answer)
				}
			}
			b.ReportMetric((processor.Time()-used).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/op")
		})
	}
}

// letter returns a text of 2 KB.
func letter(n int) string {
	return fmt.Sprintf("Hello, owl %d. %s", n, strings.Repeat("The owl of the wood hears a mouse under the snow. ", 40))
}

// fourTries writes two texts that are too short and two of 2 KB. The judge
// rejects the first of these.
func fourTries(_ context.Context, r model.Request) (model.Response, error) {
	asked := r.Messages[0].Content
	var n int
	if _, topic, found := strings.Cut(asked, "owl "); found {
		fmt.Sscan(topic, &n)
	}
	text := "too short"
	switch {
	case r.Validator != "" && r.Attempt < 4:
		text = `{"valid": false, "reason": "no greeting", "score": 0.4}`
	case r.Validator != "":
		text = `{"valid": true, "reason": "warm", "score": 0.8}`
	case r.Attempt == 3:
		text = letter(n)[len("Hello, "):]
	case r.Attempt == 4:
		text = letter(n % 2500)
	}
	return model.Response{Text: text, Model: "m-1", Finish: "stop", Provider: "p", Usage: model.Usage{Calls: 1, InputTokens: 100, OutputTokens: 50, CostUSD: 0.001}}, nil
}
