package storytest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// If several calls were made, the error names the call that ended the run. For a
// fallback list it is the last call.
func TestEndsAt(t *testing.T) {
	for _, c := range []struct {
		phase, code string
		at          event.Path
	}{
		{"instructions: a, rules: {max_turns: 2}", engine.OverBudget, "a/attempt[1]/turn[1]/model"},
		{"instructions: a, token_budget: {max_total: 2}", engine.OverBudget, "a/attempt[1]/turn[0]/model"},
		{"instructions: down, model: [small, big]", engine.OverBudget, "a/attempt[1]/turn[0]/model"},
		{"instructions: wrong, model: [small, big]", engine.Failed, "a/attempt[1]/turn[0]/model"},
	} {
		s := storytest.Read(t, "at", []byte(`A budget for one call.
-- cascade.yaml --
cascade_id: c
budget: {max_calls: 1}
phases: [{name: a, `+c.phase+`}]
-- script.yaml --
- {phase: a, contains: down, times: always, error: {status: 503}}
- {phase: a, contains: wrong, error: {status: 400}}
- {phase: a, reply: one}
`))
		_, err := engine.Run(s.Host(t), s.Cascade, s.Start())
		var cause *engine.Error
		if !errors.As(err, &cause) || cause.Code != c.code || cause.Path != c.at {
			t.Errorf("%s: got %+v", c.phase, cause)
		}
	}
}

// A bounded host records the maximum number of parallel branches.
type bounded struct {
	engine.Host
	most *[]int
}

func (h bounded) Each(n, limit int, body func(engine.Host, int) error) error {
	*h.most = append(*h.most, limit)
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error { return body(bounded{inner, h.most}, i) })
}

// All phases of a group and all checks of a moment run concurrently. Items run
// concurrently up to their limit.
func TestAtTheSameTime(t *testing.T) {
	s := storytest.Read(t, "same", []byte(`Work that does not need each other.
-- cascade.yaml --
cascade_id: c
phases:
  - {name: g, together: [{name: h, compose: h}, {name: i, compose: i}]}
  - {name: e, compose: e, each: {in: [1, 2], max_parallel: 3}}
  - {name: s, instructions: s, soundings: {factor: 2, max_parallel: 2, validator: {expr: "true"}}}
  - {name: w, compose: w, wards: {post: [{validator: slow_no, with: {text: x}}, {validator: crashes, mode: shadow}]}}
-- script.yaml --
- {phase: s, reply: s, times: always}
`))
	var most []int
	if _, err := engine.Run(bounded{s.Host(t), &most}, s.Cascade, s.Start()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(most, []int{0, 3, 2, 0, 8}) {
		t.Errorf("at the same time there may be %v", most)
	}
}

// If a question has no answer, the concurrent branches finish, and then the run waits
// with the first question.
func TestWaitsBeside(t *testing.T) {
	s := storytest.Read(t, "beside", []byte(`Questions beside work.
-- cascade.yaml --
cascade_id: c
tools: {asks: {cascade: sub.yaml}}
phases:
  - {name: g, together: [{name: a, compose: a}, {name: b, tool: asks, inputs: {what: One}}, {name: c, tool: asks, inputs: {what: Two}}, {name: d, compose: d}]}
-- sub.yaml --
cascade_id: sub
inputs_schema: {what: {type: string}}
phases: [{name: s, compose: s, human_input: {prompt: "{{ input.what }}?"}}]
`))
	result, _ := engine.Run(s.Host(t), s.Cascade, s.Start())
	var done []string
	for _, p := range result.Phases {
		done = append(done, p.Name+" "+p.Status)
	}
	if !slices.Equal(done, []string{"a succeeded", "b waiting", "c waiting", "d succeeded", "g waiting"}) || !strings.HasSuffix(result.Error.Message, "One?") {
		t.Errorf("got %q: %+v", done, result.Error)
	}
}

// The errors of two scopes' timeouts are distinct. A branch's error differs
// from the end of a cancelled branch.
func TestHostsErrors(t *testing.T) {
	over := error(&engine.Overtime{At: "a"})
	if !errors.Is(over, engine.ErrTimedOut) || errors.Is(over, engine.ErrYield) || !engine.IsOver(over, "a") || engine.IsOver(over, "b") || engine.IsOver(nil, "a") {
		t.Errorf("%v is not what it is", over)
	}
	if err := engine.Beside(over); err == nil || engine.IsOver(err, "a") || !strings.Contains(err.Error(), over.Error()) {
		t.Errorf("beside it is %v", err)
	}
}
