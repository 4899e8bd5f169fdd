package serve_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve"
)

// A keyless model reports a missing key.
type keyless struct{ model.Model }

func (keyless) Ready(string) error { return errors.New("HOUSE_KEY is not set: house needs a key") }

// TestOrdersForModelsThatCannotBeAsked checks that an order without a usable model is rejected
// with the phase and the provider, and that no run is stored.
func TestOrdersForModelsThatCannotBeAsked(t *testing.T) {
	w := servetest.New(t, func(o *serve.Options) {
		o.NewRunner = func(s runner.Start, j runner.Journal) (*runner.Runner, error) {
			return runner.New(runner.WithJournal(j), runner.WithModel(keyless{}), runner.WithModelName("house:big"))
		}
	})
	problem := w.Problem(503, "not_ready", "POST", "/v1/runs", `{"cascade": "post", "input": {"topic": "owls and bats"}}`).JSON(t)
	if detail, _ := problem["detail"].(string); !strings.Contains(detail, "phase ") || !strings.Contains(detail, "HOUSE_KEY is not set: house needs a key") {
		t.Errorf("%v", problem)
	}
	if n := len(w.Want(200, "GET", "/v1/runs", nil).JSON(t)["runs"].([]any)); n != 0 {
		t.Errorf("%d runs were begun", n)
	}
}
