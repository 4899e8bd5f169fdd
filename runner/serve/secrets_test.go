package serve_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/serve"
)

// TestAnswerSecrets checks that no answer contains a secret that the journal stored earlier,
// and that JSON remains valid.
func TestAnswerSecrets(t *testing.T) {
	w := servetest.New(t, func(o *serve.Options) {
		o.Secrets = map[string]string{"PIN": "12345678", "TITLE_KEY": "open+sesame", "NIGHT_KEY": "softly in the night"}
	})
	w.Want(202, "POST", "/v1/runs", map[string]any{"cascade": "form", "run_id": "first", "input": map[string]any{
		"note": "12345678", "title": "say open+sesame", "size": 12345678, "share": 0.5, "loud": true,
	}})
	<-w.Done
	w.Want(202, "POST", "/v1/runs", map[string]any{"cascade": "post", "run_id": "second", "input": map[string]any{"topic": "owls"}})
	<-w.Done
	shown := 0
	for path, accept := range map[string]string{
		"/v1/runs/first": "", "/v1/runs/second": "", "/v1/runs": "", "/v1/runs/first/events?follow=false": "application/x-ndjson", "/v1/runs/first/events?follow=false&detail=brief": "text/event-stream",
		"/runs/first": "text/html", "/": "text/html", "/v1/runs/open%2Bsesame": "",
	} {
		var header []string
		if accept != "" {
			header = []string{"Accept", accept}
		}
		r := w.Ask("GET", path, nil, header...)
		text := r.Text
		for _, secret := range []string{"12345678", "open+sesame", "open&#43;sesame", "softly in the night"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %s is in %s", path, secret, text)
			}
		}
		if strings.Contains(text, "[redacted ") {
			shown++
		}
		if strings.HasPrefix(path, "/v1") {
			for line := range strings.Lines(text) {
				line = strings.TrimPrefix(strings.TrimSpace(line), "data: ")
				if strings.HasPrefix(line, "{") && !json.Valid([]byte(line)) {
					t.Errorf("%s: no JSON: %s", path, line)
				}
			}
		}
	}
	if shown < 4 {
		t.Errorf("%d answers show a mark", shown)
	}
	if output := w.Want(200, "GET", "/v1/runs/second", nil).JSON(t)["output"]; output != "Owls hoot [redacted NIGHT_KEY], and fly at dusk." {
		t.Errorf("the output is %v", output)
	}
	if r := w.Ask("GET", "/v1/runs/first/events?follow=false", nil, "Accept", "application/x-ndjson"); !strings.Contains(r.Text, `"size":"[redacted PIN]"`) {
		t.Errorf("got %s", r.Text)
	}
}
