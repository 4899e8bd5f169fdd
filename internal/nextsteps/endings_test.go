package nextsteps_test

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// TestNextOfEveryEnding checks that every error code has a step with the run's
// name, and that a successful run has none.
func TestNextOfEveryEnding(t *testing.T) {
	codes := []string{engine.Blocked, engine.Exhausted, engine.Failed, engine.Waiting, engine.OverBudget, engine.Cancelled, engine.Invalid, engine.TakenOver}
	for _, code := range codes {
		lines := nextsteps.Next(engine.Result{RunID: "r1", Error: &event.Error{Code: code}}).Lines()
		if text := strings.Join(lines, "\n"); len(lines) == 0 || !strings.Contains(text, " r1") || strings.Contains(text, "RUN") {
			t.Errorf("%s: %q", code, lines)
		}
	}
	if lines := nextsteps.Next(engine.Result{RunID: "r1", Status: engine.Succeeded}).Lines(); len(lines) > 0 {
		t.Errorf("succeeded: %q", lines)
	}
}

// TestAfterStoredRun checks the steps that depend on a stored run's questions
// and owner.
func TestAfterStoredRun(t *testing.T) {
	pending := func(kind string, expired bool) []journal.Pending {
		return []journal.Pending{{Question: engine.Question{Type: kind}, Expired: expired}}
	}
	two := []journal.Pending{{Path: "sign/finance/human_input"}, {Path: "sign/legal/human_input"}}
	for _, c := range []struct {
		name    string
		guest   bool
		status  string
		pending []journal.Pending
		want    string
	}{
		{"a question", false, engine.Waiting, pending(cascades.Choice, false), "capstan answer r1 VALUE, then capstan resume r1"},
		{"a text to edit", false, engine.Waiting, pending(cascades.Edit, false), "capstan answer r1 --file text.md"},
		{"two questions", false, engine.Waiting, two, "capstan answer r1 VALUE --question sign/legal/human_input\ncapstan resume r1 continues after the answers"},
		{"an expired question", false, engine.Waiting, pending(cascades.Choice, true), "continues without an answer"},
		{"an answered question", false, engine.Waiting, nil, "continues with the answer"},
		{"a question of another engine", true, engine.Waiting, pending(cascades.Choice, false), "capstan-temporal answer r1 VALUE"},
		{"two questions of another engine", true, engine.Waiting, two, "capstan-temporal answer r1 VALUE --question sign/finance/human_input"},
		{"a failure in another engine", true, engine.Failed, nil, "capstan show r1 --attempts"},
		{"a run in progress", false, journal.Running, nil, "capstan events r1 --follow"},
	} {
		var run journal.Run
		run.RunID, run.External, run.Pending = "r1", c.guest, c.pending
		got := strings.Join(nextsteps.After(&run, engine.Result{RunID: "r1", Status: c.status}).Lines(), "\n")
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestAfterRunOfHook checks that no step resumes the run of a hook.
func TestAfterRunOfHook(t *testing.T) {
	for _, status := range []string{engine.Blocked, engine.Exhausted, engine.Failed, engine.Cancelled} {
		var run journal.Run
		run.RunID, run.Start.Settings = "r1", map[string]string{"hook_event": "Stop"}
		lines := nextsteps.After(&run, engine.Result{RunID: "r1", Status: status}).Lines()
		if text := strings.Join(lines, "\n"); len(lines) == 0 || strings.Contains(text, "resume") {
			t.Errorf("%s: %q", status, lines)
		}
	}
}

// TestAfterOnlyPhase checks that a changed phase runs alone again.
func TestAfterOnlyPhase(t *testing.T) {
	var run journal.Run
	run.RunID, run.Parent, run.Only = "r2", "r1", "draft"
	if got := nextsteps.After(&run, engine.Result{RunID: "r2", Status: engine.Blocked}).Do; !strings.HasSuffix(got, "capstan run --only draft --from-run r1") {
		t.Errorf("got %q", got)
	}
}
