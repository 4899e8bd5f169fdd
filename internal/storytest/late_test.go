package storytest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// A late host has no time for anything that has a limit.
type late struct{ engine.Host }

func (late) Within(at event.Path, _ time.Duration, _ func(engine.Host) error) error {
	return &engine.Overtime{At: at}
}

// Without time left, no effect begins. A cascade within another reports its place, and
// an attempt has no text.
func TestOvertime(t *testing.T) {
	for _, c := range []struct{ phase, code, at, says, stands string }{
		{"compose: a, sub_cascades: [{ref: sub.yaml, input_map: {}}]", engine.OverBudget, "a/sub[0]/sub", "the limit of 5s is reached; raise budget.max_seconds", "sub.yaml:2:10"},
		{"compose: a, rules: {timeout: 5s}", engine.Failed, "a/attempt[0]", "the attempt took longer than 5s", "cascade.yaml:2:40"},
	} {
		s := storytest.Read(t, "late", []byte(`Something has no time.
-- cascade.yaml --
cascade_id: c
phases: [{name: a, `+c.phase+`}]
-- sub.yaml --
cascade_id: sub
budget: {max_seconds: 5}
phases: [{name: s, compose: s}]
`))
		_, err := engine.Run(late{s.Host(t)}, s.Cascade, s.Start())
		var cause *engine.Error
		if !errors.As(err, &cause) || cause.Code != c.code || string(cause.Path) != c.at || !strings.Contains(cause.Message, c.says) || cause.Position.String() != c.stands {
			t.Errorf("got %+v", cause)
		}
	}
}
