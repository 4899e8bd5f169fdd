package temporal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
)

// TestSearchAttributes checks that a run sets its cascade, phase and status as
// search attributes if the worker is configured so, and none otherwise.
func TestSearchAttributes(t *testing.T) {
	for _, search := range []bool{true, false} {
		x := try(t, several, nil, judging, runner.WithTools(look), runner.WithValidators(slow))
		x.crew.Search = search
		var received []string
		x.OnUpsertTypedSearchAttributes(mock.Anything).Run(func(args mock.Arguments) {
			a := args.Get(0).(temporal.SearchAttributes)
			cascade, _ := a.GetKeyword(attributeCascade)
			status, _ := a.GetKeyword(attributeStatus)
			phase, _ := a.GetKeyword(attributePhase)
			received = append(received, strings.Join([]string{cascade, status, phase}, "/"))
		}).Return(nil).Maybe()
		if result, _, err := x.end(t); err != nil || result.Status != engine.Succeeded {
			t.Fatalf("%+v: %v", result, err)
		}
		want := "several/running/a /running/b /running/c /succeeded/"
		if !search {
			want = ""
		}
		if got := strings.Join(received, " "); got != want {
			t.Errorf("received %q, want %q", got, want)
		}
	}
}
