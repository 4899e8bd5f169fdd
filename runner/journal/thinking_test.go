package journal

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// The effect has the complete reply. The live events, the stored events and the next
// request have its text, even after a resume.
func TestThinking(t *testing.T) {
	const raw = "<think>\nHm.\n</think>\n\nHello"
	c := load(t, `
cascade_id: talk
model: m
phases:
  - {name: one, instructions: Go., rules: {max_turns: 2, turn_prompt: More.}}
`)
	stop := true
	m := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		switch {
		case len(r.Messages) == 1:
			return model.Response{Text: raw}, nil
		case stop:
			return model.Response{}, &model.Failure{Class: model.Unavailable, Message: "down"}
		case r.Messages[1].Content != "Hello":
			t.Errorf("sent back %q", r.Messages[1].Content)
		}
		return model.Response{Text: "Done."}, nil
	})
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	reported := map[int64]*model.Response{}
	r := runnerOver(t, j, m, runner.WithSink(event.Func(func(e event.Event) {
		if e.Kind == event.ModelReplied {
			reported[e.Seq] = e.Response
		}
	})))
	if _, err := r.Run(t.Context(), c, nil, runner.WithRunID("run")); err == nil {
		t.Fatal("it did not fail")
	}
	stop = false
	if result, err := r.Resume(t.Context(), "run"); err != nil || result.Output != "Done." {
		t.Fatalf("got %+v, %v", result, err)
	}
	for e, err := range j.Effects(t.Context(), "run") {
		if err != nil {
			t.Fatal(err)
		}
		if r := e.Response; e.Path == "one/attempt[1]/turn[0]/model" && (r.Text != raw || r.Thinking != "") {
			t.Errorf("effect: %+v", r)
		}
	}
	replies := 0
	for e, err := range j.Events(t.Context(), "run", 0, Whole) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Kind == event.ModelReplied:
			if replies++; !reflect.DeepEqual(e.Response, reported[e.Seq]) {
				t.Errorf("event %d: %+v, told as %+v", e.Seq, e.Response, reported[e.Seq])
			}
			if replies == 1 && (e.Response.Text != "Hello" || e.Response.Thinking != "<think>\nHm.\n</think>") {
				t.Errorf("event: %+v", e.Response)
			}
		case e.Kind == event.ModelCalled && len(e.Request.Messages) > 1 && e.Request.Messages[1].Content != "Hello":
			t.Errorf("request: %+v", e.Request.Messages)
		}
	}
	if replies != 3 {
		t.Errorf("%d replies", replies)
	}
}
