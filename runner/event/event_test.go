package event

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

func TestPath(t *testing.T) {
	var root Path
	if got := root.Join("draft").At("attempt", 1).At("turn", 0).Join("model"); got != "draft/attempt[1]/turn[0]/model" {
		t.Errorf("got %s", got)
	}
	if got := root.At("draft", 2); got != "draft[2]" || got.Join("attempt").First() != "draft[2]" || got.First() != "draft[2]" || root.First() != "" {
		t.Errorf("got %s", got)
	}
}

// TestEventsRoundTrip checks that every kind of event is unchanged by a round trip through JSON.
func TestEventsRoundTrip(t *testing.T) {
	turn, yes, broke := 0, true, "broke"
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, e := range []Event{
		{Seq: 1, Time: at, Kind: RunStarted, RunID: "r", CascadeID: "c", Input: map[string]any{"a": "b"}},
		{Seq: 2, Time: at, Kind: TurnStarted, Path: "p", Phase: "p", Attempt: 1, Turn: &turn},
		{Seq: 3, Time: at, Kind: ModelCalled, Path: "p", Validator: "v", Request: &model.Request{Model: "m", Messages: []model.Message{
			{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "1", Name: "t", Arguments: "{}"}}}, {Role: model.ToolReply, Content: "x", ToolCallID: "1"}}}},
		{Seq: 3, Time: at, Kind: ModelCalled, Path: "p/model[1]", Conversation: "p", Before: 3, Partial: true, Request: &model.Request{Messages: []model.Message{{Role: model.User, Content: "x"}}}},
		{Seq: 4, Time: at, Kind: ModelReplied, Path: "p", Response: &model.Response{Text: "t", Failure: &model.Failure{Class: model.Refused, Message: "no"}}},
		{Seq: 5, Time: at, Kind: ToolCalled, Path: "p", Call: &tool.Call{Name: "t", Arguments: map[string]any{}}},
		{Seq: 6, Time: at, Kind: VerdictGiven, Path: "p", Verdict: &Verdict{Path: "p", Phase: "p", Attempt: 1, Moment: "post", Validator: "v", Mode: "retry", Valid: &yes, Reason: "r", Status: "s"}},
		{Seq: 7, Time: at, Kind: VerdictGiven, Path: "p", Verdict: &Verdict{Path: "p", Error: &broke}},
		{Seq: 8, Time: at, Kind: RunFinished, RunID: "r", Status: "failed", Usage: &model.Usage{Calls: 1}, Error: &Error{Code: "failed", Message: "m"}},
	} {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var got Event
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !reflect.DeepEqual(got, e) {
			t.Errorf("%s\ngot  %+v\nwant %+v", text, got, e)
		}
	}
}

// TestVerdictEventIsFlat checks that the fields of a verdict are fields of the event.
func TestVerdictEventIsFlat(t *testing.T) {
	no := false
	text, err := json.Marshal(Event{Seq: 1, Kind: VerdictGiven, Path: "p", Verdict: &Verdict{Path: "p", Validator: "v", Valid: &no}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"kind":"verdict"`, `"path":"p"`, `"validator":"v"`, `"valid":false`, `"error":null`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}
