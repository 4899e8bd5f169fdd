package cost_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/cost"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

// The soundings of a visit and their evaluator are part of the price of one output.
func TestSoundingsAreOneAttempt(t *testing.T) {
	b := cost.NewBuilder("post")
	at := func(path string, number int, outcome string) *journal.Attempt {
		return &journal.Attempt{
			RunID: "run", Path: event.Path(path), Phase: "draft", Number: number, Outcome: outcome, Item: "succeeded", Visit: "succeeded",
			Text: "t", Model: "small", Usage: model.Usage{Calls: 1, CostUSD: 1},
		}
	}
	for _, a := range []*journal.Attempt{
		at("draft/sounding[0]/attempt[1]", 1, "retry"), at("draft/sounding[1]/attempt[1]", 1, "succeeded"), at("draft/sounding[0]/attempt[2]", 2, "exhausted"),
		at("draft/sounding[2]/attempt[1]", 1, "succeeded"), at("draft/evaluator", 0, ""),
	} {
		b.Add(a)
	}
	r := b.Result(nil)
	if len(r.Phases) != 1 || r.Unfinished != 0 {
		t.Fatalf("%+v", r)
	}
	if now := r.Phases[0].Current; now.Accepted != (stats.Rate{K: 1, N: 1}) || !close3(now.Price.Calls, 5) || !close3(now.Price.CostUSD, 5) {
		t.Errorf("now %+v", now)
	}
}

// Every call of a run with soundings is part of the price of one output, also the calls of the
// evaluator and of the mutation.
func TestSoundingsCountEveryCall(t *testing.T) {
	const (
		whole = "cascade_id: c\nsoundings: {factor: 3, evaluator_instructions: The best., %s}\nphases:\n  - {name: draft, instructions: Write.}\n  - {name: polish, instructions: Polish.%s}\n"
		part  = "cascade_id: c\nphases:\n  - {name: draft, instructions: Write., soundings: {factor: 3, evaluator_instructions: The best., %s}}\n  - {name: polish, instructions: Polish.%s}\n"
	)
	const rewrite, reforge = "mutate: true, mutation_mode: rewrite", "reforge: {steps: 1, honing_prompt: Better., factor_per_step: 2}"
	const judged, inner = `, wards: {post: [{judge: "Is it good?", mode: retry}]}`, ", soundings: {factor: 2, mutate: true, mutation_mode: rewrite, evaluator_instructions: The best.}"
	for name, c := range map[string]struct {
		source string
		calls  int
		prices map[string]float64
	}{
		"whole":                 {fmt.Sprintf(whole, "max_parallel: 1", ""), 7, map[string]float64{"draft": 3, "polish": 4}},
		"whole, rewritten":      {fmt.Sprintf(whole, rewrite, ""), 9, map[string]float64{"draft": 3, "polish": 6}},
		"whole, filtered":       {fmt.Sprintf(whole, `validator: {judge: "Is it good?"}`, ""), 10, map[string]float64{"draft": 3, "polish": 7}},
		"whole, improved":       {fmt.Sprintf(whole, reforge, judged), 17, map[string]float64{"draft": 5, "polish": 12}},
		"whole and in a phase":  {fmt.Sprintf(whole, "max_parallel: 1", inner), 16, map[string]float64{"draft": 3, "polish": 13}},
		"of a phase":            {fmt.Sprintf(part, "max_parallel: 1", judged), 6, map[string]float64{"draft": 4, "polish": 2}},
		"of a phase, rewritten": {fmt.Sprintf(part, rewrite, ""), 7, map[string]float64{"draft": 6, "polish": 1}},
		"of a phase, improved":  {fmt.Sprintf(part, reforge, inner), 11, map[string]float64{"draft": 7, "polish": 4}},
	} {
		t.Run(name, func(t *testing.T) {
			r, run := costOf(t, c.source)
			prices, all := map[string]float64{}, 0.0
			for _, p := range r.Phases {
				prices[p.Phase] = p.Current.Price.Calls
				all += p.Current.Price.Calls
				if p.Current.Accepted != (stats.Rate{K: 1, N: 1}) || p.Current.Attempts != 1 {
					t.Errorf("%s: %+v", p.Phase, p.Current)
				}
			}
			if r.Unfinished != 0 || run != c.calls || !close3(all, float64(run)) || !maps.Equal(prices, c.prices) {
				t.Errorf("the run made %d calls, want %d; reported are %v, want %v; %d unfinished", run, c.calls, prices, c.prices, r.Unfinished)
			}
		})
	}
}

// costOf returns the report of one run and the number of its calls.
func costOf(t *testing.T, source string) (*cost.Result, int) {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "runs.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	m := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		resp := model.Response{Text: "a text", Model: "small", Usage: model.Usage{Calls: 1}}
		switch {
		case r.Validator != "":
			resp.Text = `{"valid": true, "reason": "it is"}`
		case r.Role == "evaluator":
			resp.Text = `{"winner": 1, "reason": "it is"}`
		}
		return resp, nil
	})
	r, err := runner.New(runner.WithModel(m), runner.WithModelName("small"), runner.WithJournal(j))
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Parse("c.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	result, err := r.Run(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := cost.NewBuilder("c")
	for a, err := range j.Attempts(t.Context(), journal.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		b.Add(&a)
	}
	return b.Result(nil), result.Usage.Calls
}
