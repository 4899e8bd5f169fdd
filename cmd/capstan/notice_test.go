package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInterruptedNotice checks that an interrupt does not wait for a slow
// notice. The next start of the run sends the notice with the same key.
func TestInterruptedNotice(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	var keys []string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if keys = append(keys, r.Header.Get("Idempotency-Key")); len(keys) == 1 {
			interrupt()
			<-r.Context().Done()
		}
	}))
	defer s.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "ask.yaml")
	text := `{cascade_id: ask, phases: [{name: sign, compose: A text., human_input: {prompt: "Publish?", notify: {url: "` + s.URL + `"}}}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	c := &Command{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &stderr, Getenv: func(string) string { return "" }}
	c.Run(ctx, []string{"run", file, "--store", filepath.Join(dir, "runs.db"), "--run-id", "asked"})
	if len(keys) != 1 || !strings.Contains(stderr.String(), "note: run asked: notify: no time was left to report the question") {
		t.Fatalf("asked %q: %s", keys, stderr.String())
	}
	for range 2 {
		if status := c.Run(t.Context(), []string{"resume", "asked", "--store", filepath.Join(dir, "runs.db")}); status != exitWaiting {
			t.Errorf("status %d: %s", status, stderr.String())
		}
	}
	if len(keys) != 2 || keys[0] != keys[1] {
		t.Errorf("reported with %q", keys)
	}
}
