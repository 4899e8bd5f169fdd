package openai_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// harness is a fake model that speaks several protocols and was written for coding agents.
const harness = "../../../../shared/harness/fakemodel.mjs"

// startHarness starts the fake model with a scenario and returns its address.
func startHarness(t *testing.T, scenario any) string {
	t.Helper()
	if _, err := os.Stat(harness); err != nil {
		t.Skip("the fake model is not there")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the fake model needs node")
	}
	text, err := json.Marshal(scenario)
	file := filepath.Join(t.TempDir(), "scenario.json")
	if err = errors.Join(err, os.WriteFile(file, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, harness, "--scenario", file)
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening "))
}

// Each kind of reply, whole and streamed, in each protocol.
func TestHarness(t *testing.T) {
	type fields = map[string]any
	long := strings.Repeat("A long text. ", 100)
	kinds := map[string]struct {
		reply      fields
		text, call string
		class      model.Class
		says       string
		streamed   bool // only
	}{
		"text":         {reply: fields{"text": "Hello", "usage": fields{"in": 100, "out": 10}}, text: "Hello"},
		"long text":    {reply: fields{"text": long}, text: long},
		"call":         {reply: fields{"text": "I look.", "calls": []any{fields{"id": "c1", "name": "now", "args": fields{"zone": "UTC"}}}}, text: "I look.", call: `now{"zone":"UTC"}`},
		"keep-alives":  {reply: fields{"text": "Hello", "hold": fields{"ms": 60, "every": 20}}, text: "Hello"},
		"comments":     {reply: fields{"text": "Hello", "hold": fields{"ms": 60, "every": 20, "how": "comment"}}, text: "Hello"},
		"token limit":  {reply: fields{"text": "Hel"}, class: model.Truncated, says: "the token limit"},
		"overloaded":   {reply: fields{"status": 529, "error": "Overloaded"}, class: model.Unavailable, says: "Overloaded"},
		"rate limit":   {reply: fields{"status": 429, "error": "Slow down"}, class: model.RateLimited, says: "Slow down"},
		"wrong key":    {reply: fields{"status": 401, "error": "No key"}, class: model.Rejected, says: "does not take the key"},
		"cut":          {reply: fields{"text": long, "cut": 500}, class: model.Unavailable, says: "EOF", streamed: true},
		"stream error": {reply: fields{"stream_error": fields{"message": "Overloaded", "status": 529}}, class: model.Unavailable, says: "Overloaded", streamed: true},
	}
	protocols := map[string]struct{ provider, limit string }{"": {"groq", "length"}, model.Messages: {"anthropic", "max_tokens"}, "responses": {"openai", "max_output_tokens"}}
	names := map[string]string{"": "chat", model.Messages: "anthropic", "responses": "responses"}
	var rules []fields
	for name, kind := range kinds {
		for api, p := range protocols {
			rule := fields{"if": "^" + name + "$", "api": names[api]}
			for member, value := range kind.reply {
				rule[member] = value
			}
			if name == "token limit" {
				rule["stop"] = p.limit
			}
			rules = append(rules, rule)
		}
	}
	address := startHarness(t, fields{"sides": true, "rules": rules})
	for name, kind := range kinds {
		for api, p := range protocols {
			for _, streamed := range []bool{false, true} {
				if kind.streamed && !streamed {
					continue
				}
				provider, _ := model.Builtin(p.provider)
				provider.API = api
				c, err := openai.New(openai.Options{Provider: provider, BaseURL: address + "/v1", APIKey: "sk-secret-key", MaxTries: 1, Stream: streamed})
				if err != nil {
					t.Fatal(err)
				}
				r := ask(name)
				r.Tools = []model.Tool{{Name: "now", Parameters: fields{"type": "object"}}}
				resp, err := c.Call(t.Context(), r)
				call := ""
				for _, made := range resp.ToolCalls {
					call += made.Name + made.Arguments
				}
				var f *model.Failure
				switch {
				case kind.class == "" && (err != nil || resp.Text != kind.text || call != kind.call || resp.Usage.InputTokens == 0):
					t.Errorf("%s, %s, streamed: %t: got %+v, %v", name, names[api], streamed, resp, err)
				case kind.class != "" && (!errors.As(err, &f) || f.Class != kind.class || !strings.Contains(f.Message, kind.says) || resp.Text != ""):
					t.Errorf("%s, %s, streamed: %t: got %+v, %v", name, names[api], streamed, resp, err)
				}
			}
		}
	}
}
