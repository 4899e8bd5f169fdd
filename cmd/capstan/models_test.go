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
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
)

// asked runs a cascade of one phase with an endpoint.
func asked(t *testing.T, name string, env map[string]string, handler http.HandlerFunc) (status int, stdout, stderr string) {
	t.Helper()
	s := httptest.NewServer(handler)
	defer s.Close()
	file := filepath.Join(t.TempDir(), "one.yaml")
	if err := os.WriteFile(file, []byte("cascade_id: one\nphases:\n  - {name: say, instructions: Say it.}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return strings.ReplaceAll(env[name], "SERVER", s.URL) }
	var out, errOut bytes.Buffer
	c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut, Getenv: getenv}
	status = c.Run(context.Background(), []string{"run", file, "--model", name, "--store", "off", "--quiet"})
	return status, out.String(), errOut.String()
}

// TestHalfATextIsNone checks that a truncated text is never an output, whatever
// finish reason the endpoint sends.
func TestHalfATextIsNone(t *testing.T) {
	for finish, status := range map[string]int{"stop": 0, "END_TURN": 0, "model_length": 3, "MAX_TOKENS": 3, "content_filter: OTHER": 3, "tool_calls": 3, "odd": 3} {
		got, stdout, stderr := asked(t, "gpt-5-mini", map[string]string{"OPENAI_BASE_URL": "SERVER/v1"}, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"choices":[{"message":{"content":"The first half"},"finish_reason":%q}]}`, finish)
		})
		if got != status || (stdout == "The first half\n") != (status == 0) || status != 0 && (stdout != "" || !strings.Contains(stderr, finish)) {
			t.Errorf("%s: status %d, %q, %q", finish, got, stdout, stderr)
		}
	}
}

// TestLeftOutIsTold checks that a parameter which the endpoint rejects is
// reported once.
func TestLeftOutIsTold(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(string(text), "response_format") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, `{"model":"m-1","choices":[{"message":{"content":"{\"n\": 1}"},"finish_reason":"stop"}]}`)
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "two.yaml")
	text := `cascade_id: two
phases:
  - {name: one, instructions: Say it., output_schema: {type: object}}
  - {name: two, instructions: Again., output_schema: {type: object}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, stderr bytes.Buffer
	c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr, Getenv: func(name string) string {
		return map[string]string{"VLLM_BASE_URL": s.URL + "/v1"}[name]
	}}
	status := c.Run(context.Background(), []string{"run", file, "--model", "vllm:m", "--store", "off"})
	if status != 0 || strings.Count(stderr.String(), "response_format of m-1 was left out") != 1 {
		t.Errorf("status %d, %s", status, stderr.String())
	}
}

// TestModelsAreRouted checks that a model's name selects the endpoint and the
// key.
func TestModelsAreRouted(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%q},"finish_reason":"stop"}]}`, r.URL.Path+" "+r.Header.Get("Api-Key")+r.Header.Get("Authorization"))
	}
	env := map[string]string{
		"OLLAMA_BASE_URL": "SERVER/v1", "VLLM_BASE_URL": "SERVER/other/v1", "VLLM_API_KEY": "sk-of-vllm",
		"AZURE_OPENAI_ENDPOINT": "SERVER", "AZURE_OPENAI_API_KEY": "sk-of-azure", "OPENAI_API_KEY": "sk-of-openai",
	}
	for name, want := range map[string]string{
		"ollama:llama3:8b": "/v1/chat/completions \n", "vllm:m": "/other/v1/chat/completions Bearer sk-of-vllm\n", "azure:mine": "/openai/v1/chat/completions sk-of-azure\n",
	} {
		if status, stdout, stderr := asked(t, name, env, answer); status != 0 || stdout != want {
			t.Errorf("%s: status %d, %q, %q", name, status, stdout, stderr)
		}
	}
	for name, says := range map[string]string{
		"llama3:8b": "ollama:llama3:8b", "anthropic:claude": "ANTHROPIC_API_KEY is not set", "ollama:": "ollama:MODEL",
	} {
		if status, stdout, stderr := asked(t, name, env, answer); status != 2 || stdout != "" || !strings.Contains(stderr, says) {
			t.Errorf("%s: status %d, %q, %q", name, status, stdout, stderr)
		}
	}
}

func TestTokensAreTold(t *testing.T) {
	for want, u := range map[string]model.Usage{
		"12 tokens": {InputTokens: 10, OutputTokens: 2}, "about 12 tokens": {InputTokens: 10, OutputTokens: 2, Estimated: true},
		"12 tokens (8 cached, 1 thought)": {InputTokens: 10, OutputTokens: 2, Cached: 8, Reasoning: 1},
	} {
		if got := tokens(u); got != want {
			t.Errorf("got %s", got)
		}
	}
}
