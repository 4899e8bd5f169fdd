package runner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
)

const judging = `cascade_id: c
budget: {max_calls: 3}
validators:
  seen: {expr: "content == 'a text' && input.topic == 'owls' && state.mood == 'calm' && outputs.draft == 'bats' && turn == 1 && attempt == 2"}
  empty: {expr: "input == {} && state == {} && outputs == {}"}
  kind: {judge: "Is it kind?"}
  model: {judge: "Is it kind?", model: "its-own"}
  crowd: {judge: "Is it kind?", votes: 5}
  unsaid: {expr: "output.gone.gone"}
phases: [{name: a, compose: a, wards: {post: [{validator: seen}, {validator: empty}, {validator: kind}, {validator: model}, {validator: crowd}, {validator: unsaid}]}}]
`

// TestJudge checks that a validator judges a text outside a run, with the
// runner's model. A missing verdict is an error.
func TestJudge(t *testing.T) {
	given := validators.Subject{
		Content: "a text", Turn: 1, Attempt: 2,
		Input: map[string]any{"topic": "owls"}, State: map[string]any{"mood": "calm"}, Outputs: map[string]any{"draft": "bats"},
	}
	for _, c := range []struct {
		validator string
		subject   validators.Subject
		valid     bool
		says      string
		calls     int // of the model
	}{
		{"seen", given, true, "", 0},
		{"empty", validators.Subject{}, true, "", 0},
		{"kind", given, false, "too grim for owl", 1},
		{"model", given, false, "too grim for its-own", 1},
		{"crowd", given, false, "no verdict: over_budget: 3 of 3 calls used; raise budget.max_calls", 3},
		{"unsaid", given, false, "no verdict: ", 0},
	} {
		calls := 0
		r := newRunner(t, runner.WithModelName("owl"), runner.WithModel(model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
			calls++
			return model.Response{Text: fmt.Sprintf(`{"valid": false, "reason": "too grim for %s"}`, r.Model), Usage: model.Usage{Calls: 1}}, nil
		})))
		cascade := parsed(t, r, judging)
		v, err := r.Judge(t.Context(), cascade, cascade.Validators[c.validator], c.subject)
		got := v.Reason
		if err != nil {
			got = "no verdict: " + err.Error()
		}
		if v.Valid != c.valid || !strings.Contains(got, c.says) || calls != c.calls {
			t.Errorf("%s: got %t, %s after %d calls", c.validator, v.Valid, got, calls)
		}
	}
}

// judgeReplies records the requests to judges and evaluators, and answers each with the next
// reply.
func judgeReplies(replies ...string) (model.Model, *[]model.Request) {
	var requests []model.Request
	return model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		if r.Validator == "" && r.Role == "" {
			return model.Response{Text: "a text"}, nil
		}
		requests = append(requests, r)
		return model.Response{Text: replies[len(requests)-1]}, nil
	}), &requests
}

func TestJudgeSeesWhatIsWrong(t *testing.T) {
	m, requests := judgeReplies("{\"valid\": true}\nI reject it.", "  ", `{"valid": true, "reason": "ok"}`)
	r := newRunner(t, runner.WithModel(m))
	res, err := r.Run(t.Context(), parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: Write., wards: {post: [{judge: \"Is it kind?\", name: kind, mode: blocking}]}}]"), nil)
	if err != nil || res.Output != "a text" || len(*requests) != 3 {
		t.Fatalf("got %v, %v after %d requests", res, err, len(*requests))
	}
	first, second, third := (*requests)[0].Messages, (*requests)[1].Messages, (*requests)[2].Messages
	if len(first) != 1 || len(second) != 3 || second[0].Content != first[0].Content || second[1].Content != "{\"valid\": true}\nI reject it." ||
		!strings.Contains(second[2].Content, "there is text after the JSON, at line 2, column 1") || !strings.Contains(second[2].Content, `{"valid": true or false, "reason": "…"}`) {
		t.Errorf("second request: %+v", second)
	}
	if len(third) != 1 || !strings.HasPrefix(third[0].Content, first[0].Content) || !strings.Contains(third[0].Content, "there is no JSON in the text") {
		t.Errorf("third request: %+v", third)
	}
}

func TestEvaluatorSeesWhatIsWrong(t *testing.T) {
	m, requests := judgeReplies(`{"winner": 3}`, `{"winner": "2", "reason": "clearer"}`)
	r := newRunner(t, runner.WithModel(m))
	_, err := r.Run(t.Context(), parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: Write., soundings: {factor: 2, evaluator_instructions: The better one.}}]"), nil)
	if err != nil || len(*requests) != 2 {
		t.Fatalf("got %v after %d requests", err, len(*requests))
	}
	if second := (*requests)[1].Messages; len(second) != 3 || !strings.Contains(second[2].Content, `"winner" must be a number from 1 to 2, not 3`) {
		t.Errorf("got %+v", second)
	}
}
