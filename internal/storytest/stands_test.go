package storytest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// An error contains the path where it occurred and its position in the file.
func TestErrorsStand(t *testing.T) {
	for _, c := range []struct{ phase, sub, path, stands string }{
		{`tool: add, inputs: {a: 1, b: "{{ input.gone }}"}`, "", "a/attempt[1]/tool", "cascade.yaml:2:46"},
		{`tool: add, inputs: {a: 1, b: "{{ input.gone }}"}, wards: {pre: [{expr: "true"}]}`, "", "a", "cascade.yaml:2:46"},
		{`compose: "<x>[</x>", output_extraction: {pattern: "<x>(.*)</x>", store_as: x, format: json}`, "", "a", "cascade.yaml:2:41"},
		{`compose: a, sub_cascades: [{ref: sub.yaml, input_map: {}}]`, "inputs_schema: {topic: {type: string}}", "a/sub[0]/sub", "sub.yaml:2:17"},
		{`compose: a, sub_cascades: [{ref: sub.yaml, input_map: {}}]`, "budget: {max_phases: 1}", "a/sub[0]/sub", "sub.yaml:2:10"},
	} {
		s := storytest.Read(t, "stands", []byte("A phase that fails.\n-- cascade.yaml --\ncascade_id: c\nphases: [{name: a, "+c.phase+"}]\n"+
			"-- sub.yaml --\ncascade_id: sub\n"+c.sub+"\nphases: [{name: s, compose: s}, {name: t, compose: t}]\n"))
		_, err := engine.Run(s.Host(t), s.Cascade, s.Start())
		var cause *engine.Error
		if !errors.As(err, &cause) || string(cause.Path) != c.path || cause.Position.String() != c.stands || (cause.Check != "") != strings.HasPrefix(cause.Message, "output_extraction: ") {
			t.Errorf("%s: it is at %s, %s, by %q: %v", c.phase, cause.Path, cause.Position, cause.Check, err)
		}
	}
}

// A run that resumes at an unknown phase ends before its first effect.
func TestGoesOnNowhere(t *testing.T) {
	s := storytest.Embedded(t, "plain")
	_, err := engine.Run(s.Host(t), s.Cascade, engine.State{RunID: "run", Next: "gone"})
	var cause *engine.Error
	if !errors.As(err, &cause) || cause.Code != engine.Invalid || !strings.Contains(cause.Message, `no phase is called "gone"`) {
		t.Errorf("it ends with %v", err)
	}
}

// A timing host records the requested time limits.
type timing struct {
	engine.Host
	limits *[]time.Duration
}

func (h timing) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	*h.limits = append(*h.limits, d)
	return h.Host.Within(at, d, body)
}

// A resumed run has the rest of its time, or the minimum if nothing is left.
func TestTimeLeft(t *testing.T) {
	s := storytest.Read(t, "timed", []byte("A run with a limit.\n-- cascade.yaml --\ncascade_id: c\nbudget: {max_seconds: 5}\nphases: [{name: a, compose: a}]\n"))
	var limits []time.Duration
	for _, spent := range []time.Duration{0, 2 * time.Second, 5 * time.Second, 7 * time.Second} {
		_, _ = engine.Run(timing{s.Host(t), &limits}, s.Cascade, engine.State{RunID: "run", Elapsed: spent})
	}
	if want := []time.Duration{5 * time.Second, 3 * time.Second, 1, 1}; !slices.Equal(limits, want) {
		t.Errorf("got %v, want %v", limits, want)
	}
}
