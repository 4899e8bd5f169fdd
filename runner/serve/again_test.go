package serve_test

import (
	"context"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

// TestRunAgain checks the shared calls of a new run, and that a rejected request
// leaves no run.
func TestRunAgain(t *testing.T) {
	w := servetest.New(t)
	var asked []string
	w.Model = model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		asked = append(asked, r.Phase)
		if r.Validator != "" {
			return model.Response{Text: `{"valid": true, "reason": "warm"}`}, nil
		}
		return model.Response{Text: "Owls hoot softly in the night and fly at dusk."}, nil
	})
	id := w.Start("post", map[string]any{"topic": "owls"})
	again := func(status int, body any) map[string]any {
		t.Helper()
		asked = nil
		r := w.Want(status, "POST", "/v1/runs/"+id+"/again", body)
		if status == 202 {
			<-w.Done
		}
		return r.JSON(t)
	}
	for name, c := range map[string]struct {
		body  map[string]any
		calls int
	}{
		"nothing": {map[string]any{}, 0}, "from polish": {map[string]any{"from": "polish"}, 1}, "from draft": {map[string]any{"from": "draft"}, 3},
		"other input": {map[string]any{"input": map[string]any{"topic": "herons"}}, 2}, // a phase's and a judge's; the texts came out the same
	} {
		run := again(202, c.body)
		if len(asked) != c.calls && !(name == "other input" && len(asked) > 0) {
			t.Errorf("%s: asked %v", name, asked)
		}
		if got := w.Run(run["run_id"].(string)); got.Parent != id || got.Status != "succeeded" {
			t.Errorf("%s: %s of %s", name, got.Status, got.Parent)
		}
	}
	// A repeated request starts one run; a different request with its name starts none.
	named := map[string]any{"run_id": "anew", "from": "polish"}
	again(202, named)
	again(200, named)
	again(409, map[string]any{"run_id": "anew", "from": "draft"})
	again(409, map[string]any{"run_id": "anew", "from": "polish", "input": map[string]any{"topic": "herons"}})
	again(200, map[string]any{"run_id": "anew", "from": "polish", "input": map[string]any{"topic": "owls"}}) // as it was
	herons := map[string]any{"run_id": "herons", "input": map[string]any{"topic": "herons"}}
	again(202, herons)
	again(200, herons)
	again(409, map[string]any{"run_id": "herons"})
	again(409, map[string]any{"run_id": "herons", "input": map[string]any{"topic": "owls"}})
	for body, status := range map[string]int{
		`{"from": "nowhere"}`: 422, `{"form": "draft"}`: 422, `{"input": {"tpic": "x"}}`: 422, `{"input": {"topic": 1}}`: 422, `{"input": []}`: 422, `[]`: 422, `{`: 400,
		`{"run_id": "../x"}`: 422, `{"run_id": "last"}`: 422, `{"with_changes": "yes"}`: 422,
	} {
		before := len(w.Want(200, "GET", "/v1/runs", nil).JSON(t)["runs"].([]any))
		if r := w.Ask("POST", "/v1/runs/"+id+"/again", body); r.StatusCode != status {
			t.Errorf("%s: %d %s", body, r.StatusCode, r.Text)
		}
		if after := len(w.Want(200, "GET", "/v1/runs", nil).JSON(t)["runs"].([]any)); after != before {
			t.Errorf("%s left a run", body)
		}
	}
	w.Problem(404, "no_run", "POST", "/v1/runs/none/again", map[string]any{})
	if err := w.Store.(*journal.Journal).External("Temporal").Begin(runner.Start{RunID: "guest", CascadeID: "post"}); err != nil {
		t.Fatal(err)
	}
	w.Problem(409, "elsewhere", "POST", "/v1/runs/guest/again", map[string]any{})
	again(202, map[string]any{"with_changes": true})
	if len(asked) != 0 {
		t.Errorf("with the same files it asked %v", asked)
	}
}
