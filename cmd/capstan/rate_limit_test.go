package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestBatchAtRateLimit runs a wide batch at an endpoint that takes 10 requests per
// second. All rows succeed, and the progress shows the waits. CAPSTAN_SLOW tries 300
// rows.
func TestBatchAtRateLimit(t *testing.T) {
	rows := 30
	if os.Getenv("CAPSTAN_SLOW") != "" {
		rows = 300
	}
	var mu sync.Mutex
	var window time.Time
	asked, answered := 0, 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(window) >= time.Second {
			window, asked = now, 0
		}
		w.Header().Set("Content-Type", "application/json")
		if asked++; asked > 10 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"error":{"message":"slow down"}}`)
			return
		}
		answered++
		_, _ = io.WriteString(w, `{"model":"m","choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}`)
	}))
	defer s.Close()
	dir := t.TempDir()
	var topics strings.Builder
	for i := range rows {
		fmt.Fprintf(&topics, "{\"topic\": \"topic %d\"}\n", i)
	}
	files := map[string]string{
		"one.yaml":   "cascade_id: one\ninputs_schema: {topic: {type: string}}\nphases:\n  - {name: say, instructions: \"{{ input.topic }}\"}\n",
		"rows.jsonl": topics.String(),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, progress bytes.Buffer
	c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &progress, Getenv: func(name string) string {
		return map[string]string{"VLLM_BASE_URL": s.URL + "/v1"}[name]
	}}
	status := c.Run(context.Background(), []string{"run", filepath.Join(dir, "one.yaml"), "--model", "vllm:m", "--each", filepath.Join(dir, "rows.jsonl"),
		"--parallel", "64", "--store", filepath.Join(dir, "runs.db"), "--out", filepath.Join(dir, "results.jsonl")})
	if status != 0 || answered != rows {
		t.Errorf("status %d, %d answers of %d: %.3000s", status, answered, rows, progress.String())
	}
	if wait := strings.TrimPrefix(s.URL, "http://") + " limits the rate: calls wait "; !strings.Contains(progress.String(), wait) {
		t.Errorf("no line has %q: %.3000s", wait, progress.String())
	}
}
