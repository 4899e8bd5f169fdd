package enginetest_test

import (
	"encoding/json"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
	"github.com/seed61713e19/capstan/runner/event"
)

// An evaluator is asked for the number of a candidate that there is, with a reason,
// and for nothing else.
func TestEvaluatorsSchema(t *testing.T) {
	s := enginetest.Shipped(t, "soundings_nonsense")
	var asked []string
	sink := event.Func(func(e event.Event) {
		if e.Kind == event.ModelCalled && e.Request.Role == "evaluator" {
			text, _ := json.Marshal(e.Request.Schema)
			asked = append(asked, string(text))
		}
	})
	_, _ = engine.Run(s.Host(t, runner.WithSink(sink)), s.Cascade, s.Start())
	const want = `{"additionalProperties":false,"properties":{"reason":{"type":"string"},"winner":{"maximum":2,"minimum":1,"type":"integer"}},"required":["winner","reason"],"type":"object"}`
	for _, got := range asked {
		if got != want {
			t.Errorf("it is asked with %s", got)
		}
	}
	if len(asked) != 3 {
		t.Errorf("it is asked %d times", len(asked))
	}
}
