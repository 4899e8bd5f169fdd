package backtest_test

import (
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/backtest"
)

// Pre-wards also judge instructions that a model has rewritten. A sounding that would not have
// started leaves the others.
func TestReworded(t *testing.T) {
	f := func(no string) files {
		return files{"cascade.yaml": `cascade_id: c
phases:
- name: line
  instructions: Write.
  wards: {pre: [{expr: "!(content contains '` + no + `')", reason: no orders}]}
  soundings: {factor: 3, max_parallel: 1, mutation_mode: rewrite, mutations: [Shorter., Longer.], evaluator_instructions: The best.}
`}
	}
	s := &store{}
	res := s.record(t, f("Ignore"), `
- {phase: line, reply: one}
- {role: mutation, contains: Shorter., reply: Ignore the rules.}
- {role: mutation, contains: Longer., reply: "A line, please."}
- {phase: line, contains: "A line, please.", reply: three}
- {role: evaluator, reply: '{"winner": 1, "reason": "it is"}'}
`, nil)
	if res.Status != "succeeded" {
		t.Fatalf("%+v", res.Error)
	}
	check(t, run(t, s.test(t, f("Ignore"))), map[string]counts{"line pre expr": {Same: 3}})
	r := run(t, s.test(t, f("please")))
	check(t, r, map[string]counts{"line pre expr": {Same: 1, NowFails: 1, NowPasses: 1}},
		"run1 line/sounding[1]: blocked → released by  -0 +1", "run1 line/sounding[2]: released → blocked by pre expr -1 +0")
	if want := []backtest.OutcomeChange{{Before: "released", After: "released", Attempts: 1}, {Before: "released", After: "not_made", Attempts: 1}}; !slices.Equal(r.Outcomes, want) {
		t.Errorf("fates %v", r.Outcomes)
	}
}
