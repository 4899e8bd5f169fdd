package enginetest_test

import (
	"errors"
	"testing"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
)

// Who looks back at a phase that is a validator is told what it says now, why it can
// not say, or that the host could not ask it, whatever it said before.
func TestPastGate(t *testing.T) {
	s := enginetest.Read(t, "past", []byte(`A gate.
-- cascade.yaml --
cascade_id: c
phases: [{name: a, tool: slow_no, inputs: {text: bat, content: "{{ input.text }}"}}]
`))
	p, _ := s.Cascade.Phase("a")
	said := engine.Said{At: "a", Attempt: 1}
	state := engine.State{RunID: "run", Input: map[string]any{"text": "a bat"}}
	past := engine.NewPast(enginetest.NewFault(s.Host(t), 2), s.Cascade, p, &state, nil)
	if o, err := past.Gate(said); err != nil || o.Err != nil || o.Verdict.Valid || o.Verdict.Reason != "it says bat" {
		t.Errorf("it says %+v: %v", o, err)
	}
	if o, err := past.Gate(said); !errors.Is(err, enginetest.ErrFault) || o.Err != nil || o.Verdict.Reason != "" {
		t.Errorf("with the host gone it says %+v: %v", o, err)
	}
	state.Input = nil
	if o, err := past.Gate(said); err != nil || o.Err == nil || o.Verdict.Reason != "" {
		t.Errorf("of nothing it says %+v: %v", o, err)
	}
}
