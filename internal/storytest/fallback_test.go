package storytest_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// No step of a fallback list changes a byte of earlier messages.
func TestFallbackOnlyGrows(t *testing.T) {
	for _, name := range []string{"fallback_retry", "fallback_outage"} {
		s := storytest.Embedded(t, name)
		var sent []byte
		phase, steps, models := "", 0, []string{}
		sink := event.Func(func(e event.Event) {
			if e.Kind != event.ModelCalled || e.Validator != "" {
				return
			}
			wire, err := e.Request.Wire(model.Provider{Name: "any"})
			if err != nil {
				t.Fatal(err)
			}
			if e.Phase == phase && !bytes.HasPrefix(wire, sent) {
				t.Errorf("%s: %s: sent\n%s\nafter\n%s", name, e.Path, wire, sent)
			}
			if e.Phase == phase && e.Request.Model != models[len(models)-1] {
				steps++
			}
			sent, phase, models = slices.Clone(wire), e.Phase, append(models, e.Request.Model)
		})
		if _, err := engine.Run(s.Host(t, runner.WithSink(sink)), s.Cascade, s.Start()); steps < 2 {
			t.Errorf("%s: only %d steps in %q: %v", name, steps, models, err)
		}
	}
}
