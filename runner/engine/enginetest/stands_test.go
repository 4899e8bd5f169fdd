package enginetest_test

import (
	"errors"
	"testing"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
)

// An error says at which of the run's places it came up, and leads to what it is of
// in the file.
func TestErrorsStand(t *testing.T) {
	for _, c := range []struct{ phase, path, stands string }{
		{`tool: add, inputs: {a: 1, b: "{{ input.gone }}"}`, "a/attempt[1]/tool", "cascade.yaml:2:46"},
		{`tool: add, inputs: {a: 1, b: "{{ input.gone }}"}, wards: {pre: [{expr: "true"}]}`, "a", "cascade.yaml:2:46"},
		{`compose: "<x>[</x>", output_extraction: {pattern: "<x>(.*)</x>", store_as: x, format: json}`, "a", "cascade.yaml:2:41"},
	} {
		s := enginetest.Read(t, "stands", []byte("A phase that fails.\n-- cascade.yaml --\ncascade_id: c\nphases: [{name: a, "+c.phase+"}]\n"))
		_, err := engine.Run(s.Host(t), s.Cascade, s.Start())
		var why *engine.Error
		if !errors.As(err, &why) || string(why.Path) != c.path || why.Position.String() != c.stands {
			t.Errorf("%s: it is at %s, %s: %v", c.phase, why.Path, why.Position, err)
		}
	}
}
