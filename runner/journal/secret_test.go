package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// No secret gets into the files, wherever it was said and however it is
// written; and the run can be gone on with.
func TestSecrets(t *testing.T) {
	const key, odd, other = "sk-1234567890abcdef", `pass"wo\rd<&>é`, "sk-1234567890abcdef-longer"
	secrets := map[string]string{"API_KEY": key, "PASSWORD": odd, "LONGER": other, "EMPTY": ""}
	file := filepath.Join(t.TempDir(), "j.db")
	all := "all: " + key + " " + odd + " " + other
	args, _ := json.Marshal(map[string]any{"text": all})
	m := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		switch {
		case r.Validator != "":
			return model.Response{Text: `{"valid": true, "reason": "it says ` + key + `"}`}, nil
		case len(r.Messages) == 1:
			return model.Response{ToolCalls: []model.ToolCall{{ID: "1", Name: "echo", Arguments: string(args)}}}, nil
		}
		return model.Response{Text: strings.Repeat("long ", 200) + all}, nil
	})
	echo := tool.New("echo", "Echo "+key, func(_ context.Context, a struct {
		Text string `json:"text"`
	}) (any, error) {
		return map[string]any{"said": a.Text, "more": []any{key}}, nil
	})
	c, err := runner.New(runner.WithTools(echo))
	if err != nil {
		t.Fatal(err)
	}
	text := `
cascade_id: secret
description: "` + key + `"
validators: {tone: {judge: "Is it ` + key + `?"}}
phases:
  - {name: say, instructions: "Say {{ input.word }}", tackle: [echo], wards: {post: [{validator: tone, mode: advisory}]}}
  - {name: ask, instructions: "{{ outputs.say }}", tackle: [echo], human_input: {prompt: "{{ content }}", type: text}}
`
	cascade, err := c.Parse("cascade.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	j := journalAt(t, file, Options{Secrets: secrets})
	r := runnerOver(t, j, m, runner.WithTools(echo))
	run := func(id string, o ...runner.RunOption) engine.Result {
		o = append(o, runner.WithRunID(id), runner.WithSettings(map[string]string{"key": key}))
		result, _ := r.Run(t.Context(), cascade, map[string]any{"word": all}, o...)
		return result
	}
	if result := run("run"); result.Status != engine.Waiting || !strings.Contains(asJSON(t, result.Outputs), key) {
		t.Fatalf("got %+v", result)
	}
	clean(t, file, secrets)
	if again, err := r.Resume(t.Context(), "run"); again.Status != engine.Waiting {
		t.Fatalf("got %+v, %v", again, err)
	}
	if err := j.Answer(t.Context(), "run", "it is "+key); err != nil {
		t.Fatal(err)
	}
	if again, err := r.Resume(t.Context(), "run"); err != nil {
		t.Fatalf("got %+v, %v", again, err)
	}
	clean(t, file, secrets)
	events := asJSON(t, eventsOf(t, j, "run", Whole))
	for _, want := range []string{"[redacted API_KEY]", "[redacted PASSWORD]", "[redacted LONGER]"} {
		if !strings.Contains(events, want) {
			t.Errorf("the events have no %s", want)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	clean(t, file, secrets)
}

// Nor in a file of a cascade that is no text, which is kept as bytes are.
func TestSecretInBytes(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Secrets: map[string]string{"API_KEY": "sk-123"}})
	begin(t, j, runner.Start{RunID: "run", Files: []cascades.File{{Name: "x", Text: []byte("\xff sk-123")}}})
	run, err := j.Run(t.Context(), "run")
	if err != nil || string(run.Start.Files[0].Text) != "\xff [redacted API_KEY]" {
		t.Errorf("got %q, %v", run.Start.Files, err)
	}
}

// clean greps the files.
func clean(t *testing.T, file string, secrets map[string]string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		raw, err := os.ReadFile(file + suffix)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for name, secret := range secrets {
			if secret == "" {
				continue
			}
			for _, form := range append(disguises(secret), secret) {
				if i := bytes.Index(raw, []byte(form)); i >= 0 {
					t.Errorf("%s is in the journal%s: %q", name, suffix, raw[max(0, i-80):min(len(raw), i+80)])
				}
			}
		}
	}
}
