package backtest_test

import (
	"fmt"
	"strings"
	"testing"
)

// The turns after the end of an attempt are saved.
func TestLaterTurns(t *testing.T) {
	const shape = `cascade_id: c
phases:
- name: draft
  instructions: Write.
  rules: {max_turns: 3, %s}
  wards: {turn: [%s], post: [{judge: 'nice?', name: nice}]}
`
	both := strings.Replace(shape, ", post: [{judge: 'nice?', name: nice}]", "", 1) // with post-wards of its own
	s := &store{}
	if r := s.record(t, files{"cascade.yaml": fmt.Sprintf(shape, "max_attempts: 1", "")}, `
- {phase: draft, reply: ab}
- {phase: draft, reply: abcd}
- {phase: draft, reply: abcdef}
- {validator: nice, reply: 'true'}
`, nil); r.Status != "succeeded" {
		t.Fatalf("%+v", r.Error)
	}
	for _, c := range []struct{ rules, ward, want string }{
		{"max_attempts: 1", "{validator: max_length, with: {max: 3}}", "blocked by turn max_length -2 +0"},
		{"max_attempts: 1", "{validator: max_length, with: {max: 3}, mode: retry, max_attempts: 1}", "exhausted by turn max_length -2 +0"},
		{"on_exhausted: last", "{validator: max_length, with: {max: 3}, mode: retry, max_attempts: 1}", "exhausted by turn max_length -1 +0"},
		{"max_attempts: 1", "{validator: max_length, with: {max: 3}}], post: [{validator: max_length, with: {max: 1}}", "blocked by turn max_length -2 +0"},
	} {
		text := shape
		if strings.Contains(c.ward, "post:") {
			text = both
		}
		r := run(t, s.test(t, files{"cascade.yaml": fmt.Sprintf(text, c.rules, c.ward)}))
		if got := moves(r); len(got) != 1 || !strings.HasSuffix(got[0], "released → "+c.want) || r.Saved != r.AttemptChanges[0].Saved {
			t.Errorf("got %v and %d in all, want %s", got, r.Saved, c.want)
		}
	}
	// A judge runs on each turn.
	test := s.test(t, files{"cascade.yaml": fmt.Sprintf(both, "max_attempts: 1", "{judge: 'short?', name: short}")})
	test.Judges, test.Host = true, host(t, `[{validator: short, turn: 0, reply: 'true'}, {validator: short, turn: 1, reply: '{"valid": false, "reason": "long"}'}, {validator: short, turn: 2, reply: 'true'}]`, nil)
	if r := run(t, test); len(moves(r)) != 1 || !strings.Contains(moves(r)[0], "released → blocked by turn short") {
		t.Errorf("got %v, %v", moves(r), r.Verdicts)
	}
	// loop_until that passes earlier ends the turns.
	for _, ward := range []string{"", "{validator: max_length, with: {max: 3}}"} { // what comes later decides nothing
		r := run(t, s.test(t, files{"cascade.yaml": fmt.Sprintf(shape, "loop_until: non_empty", ward)}))
		if r.Saved != 2 || len(r.AttemptChanges) != 0 {
			t.Errorf("saved %d, moved %v", r.Saved, moves(r))
		}
	}
}

// The turns of each attempt are saved once.
func TestLaterTurnsOfEach(t *testing.T) {
	const shape = `cascade_id: c
phases: [{name: draft, instructions: x, rules: {max_turns: 2, %s max_attempts: 2}, wards: {post: [{validator: contains, with: {text: b}, mode: retry, max_attempts: 2}]}}]`
	s := &store{}
	if r := s.record(t, files{"cascade.yaml": fmt.Sprintf(shape, "")}, "[{phase: draft, reply: aa}, {phase: draft, reply: aa}, {phase: draft, reply: a}, {phase: draft, reply: bb}]", nil); r.Status != "succeeded" {
		t.Fatalf("%+v", r.Error)
	}
	r := run(t, s.test(t, files{"cascade.yaml": fmt.Sprintf(shape, "loop_until: {validator: min_length, with: {min: 2}},")}))
	if r.Saved != 1 || len(r.AttemptChanges) != 0 {
		t.Errorf("saved %d, moved %v", r.Saved, moves(r))
	}
}

// A turn that would not have been repeated saves all its calls.
func TestTurnJudged(t *testing.T) {
	f := one("  wards: {turn: [{judge: 'nice?', name: nice, mode: retry}]}")
	s := &store{}
	if r := s.record(t, f, `
- {phase: draft, reply: a}
- {validator: nice, reply: '{"valid": false, "reason": "no"}'}
- {phase: draft, reply: b}
- {validator: nice, reply: 'true'}
- {phase: next, reply: end}
`, nil); r.Status != "succeeded" {
		t.Fatalf("%+v", r.Error)
	}
	if r := run(t, s.test(t, one(""))); r.Saved != 3 || len(r.AttemptChanges) != 0 {
		t.Errorf("saved %d, moved %v", r.Saved, moves(r))
	}
}

// No ward judged the tool calls after the last round.
func TestOneRoundTooMany(t *testing.T) {
	source := files{"cascade.yaml": `cascade_id: c
phases:
- name: draft
  instructions: Write.
  tackle: [set_state]
  wards: {tool: [{validator: contains, with: {text: owl}, mode: retry}]}
`}
	s := &store{}
	s.record(t, source, `
- {phase: draft, tool_calls: [{name: set_state, arguments: {key: k, value: owl}}], times: 16}
- {phase: draft, tool_calls: [{name: set_state, arguments: {key: k, value: bat}}], times: 1}
`, nil)
	check(t, run(t, s.test(t, source)), map[string]counts{"draft tool contains": {Same: 16}})
}

// The answer of a fallback model belongs to its turn. A summary of a conversation belongs to none.
func TestAskedWithin(t *testing.T) {
	const wards = `
  wards:
    tool: [{validator: contains, with: {text: o}, mode: retry}]
    turn: [{validator: contains, with: {text: owl}, mode: retry, name: says}]
`
	const down = "- {phase: draft, error: {status: 503}, times: 4}\n"
	call := func(value string) string {
		return "- {phase: draft, tool_calls: [{name: set_state, arguments: {key: k, value: " + value + "}}]}\n"
	}
	for name, row := range map[string]struct {
		phase, script string
		calls, turns  int
	}{
		"a fallback list": {"model: [small, big]", down + call("owl") + down + "- {phase: draft, reply: bat}\n" + call("bat") + "- {phase: draft, reply: owl}\n", 2, 2},
		"a summary":       {"token_budget: {max_total: 760, strategy: summarize}", "- {phase: draft, role: summary, reply: owls, times: always}\n" + strings.Repeat(call(strings.Repeat("owl ", 30)), 16) + "- {phase: draft, reply: bat}\n- {phase: draft, reply: owl}\n", 16, 2},
	} {
		source := files{"cascade.yaml": "cascade_id: c\nphases:\n- name: draft\n  instructions: Write.\n  tackle: [set_state]\n  " + row.phase + wards}
		s := &store{}
		if res := s.record(t, source, row.script, nil); res.Status != "succeeded" {
			t.Fatalf("%s: %+v", name, res.Error)
		}
		t.Log(name)
		check(t, run(t, s.test(t, source)), map[string]counts{"draft tool contains": {Same: row.calls}, "draft turn says": {Same: row.turns}})
	}
}
