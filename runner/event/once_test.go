package event

import (
	"slices"
	"testing"
)

func TestDeduplicator(t *testing.T) {
	var o Deduplicator
	var received []string
	to := Func(func(e Event) { received = append(received, string(e.Kind)+" "+string(e.Path)+" "+e.Message+e.Status) })
	start := func(events ...Event) {
		s := o.Sink(to)
		for _, e := range events {
			s.Emit(e)
		}
	}
	first := Event{Kind: Feedback, Path: "p", Message: "one"}
	second := Event{Kind: Feedback, Path: "p", Message: "two"}
	verdict := func(at Path) Event { return Event{Kind: VerdictGiven, Verdict: &Verdict{Path: at}} }
	end := func(status string) Event { return Event{Kind: PhaseFinished, Path: "p", Status: status} }
	start(first, verdict("a"), end("cancelled"))
	start(first, verdict("a"), second, verdict("b"), end("cancelled"))
	start(first, verdict("a"), second, verdict("b"), end("succeeded"))
	start(first, verdict("a"), second, verdict("b"), end("succeeded"))
	want := []string{
		"feedback p one", "verdict  ", "phase_finished p cancelled", "feedback p two", "verdict  ", "phase_finished p cancelled", "phase_finished p succeeded",
	}
	if !slices.Equal(received, want) {
		t.Errorf("received %q, want %q", received, want)
	}
}
