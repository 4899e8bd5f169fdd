package cost_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/batch"
	"github.com/seed61713e19/capstan/internal/measures/cost"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

// For the same runs, cost and eval must report the same price.
func TestCostEqualsEval(t *testing.T) {
	const judge = `{judge: "Is it good?", mode: %s, max_attempts: 3}`
	retry, blocking, shadow := fmt.Sprintf(judge, "retry"), `{judge: "Is it good?", mode: blocking}`, `{judge: "Is it good?", mode: shadow}`
	const short = `{expr: "not (content contains 'bad')", reason: bad, mode: retry, max_attempts: 3}`
	const evaluator = `evaluator_instructions: The best.`
	for name, keys := range map[string]string{
		"single try":             ``,
		"retries":                `wards: {post: [` + short + `]}`,
		"best of the exhausted":  `rules: {on_exhausted: best}, wards: {post: [{expr: "not (content contains 'bad')", reason: bad, mode: retry, max_attempts: 2}]}`,
		"several turns":          `rules: {max_turns: 3, loop_until: {expr: "content contains 'fine'"}}`,
		"judge":                  `wards: {post: [` + retry + `]}`,
		"judge by votes":         `wards: {post: [{judge: "Is it good?", mode: retry, max_attempts: 2, votes: 3}]}`,
		"judge before the text":  `wards: {pre: [` + blocking + `]}`,
		"judge that blocks":      `wards: {post: [` + blocking + `]}`,
		"shadow check":           `wards: {post: [` + short + `, ` + shadow + `]}`,
		"fallback list":          `model: [broken, small, big], wards: {post: [` + short + `]}`,
		"soundings":              `soundings: {factor: 4, max_parallel: 1, ` + evaluator + `}`,
		"soundings with checks":  `soundings: {factor: 3, max_parallel: 1, ` + evaluator + `}, wards: {post: [` + blocking + `]}`,
		"soundings, sent back":   `soundings: {factor: 3, max_parallel: 1, ` + evaluator + `}, wards: {post: [` + retry + `]}`,
		"soundings, filtered":    `soundings: {factor: 3, max_parallel: 1, validator: {judge: "Is it good?"}, ` + evaluator + `}`,
		"soundings, improved":    `soundings: {factor: 2, max_parallel: 1, ` + evaluator + `, reforge: {steps: 3, honing_prompt: Better., threshold: {judge: "Is it good?"}}}`,
		"soundings, aggregated":  `soundings: {factor: 3, max_parallel: 1, mode: aggregate, aggregator_instructions: Put them together.}`,
		"each":                   `each: {in: [1, 2, 3, 4], max_parallel: 1}`,
		"each with retries":      `each: {in: [1, 2, 3, 4], max_parallel: 1}, wards: {post: [` + short + `]}`,
		"each, failures kept":    `each: {in: [1, 2, 3], max_parallel: 1, on_failure: keep}, wards: {post: [` + short + `]}`,
		"each with soundings":    `each: {in: [1, 2, 3], max_parallel: 1}, soundings: {factor: 2, max_parallel: 1, ` + evaluator + `}, wards: {post: [` + blocking + `]}`,
		"each, judged before":    `each: {in: [1, 2, 3], max_parallel: 1}, wards: {pre: [{judge: "Is it good?", mode: advisory}]}`,
		"a model that may break": `model: shaky, wards: {post: [` + short + `]}`,
		"evaluator, fallbacks":   `soundings: {factor: 2, max_parallel: 1, evaluator_model: [broken, big], ` + evaluator + `}`,
		"sub-cascade":            `sub_cascades: [{ref: sub.yaml}], wards: {post: [` + short + `]}`,
		"whole cascade":          wholeFile + `wards: {post: [` + blocking + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := ""
			if rest, ok := strings.CutPrefix(keys, wholeFile); ok {
				keys, whole = rest, "soundings: {factor: 3, max_parallel: 1, evaluator_instructions: The best.}\n"
			}
			evaluated, counted := both(t, "cascade_id: c\n"+whole+"phases:\n  - {name: draft, instructions: Write., "+keys+"}\n")
			if len(counted.Phases) != 1 || counted.Runs != evaluated.Runs {
				t.Fatalf("%d runs, %d phases", counted.Runs, len(counted.Phases))
			}
			p := counted.Phases[0]
			if p.Current.Accepted != evaluated.Accepted.Rate {
				t.Errorf("%v of the outputs are accepted; eval: %v", p.Current.Accepted, evaluated.Accepted)
			}
			near(t, "model calls", p.Current.Price.Calls, evaluated.PerAccepted.Calls)
			near(t, "money", p.Current.Price.CostUSD, evaluated.PerAccepted.CostUSD)
		})
	}
}

// wholeFile is the prefix of a source with soundings of the whole cascade.
const wholeFile = "whole: "

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got/want-1) <= 0.02) {
		t.Errorf("%s: cost has %.4f an accepted output, eval %.4f", what, got, want)
	}
}

// both evaluates a cascade on 60 rows, and counts the cost of the same runs.
func both(t *testing.T, source string) (batch.Result, *cost.Result) {
	t.Helper()
	dir := t.TempDir()
	j, err := journal.Open(filepath.Join(dir, "runs.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	var rows strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rows, "{\"n\": %d}\n", i)
	}
	const sub = "cascade_id: sub\nphases:\n  - {name: look, instructions: Look., wards: {pre: [{judge: \"Is it asked well?\", mode: advisory}]}}\n"
	for name, text := range map[string]string{"rows.jsonl": rows.String(), "c.yaml": source, "sub.yaml": sub} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := batch.Open(filepath.Join(dir, "rows.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.WithModel(model.Func(chance)), runner.WithModelName("small"), runner.WithJournal(j))
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Load(filepath.Join(dir, "c.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	do := batch.Batch{Cascade: c, Dataset: set, Parallel: 2}
	evaluated, err := do.Evaluate(t.Context(), r, nil)
	if err != nil || evaluated.Runs != 60 || evaluated.PerAccepted == nil {
		t.Fatalf("%v: %+v", err, evaluated)
	}
	b := cost.NewBuilder("c")
	for a, err := range j.Attempts(t.Context(), journal.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		b.Add(&a)
	}
	return evaluated, b.Result(nil)
}

// chance writes a bad text in one of four requests, and judges four of five texts good.
// The place of a request decides, so that every run of the test is the same.
func chance(_ context.Context, r model.Request) (model.Response, error) {
	h := fnv.New64a()
	fmt.Fprint(h, r.Key)
	at := h.Sum64() >> 8 % 100
	resp := model.Response{Text: "a fine text", Model: r.Model, Usage: model.Usage{Calls: 1, InputTokens: 10, OutputTokens: 5, CostUSD: 0.01}}
	switch {
	case r.Model == "broken", r.Model == "shaky" && at < 10:
		return model.Response{Usage: model.Usage{Calls: 1, CostUSD: 0.002}}, &model.Failure{Class: model.Unavailable, Message: "overloaded"}
	case r.Validator != "":
		resp.Text, resp.Usage.CostUSD = fmt.Sprintf(`{"valid": %v, "reason": "it is so"}`, at >= 20), 0.003
	case r.Role == "evaluator":
		resp.Text, resp.Usage.CostUSD = `{"winner": 1, "reason": "it is the best"}`, 0.005
	case at < 25:
		resp.Text = "a bad text"
	}
	return resp, nil
}

// The report has the share of the input that the endpoint read from its cache.
func TestCachedInput(t *testing.T) {
	dir := t.TempDir()
	j, err := journal.Open(filepath.Join(dir, "runs.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	n := 0
	r, err := runner.New(runner.WithModelName("m"), runner.WithJournal(j), runner.WithModel(model.Func(func(context.Context, model.Request) (model.Response, error) {
		n++
		return model.Response{Text: strings.Repeat("x", n), Usage: model.Usage{Calls: 1, InputTokens: 100 * n, OutputTokens: 5, Cached: 90 * (n - 1)}}, nil
	})))
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Parse("c.yaml", []byte("cascade_id: c\nphases: [{name: draft, instructions: Write., wards: {post: [{expr: len(content) > 1, mode: retry}]}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	b := cost.NewBuilder("c")
	for a, err := range j.Attempts(t.Context(), journal.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		b.Add(&a)
	}
	p := b.Result(nil).Phases[0]
	if p.Current.Price.Input != 300 || p.Current.Price.Cached != 90 || p.ByAttempt[1].Price.Cached != 90 {
		t.Errorf("%+v, second attempt %+v", p.Current.Price, p.ByAttempt[1].Price)
	}
	if text := p.Current.Price.String(); !strings.HasSuffix(text, ", 30.0 % of the input cached") {
		t.Error(text)
	}
}
