package pages_test

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
)

// TestRunPageLeadsWithState checks the part of the page above the phases.
func TestRunPageLeadsWithState(t *testing.T) {
	w := servetest.New(t)
	top := func(id string) string {
		head, _, _ := strings.Cut(w.Want(200, "GET", "/runs/"+id, nil).Text, `id="phases-title"`)
		return head
	}
	inOrder := func(name, page string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			_, rest, found := strings.Cut(page, want)
			if !found {
				t.Errorf("%s: no %q in its place in %s", name, want, page)
				return
			}
			page = rest
		}
	}
	waits := w.Start("ask", nil)
	inOrder("waiting", top(waits), "draft waits for an answer", `name="value"`, "<h1>")
	inOrder("blocked", top(w.Start("blocked", nil)), "<h1>", "<strong>exhausted</strong>", "<strong>Next:</strong>", "--with-changes", "Why the text was rejected")
	ended := top(w.Start("post", map[string]any{"topic": "owls"}))
	inOrder("succeeded", ended, "<h1>", "<h2>Output</h2>", `<details class="text" id="mended">`, "corrected later", "</details>")
	if strings.Contains(ended, "Next:") || strings.Contains(ended, "Why the text was rejected") {
		t.Errorf("a run that succeeded has a next step: %s", ended)
	}
}
