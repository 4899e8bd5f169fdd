package journal

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model"
)

// Extra data of a reply is in the next request byte for byte, even after a resume.
func TestExtrasSurviveResume(t *testing.T) {
	long := strings.Repeat(`Let me <think> & \"quote\" — é \u2028 \ud83d\ude00 \t\u0001 `, 30)
	extra, err := model.ExtraOf([]byte(`{ "reasoning_content" : "` + long + `", "n": 1.50, "details": [{"text": "` + long + `"}] }`))
	if err != nil {
		t.Fatal(err)
	}
	words := model.Response{
		Extra: extra, Provider: "deepseek", Finish: "tool_calls", ID: "x", Server: "api.deepseek.com",
		ToolCalls: []model.ToolCall{{ID: "a", Name: "add", Arguments: `{"a": 1, "b": 2}`, Extra: `{"extra_content":{"google":{"thought_signature":"Cs8<B>&"}}}`}},
		Usage:     model.Usage{Calls: 1, InputTokens: 3, OutputTokens: 5, Cached: 2, CacheWrite: 1, Reasoning: 4},
	}
	c := load(t, `
cascade_id: talk
model: m
phases:
  - {name: one, instructions: Go., tackle: [add]}
`)
	var sent []string
	stop := true
	m := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		wire, err := r.Wire(model.Provider{Name: "deepseek"})
		if err != nil {
			return model.Response{}, err
		}
		if len(r.Messages) == 1 {
			return words, nil
		}
		sent = append(sent, string(wire))
		if stop {
			return model.Response{}, &model.Failure{Class: model.Unavailable, Message: "down"}
		}
		return model.Response{Text: "Done."}, nil
	})
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := runnerOver(t, j, m)
	if _, err := r.Run(t.Context(), c, nil, runner.WithRunID("run")); err == nil {
		t.Fatal("it did not fail")
	}
	stop = false
	if result, err := r.Resume(t.Context(), "run"); err != nil || result.Output != "Done." || result.Usage.Cached != 2 || result.Usage.CacheWrite != 1 || result.Usage.Reasoning != 4 {
		t.Fatalf("got %+v, %v", result, err)
	}
	if len(sent) != 2 || sent[0] != sent[1] || !strings.Contains(sent[0], `"n":1.50`) || !strings.Contains(sent[0], `"thought_signature":"Cs8<B>&"`) {
		t.Errorf("sent %d\n%.300s\n%.300s", len(sent), sent[0], sent[len(sent)-1])
	}
	var messages []struct {
		Reasoning string `json:"reasoning_content"`
	}
	var want string
	_ = json.Unmarshal([]byte(`"`+long+`"`), &want)
	if err := json.Unmarshal([]byte("["+sent[1]+"]"), &messages); err != nil || messages[1].Reasoning != want {
		t.Errorf("came back as %.100q, %v", messages[1].Reasoning, err)
	}
	for e, err := range j.Effects(t.Context(), "run") {
		if err != nil {
			t.Fatal(err)
		}
		if e.Response != nil && len(e.Response.ToolCalls) > 0 && !reflect.DeepEqual(*e.Response, words) {
			t.Errorf("kept %+v\nof   %+v", *e.Response, words)
		}
	}
}
