package model_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
)

func messages(wire []byte) ([]model.Message, error) {
	var list []model.Message
	err := json.Unmarshal(append(append([]byte("["), wire...), ']'), &list)
	return list, err
}

// The encoded messages of a thread are equal to those of encoding/json after
// decoding.
func FuzzWire(f *testing.F) {
	f.Add("Hello", "name", `{"a": 1}`, 3)
	f.Add("<b>&\u2028\"\\\x00", "é", "{", 1)
	f.Add("\xff", "\xc3", "", 0)
	f.Fuzz(func(t *testing.T, text, name, arguments string, n int) {
		thread := model.NewThread(model.Message{Role: model.User, Content: text})
		if _, err := (model.Request{Messages: thread.Messages(), Thread: thread}).Wire(model.Provider{}); err != nil {
			t.Fatal(err)
		}
		thread.Append(
			model.Message{Role: model.Assistant, Content: name, ToolCalls: []model.ToolCall{{ID: name, Name: name, Arguments: arguments}, {}}},
			model.Message{Role: model.ToolReply, Content: text, ToolCallID: name})
		list := thread.Messages()[:max(n, -n)%4]
		wire, err := model.Request{Messages: list, Thread: thread}.Wire(model.Provider{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := messages(wire)
		if err != nil {
			t.Fatal(err)
		}
		plain, _ := json.Marshal(list)
		var want []model.Message
		if err := json.Unmarshal(plain, &want); err != nil {
			t.Fatal(err)
		}
		if err := settle(got, want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v: got %+v\nwant %+v", err, got, want)
		}
	})
}

// settle checks that the arguments of sent calls are objects. If those of the
// messages are not objects, it restores them.
func settle(got, want []model.Message) error {
	for i, m := range got {
		for k, c := range m.ToolCalls {
			var object map[string]any
			if err := json.Unmarshal([]byte(c.Arguments), &object); err != nil {
				return fmt.Errorf("arguments %q: %w", c.Arguments, err)
			}
			if i < len(want) && k < len(want[i].ToolCalls) && (!want[i].ToolCalls[k].Whole() || c.Arguments == "{}") {
				m.ToolCalls[k].Arguments = want[i].ToolCalls[k].Arguments
			}
		}
	}
	return nil
}

func TestWireForm(t *testing.T) {
	call := []model.ToolCall{{ID: "a", Name: "f", Arguments: `{}`}}
	for want, m := range map[string]model.Message{
		`{"role":"user","content":"<b> & c"}`:                     {Role: model.User, Content: "<b> & c"},
		`{"role":"user","content":""}`:                            {Role: model.User},
		`{"role":"tool","content":"","tool_call_id":"a"}`:         {Role: model.ToolReply, ToolCallID: "a"},
		`{"role":"assistant","content":null,"tool_calls":[CALL]}`: {Role: model.Assistant, ToolCalls: call},
		`{"role":"assistant","content":"hm","tool_calls":[CALL]}`: {Role: model.Assistant, Content: "hm", ToolCalls: call},
	} {
		want = strings.ReplaceAll(want, "CALL", `{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}`)
		wire, err := model.Request{Messages: []model.Message{m}}.Wire(model.Provider{})
		if err != nil || string(wire) != want {
			t.Errorf("got  %s, %v\nwant %s", wire, err, want)
		}
	}
}

// An Extra goes only to its provider. A content member of an Extra replaces the
// content.
func TestWireOfExtras(t *testing.T) {
	response := model.Response{
		Text: "Hm", Provider: "a", Extra: `{"x":[1.50],"content":[{"type":"thinking"}]}`,
		ToolCalls: []model.ToolCall{{ID: "1", Name: "f", Arguments: `{}`, Extra: `{"sig":"<"}`}, {ID: "2", Name: "g"}},
	}
	call := `"type":"function","function":{"name":"f","arguments":"{}"}`
	for to, want := range map[string]string{
		"a": `{"role":"assistant","tool_calls":[{"id":"1",` + call + `,"sig":"<"},{"id":"2","type":"function","function":{"name":"g","arguments":"{}"}}],"x":[1.50],"content":[{"type":"thinking"}]}`,
		"b": `{"role":"assistant","content":"Hm","tool_calls":[{"id":"1",` + call + `},{"id":"2","type":"function","function":{"name":"g","arguments":"{}"}}]}`,
	} {
		thread := model.NewThread(response.Message())
		for range 2 {
			wire, err := model.Request{Messages: thread.Messages(), Thread: thread}.Wire(model.Provider{Name: to})
			if err != nil || string(wire) != want {
				t.Errorf("to %s: got  %s, %v\nwant %s", to, wire, err, want)
			}
			_, _ = model.Request{Messages: thread.Messages(), Thread: thread}.Wire(model.Provider{Name: "b"})
		}
	}
}

// A request sends its own messages, whatever its thread contains.
func TestWireIsTheRequests(t *testing.T) {
	a, b := model.Message{Role: model.Assistant, Content: "a"}, model.Message{Role: model.User, Content: "b"}
	thread := model.NewThread(a, b)
	early := thread.Messages()
	for range 100 {
		thread.Append(a)
	}
	for _, list := range [][]model.Message{nil, {a}, {a, b}, {b}, {b, a}, early, early[:1], early[1:], thread.Messages(), append(thread.Messages(), b)} {
		wire, err := model.Request{Messages: list, Thread: thread}.Wire(model.Provider{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := messages(wire)
		if err != nil || len(got) != len(list) {
			t.Fatalf("got %s, %v for %d messages", wire, err, len(list))
		}
		for i := range list {
			if got[i].Content != list[i].Content {
				t.Errorf("got %v, want %v", got, list)
			}
		}
	}
}

func TestFailureOf(t *testing.T) {
	for status, want := range map[int]struct {
		class     model.Class
		temporary bool
	}{
		400: {model.Rejected, false}, 401: {model.Rejected, false}, 404: {model.Rejected, false}, 422: {model.Rejected, false},
		408: {model.TimedOut, true}, 409: {model.Unavailable, true}, 429: {model.RateLimited, true}, 500: {model.Unavailable, true}, 529: {model.Unavailable, true},
	} {
		if f := model.FailureOf(status, ""); f.Class != want.class || f.Temporary() != want.temporary || f.Status != status {
			t.Errorf("%d: got %+v", status, f)
		}
	}
}

func TestExtraOfStrict(t *testing.T) {
	for object, want := range map[string]string{
		`{ "a" : "\u003c\u0062\u00fc\ud83e\udd89\u2028\/" , "b": [1e3, 2.50, {}] }`: `{"a":"<bü🦉\u2028/","b":[1e3,2.50,{}]}`,
		`{}`:                 "",
		`{"a":1,"a":2}`:      "duplicate object member name",
		`{"a":1,"\u0061":2}`: "duplicate object member name",
		"{\"a\":\"\xff\"}":   "invalid UTF-8",
		`{"a":"\ud83e"}`:     "surrogate",
		`{"a":1}{}`:          "invalid character",
		`[1]`:                "want an object",
	} {
		got, err := model.ExtraOf([]byte(object))
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", object, got, err, want)
		}
	}
}
