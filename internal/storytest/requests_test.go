package storytest_test

import (
	"reflect"
	"testing"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// called returns the calls of models, or of tools, in a story's run.
func called(t *testing.T, kind event.Kind, story string) (all []event.Event) {
	t.Helper()
	s := storytest.Embedded(t, story)
	sink := event.Func(func(e event.Event) {
		if e.Kind == kind {
			all = append(all, e)
		}
	})
	_, _ = engine.Run(s.Host(t, runner.WithSink(sink)), s.Cascade, s.Start())
	return all
}

// The requests of a conversation share a thread, which grows and is encoded
// once.
func TestConversationsAreThreads(t *testing.T) {
	for _, e := range called(t, event.ModelCalled, "turn_wards") {
		sent, whole := e.Request.Messages, e.Request.Thread
		if whole == nil || len(whole.Messages()) < len(sent) || !reflect.DeepEqual(whole.Messages()[:len(sent)], sent) {
			t.Errorf("%s does not come with its thread", e.Path)
		}
	}
}

// Every request and every call of a tool contains its run and its path.
func TestCallsHaveKeys(t *testing.T) {
	for _, e := range append(called(t, event.ModelCalled, "soundings_nonsense"), called(t, event.ModelCalled, "sub_cascade")...) {
		if e.Request.Run != "run" || e.Request.Key != "run:"+string(e.Path) {
			t.Errorf("%s is of the run %q, with the key %q", e.Path, e.Request.Run, e.Request.Key)
		}
	}
	for _, e := range append(called(t, event.ToolCalled, "tools"), called(t, event.ToolCalled, "tool_phase")...) {
		if e.Call.Key != "run:"+string(e.Path) {
			t.Errorf("%s has the key %q", e.Path, e.Call.Key)
		}
	}
}

// The schema for an evaluator allows only the number of an existing candidate
// and a reason.
func TestEvaluatorsSchema(t *testing.T) {
	const want = `{"additionalProperties":false,"properties":{"reason":{"type":"string"},"winner":{"maximum":2,"minimum":1,"type":"integer"}},"required":["winner","reason"],"type":"object"}`
	n := 0
	for _, e := range called(t, event.ModelCalled, "soundings_nonsense") {
		if e.Request.Role != "evaluator" {
			continue
		}
		if n++; string(e.Request.Schema) != want {
			t.Errorf("it is asked with %s", e.Request.Schema)
		}
	}
	if n != 3 {
		t.Errorf("it is asked %d times", n)
	}
}
