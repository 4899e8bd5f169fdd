package storytest_test

import (
	"errors"
	"testing"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner/engine"
)

// A check of an earlier phase that is a validator runs the validator again. The result
// is its new verdict, its error, or the error of the host, independent of the old
// verdict.
func TestPastGate(t *testing.T) {
	s := storytest.Read(t, "past", []byte(`A gate.
-- cascade.yaml --
cascade_id: c
phases: [{name: a, tool: slow_no, inputs: {text: bat, content: "{{ input.text }}"}}]
`))
	p, _ := s.Cascade.Phase("a")
	recorded := engine.RecordedText{At: "a", Attempt: 1}
	state := engine.State{RunID: "run", Input: map[string]any{"text": "a bat"}}
	past := engine.NewRecheck(storytest.NewFault(s.Host(t), 2), s.Cascade, p, &state, nil)
	if o, err := past.Gate(recorded); err != nil || o.Err != nil || o.Verdict.Valid || o.Verdict.Reason != "it says bat" {
		t.Errorf("got %+v: %v", o, err)
	}
	if o, err := past.Gate(recorded); !errors.Is(err, storytest.ErrFault) || o.Err != nil || o.Verdict.Reason != "" {
		t.Errorf("without the host: got %+v: %v", o, err)
	}
	state.Input = nil
	if o, err := past.Gate(recorded); err != nil || o.Err == nil || o.Verdict.Reason != "" {
		t.Errorf("without input: got %+v: %v", o, err)
	}
}

// Locals returns nil for an item that the changed list lacks.
func TestPastLocals(t *testing.T) {
	s := storytest.Read(t, "items", []byte(`Items.
-- cascade.yaml --
cascade_id: c
phases: [{name: a, each: {in: "{{ input.list }}", as: one}, compose: "{{ one }}"}]
`))
	p, _ := s.Cascade.Phase("a")
	state := engine.State{RunID: "run", Input: map[string]any{"list": []any{"x"}}}
	past := engine.NewRecheck(s.Host(t), s.Cascade, p, &state, nil)
	if own, missing := past.Locals(0), past.Locals(1); own["one"] != "x" || missing != nil {
		t.Errorf("the variables are %v, and those of a missing item %v", own, missing)
	}
}
