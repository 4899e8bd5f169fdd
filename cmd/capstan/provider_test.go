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

// TestOwnProvider checks that a provider of the file gets requests at its
// address, with its key, its headers and the model's parameters.
func TestOwnProvider(t *testing.T) {
	t.Setenv("HOUSE_TEAM", "owls")
	var asked, body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		asked, body = r.Header.Get("Authorization")+" "+r.Header.Get("X-Team"), string(text)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}]}`)
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "one.yaml")
	text := `cascade_id: one
model: {name: "house:big", temperature: 0.2, extra: {service_tier: flex}}
providers: {house: {base_url: "` + s.URL + `/v1", key_env: HOUSE_KEY, headers: {X-Team: "{{ env.HOUSE_TEAM }}"}}}
phases: [{name: say, instructions: Say it.}]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, stderr bytes.Buffer
	c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr, Getenv: func(name string) string {
		return map[string]string{"HOUSE_KEY": "sk-of-the-house"}[name]
	}}
	status := c.Run(context.Background(), []string{"run", file, "--store", "off", "--quiet"})
	if status != 0 || asked != "Bearer sk-of-the-house owls" || !strings.Contains(body, `"temperature":0.2`) || !strings.Contains(body, `"service_tier":"flex"`) {
		t.Errorf("status %d, asked %q, %s, %s", status, asked, body, stderr.String())
	}
}
