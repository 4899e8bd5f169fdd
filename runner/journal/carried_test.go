package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/schema"
)

// What an answer carries beside text and calls is in the next request byte for
// byte, also when the run is gone on with in between.
func TestExtrasSurviveResume(t *testing.T) {
	long := strings.Repeat(`Let me <think> & \"quote\" — é \u2028 \ud83d\ude00 \t\u0001 `, 30)
	extra, err := model.ExtraOf([]byte(`{ "reasoning_content" : "` + long + `", "n": 1.50, "details": [{"text": "` + long + `"}] }`))
	if err != nil {
		t.Fatal(err)
	}
	said := model.Response{
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
			return said, nil
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
		if e.Response != nil && len(e.Response.ToolCalls) > 0 && !reflect.DeepEqual(*e.Response, said) {
			t.Errorf("kept %+v\nof   %+v", *e.Response, said)
		}
	}
}

// A request is recognised by its parameters too, and one without any as it
// always was.
func TestParamsAreRecognised(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	warm, cold := 0.7, 0.0
	prints := map[string]string{}
	for _, p := range []*model.Params{
		nil, {}, {Temperature: &warm}, {Temperature: &cold}, {TopP: &warm}, {MaxOutputTokens: 1}, {Effort: "low"}, {Seed: new(int64)}, {Stop: []string{"a", "b"}}, {Stop: []string{"ab"}},
		{NoFormat: true}, {Extra: `{"a":1}`}, {Extra: `{"a":2}`},
	} {
		req := model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "Go."}}, Params: p}
		d, err := r.requestPrint("p", &req)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(p)
		if other, again := prints[string(d)]; again {
			t.Errorf("%s is recognised as %s", raw, other)
		}
		prints[string(d)] = string(raw)
		if p == nil && fmt.Sprintf("%x", d) != plainPrint {
			t.Errorf("a request without parameters is recognised by %x", d)
		}
	}
	_ = r.End(engine.Result{Status: engine.Failed}, &runner.Error{Code: engine.Failed, Err: errors.New("over")})
}

// plainPrint is what a request has been recognised by since journals are kept:
// a run that was begun long ago is gone on with.
const plainPrint = "4ff2f249c722167bbce231e0816a6607379baf01"

// The parameters of a request are with its event.
func TestParamsAreKept(t *testing.T) {
	seed, warm := int64(7), 0.2
	want := &model.Params{Temperature: &warm, Seed: &seed, MaxOutputTokens: 800, Stop: []string{"END"}, Extra: `{"service_tier":"flex"}`}
	raw, err := json.Marshal(asked{Model: "m", Params: want})
	if err != nil {
		t.Fatal(err)
	}
	var a asked
	if err := schema.Unmarshal(raw, &a); err != nil || !reflect.DeepEqual(a.Params, want) {
		t.Errorf("kept %s", raw)
	}
}

// A row may hold more than is new: what of it its conversation had told is not news.
func TestNewsOfARow(t *testing.T) {
	said := []model.Message{{Content: "a"}, {Content: "b"}, {Content: "c"}}
	for before, want := range map[int]int{1: 3, 2: 2, 4: 0} {
		got, err := (&eventReader{}).news(t.Context(), nil, 0, &asked{Keep: 1, Before: before, Said: said})
		if err != nil || !reflect.DeepEqual(got, said[3-want:]) {
			t.Errorf("before %d: %v, %v", before, got, err)
		}
	}
}
