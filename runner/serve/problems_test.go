package serve_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// TestProblems checks the answers to errors.
func TestProblems(t *testing.T) {
	own := orders.NewProblem(503, "not_ready", "HOUSE_KEY is not set")
	for want, err := range map[string]error{
		"404 no_run: there is no such run":                                                                         fmt.Errorf("store: %w", runner.ErrNoRun),
		"503 not_ready: HOUSE_KEY is not set":                                                                      own,
		"503 not_ready: the answer is stored, but: HOUSE_KEY is not set":                                           &orders.NotResumedError{Err: own},
		"409 run_busy: " + runner.ErrRunBusy.Error():                                                               &orders.NotResumedError{Err: runner.ErrRunBusy},
		"500 internal: something broke; the server's log says what":                                                errors.New("disk"),
		"503 answered_not_resumed: the answer is stored, but " + runner.ErrAway.Error() + ": resume the run later": &orders.NotResumedError{Err: fmt.Errorf("postgres://me@house/x: %w", runner.ErrAway)},
		"503 unavailable: " + runner.ErrAway.Error():                                                               fmt.Errorf("run: %w", runner.ErrAway),
		"503 answered_not_resumed: the answer is stored, but the server is shutting down: resume the run later":    &orders.NotResumedError{Err: orders.ErrClosed},
	} {
		w := httptest.NewRecorder()
		p := orders.ProblemOf(w, httptest.NewRequest("GET", "/", nil), err)
		if got := fmt.Sprintf("%d %v", p.Status, p); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if later := w.Header().Get("Retry-After") != ""; later != (p.Status == 503) {
			t.Errorf("%s: to come back later: %v", want, later)
		}
	}
}
