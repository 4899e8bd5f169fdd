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

// A validator judges outside any run what it is given, with the model that the
// runner asks; where it gives no verdict there is an error.
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
	}{
		{"seen", given, true, ""},
		{"empty", validators.Subject{}, true, ""},
		{"kind", given, false, "too grim for owl"},
		{"model", given, false, "too grim for its-own"},
		{"crowd", given, false, "no verdict: over_budget: max_calls is spent"},
		{"unsaid", given, false, "no verdict: "},
	} {
		r := newRunner(t, runner.WithModelName("owl"), runner.WithModel(model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
			return model.Response{Text: fmt.Sprintf(`{"valid": false, "reason": "too grim for %s"}`, r.Model), Usage: model.Usage{Calls: 1}}, nil
		})))
		cascade := parsed(t, r, judging)
		v, err := r.Judge(t.Context(), cascade, cascade.Validators[c.validator], c.subject)
		said := v.Reason
		if err != nil {
			said = "no verdict: " + err.Error()
		}
		if v.Valid != c.valid || !strings.Contains(said, c.says) {
			t.Errorf("%s: got %t, %s", c.validator, v.Valid, said)
		}
	}
}
