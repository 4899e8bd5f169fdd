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

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// A fakeModel is a program that serves several protocols and follows a
// scenario.
type fakeModel struct{ url, scenario string }

func startFakeModel(t *testing.T) *fakeModel {
	t.Helper()
	program, err := filepath.Abs("../../../../shared/harness/fakemodel.mjs")
	if err != nil {
		t.Fatal(err)
	}
	node, err := exec.LookPath("node")
	if _, there := os.Stat(program); err != nil || there != nil {
		t.Skip("it needs node and ../shared/harness/fakemodel.mjs")
	}
	f := &fakeModel{scenario: filepath.Join(t.TempDir(), "scenario.json")}
	f.answer(t, `{}`)
	c := exec.CommandContext(t.Context(), node, program, "--scenario", f.scenario)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Wait() }) // it ends with the context
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	f.url = strings.TrimSpace(strings.TrimPrefix(line, "listening ")) + "/v1"
	return f
}

// answer sets the reply to every request.
func (f *fakeModel) answer(t *testing.T, reply string) {
	t.Helper()
	if err := os.WriteFile(f.scenario, []byte(`{"sides":true,"rules":[`+reply+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestProtocolsAgree sends the same replies over each protocol, whole and streamed: the
// response is the same, and so is the class of a failure.
func TestProtocolsAgree(t *testing.T) {
	f := startFakeModel(t)
	long := strings.Repeat("Round and round it went – “again”. ", 100)
	calls := []model.ToolCall{{ID: "a", Name: "now", Arguments: `{"zone":"UTC"}`}, {ID: "b", Name: "now", Arguments: `{}`}}
	reply := func(text string) string { return `{"text":` + quoted(text) + `,"usage":{"in":100,"out":10}}` }
	for name, test := range map[string]struct {
		reply    string
		text     string
		calls    []model.ToolCall
		class    model.Class // "" for an answer
		says     string
		streamed bool // only streams have the problem
	}{
		"text":           {reply: reply("Hello <you> & “me” 🦉"), text: "Hello <you> & “me” 🦉"},
		"long text":      {reply: reply(long), text: long},
		"calls":          {reply: `{"calls":[{"id":"a","name":"now","args":{"zone":"UTC"}},{"id":"b","name":"now"}],"usage":{"in":100,"out":10}}`, calls: calls},
		"text and calls": {reply: `{"text":"I look.","calls":[{"id":"a","name":"now","args":{"zone":"UTC"}}],"usage":{"in":100,"out":10}}`, text: "I look.", calls: calls[:1]},
		"keep-alives":    {reply: `{"text":"Hello","usage":{"in":100,"out":10},"hold":{"ms":30,"every":10}}`, text: "Hello"},
		"comments":       {reply: `{"text":"Hello","usage":{"in":100,"out":10},"hold":{"ms":30,"every":10,"how":"comment"}}`, text: "Hello"},
		"late head":      {reply: `{"text":"Hello","usage":{"in":100,"out":10},"hold":{"ms":30,"open":false}}`, text: "Hello"},
		"filter":         {reply: `{"text":"half","stop":"content_filter"}`, class: model.Refused, says: "content_filter"},
		"limit":          {reply: `{"text":"half","stop":"max_output_tokens"}`, class: model.Truncated, says: "after 4 characters"},
		"unknown reason": {reply: `{"text":"half","stop":"tired"}`, class: model.Unusable, says: "tired"},
		"nothing":        {reply: `{"text":""}`, class: model.Empty, says: "said nothing"},
		"status 400":     {reply: `{"status":400,"error":"Too long."}`, class: model.Rejected, says: "Too long."},
		"status 401":     {reply: `{"status":401,"error":"Wrong key."}`, class: model.Rejected, says: "does not take the key"},
		"status 429":     {reply: `{"status":429,"error":"Slow down.","headers":{"retry-after":"0.01"}}`, class: model.RateLimited, says: "Slow down."},
		"status 500":     {reply: `{"status":500,"error":"It broke."}`, class: model.Unavailable, says: "It broke."},
		"status 529":     {reply: `{"status":529,"error":"Overloaded."}`, class: model.Unavailable, says: "Overloaded."},
		"cut":            {reply: `{"text":"Hello, you there.","cut":5}`, class: model.Unavailable, streamed: true},
		"stream error":   {reply: `{"text":"Hello","stream_error":{"message":"It broke."}}`, class: model.Unavailable, says: "It broke.", streamed: true},
	} {
		for _, api := range []string{"", "responses", model.Messages} {
			for _, on := range []bool{false, true} {
				if test.streamed && !on {
					continue
				}
				f.answer(t, test.reply)
				c, err := openai.New(openai.Options{Provider: model.Provider{Name: "fake", API: api, BaseURL: f.url}, APIKey: "sk-secret-key", MaxTries: 1, Stream: on})
				if err != nil {
					t.Fatal(err)
				}
				r := ask("Hello?")
				r.Next = true // it does not wait for the rate limit
				r.Tools = []model.Tool{{Name: "now", Parameters: map[string]any{"type": "object"}}}
				resp, err := c.Call(t.Context(), r)
				var failure *model.Failure
				if test.class != "" {
					if !errors.As(err, &failure) || failure.Class != test.class || !strings.Contains(failure.Message, test.says) || resp.Text != "" {
						t.Errorf("%s, api %q, streamed %t: got %+v, %v", name, api, on, resp, err)
					}
					continue
				}
				got, _ := json.Marshal(resp.ToolCalls)
				want, _ := json.Marshal(test.calls)
				if err != nil || resp.Text != test.text || string(got) != string(want) || resp.Usage.InputTokens != 100 || resp.Usage.OutputTokens != 10 || resp.Model != r.Model {
					t.Errorf("%s, api %q, streamed %t: got %+v, %v", name, api, on, resp, err)
				}
			}
		}
	}
}
