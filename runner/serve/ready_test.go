package serve_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

// A keyless model cannot be asked, and knows it.
type keyless struct{ model.Model }

func (keyless) Ready(string) error { return errors.New("HOUSE_KEY is not set: house needs a key") }

// An order that would only find on its way that a model cannot be asked is
// refused with phase and provider, and no run is left.
func TestOrdersForModelsThatCannotBeAsked(t *testing.T) {
	w := servetest.New(t, func(_ *serve.Options, o *orders.CrewOptions) {
		o.Runner = func(s runner.Start, j runner.Journal) (*runner.Runner, error) {
			return runner.New(runner.WithJournal(j), runner.WithModel(keyless{}), runner.WithModelName("house:big"))
		}
	})
	told := w.Problem(503, "not_ready", "POST", "/v1/runs", `{"cascade": "post", "input": {"topic": "owls and bats"}}`).JSON(t)
	if said, _ := told["detail"].(string); !strings.Contains(said, "phase ") || !strings.Contains(said, "HOUSE_KEY is not set: house needs a key") {
		t.Errorf("%v", told)
	}
	if n := len(w.Want(200, "GET", "/v1/runs", nil).JSON(t)["runs"].([]any)); n != 0 {
		t.Errorf("%d runs were begun", n)
	}
}
