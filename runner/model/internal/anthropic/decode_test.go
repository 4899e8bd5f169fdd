package anthropic_test

import (
	"context"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/anthropic"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

func known(n int) protocol.Count { return protocol.Count{N: n, Known: true} }

// streamed decodes events, and returns the text of the pieces too.
func streamed(ctx context.Context, events ...string) (pieces []string, d protocol.Draft, ended bool, err error) {
	s := anthropic.New(model.Provider{Name: own}).Stream()
	for _, e := range events {
		text, err := s.Add(ctx, "", []byte(e))
		if err == io.EOF {
			break
		}
		if err != nil {
			return pieces, d, false, err
		}
		if text != "" {
			pieces = append(pieces, text)
		}
	}
	text, d := s.Finish()
	if text != "" {
		pieces = append(pieces, text)
	}
	return pieces, d, s.Ended(), nil
}

const (
	start = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"usage":{"input_tokens":7,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1}}}`
	stop  = `{"type":"message_stop"}`
	ping  = `{"type":"ping"}`
)

func begin(index, block string) string {
	return `{"type":"content_block_start","index":` + index + `,"content_block":` + block + `}`
}

func piece(index, delta string) string {
	return `{"type":"content_block_delta","index":` + index + `,"delta":` + delta + `}`
}

func end(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":{"output_tokens":15,"output_tokens_details":{"thinking_tokens":9}}}`
}

// The same answer, whole and streamed.
func TestDecode(t *testing.T) {
	for name, test := range map[string]struct {
		content, reason string   // the whole answer
		events          []string // its blocks in events
		want            protocol.Draft
	}{
		"a text": {
			`[{"type":"text","text":"Hi 🦉"}]`, "end_turn",
			[]string{begin("0", `{"type":"text","text":""}`), ping, piece("0", `{"type":"text_delta","text":"Hi \ud83e"}`), piece("0", `{"type":"text_delta","text":"\udd89"}`), `{"type":"content_block_stop","index":0}`},
			protocol.Draft{Text: "Hi 🦉"},
		},
		"thinking": {
			`[{"type":"thinking","thinking":"Hm. So.","signature":"EqQB=="},{"type":"redacted_thinking","data":"xyz"},{"type":"text","text":"Yes."}]`, "end_turn",
			[]string{
				begin("0", `{"type":"thinking","thinking":"","signature":""}`), piece("0", `{"type":"thinking_delta","thinking":"Hm. "}`), piece("0", `{"type":"thinking_delta","thinking":"So."}`),
				piece("0", `{"type":"signature_delta","signature":"EqQB=="}`), begin("1", `{"type":"redacted_thinking","data":"xyz"}`), begin("2", `{"type":"text","text":"Yes."}`),
			},
			protocol.Draft{Text: "Yes.", Thinking: "Hm. So.", Extra: `{"thinking":[{"signature":"EqQB==","thinking":"Hm. So.","type":"thinking"},{"type":"redacted_thinking","data":"xyz"},{"type":"text","text":"Yes."}]}`},
		},
		"calls between texts": {
			`[{"type":"text","text":"I "},{"type":"tool_use","id":"toolu_1","name":"now","input":{"zone":"UTC"}},{"type":"text","text":"look."},{"type":"tool_use","id":"toolu_2","name":"roll","input":{}}]`, "tool_use",
			[]string{
				begin("0", `{"type":"text","text":"I "}`), begin("1", `{"type":"tool_use","id":"toolu_1","name":"now","input":{}}`), piece("1", `{"type":"input_json_delta","partial_json":""}`),
				piece("1", `{"type":"input_json_delta","partial_json":"{\"zone\":"}`), begin("2", `{"type":"text","text":""}`), piece("2", `{"type":"text_delta","text":"look."}`),
				piece("1", `{"type":"input_json_delta","partial_json":"\"UTC\"}"}`), begin("3", `{"type":"tool_use","id":"toolu_2","name":"roll","input":{}}`),
			},
			protocol.Draft{Text: "I look.", Count: 2, Calls: []model.ToolCall{{ID: "toolu_1", Name: "now", Arguments: `{"zone":"UTC"}`}, {ID: "toolu_2", Name: "roll", Arguments: "{}"}}},
		},
		"thinking and a call": {
			`[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"tool_use","id":"toolu_1","name":"now","input":{"a":1}}]`, "tool_use",
			[]string{
				begin("0", `{"type":"thinking","thinking":"Hm.","signature":"s"}`), begin("1", `{"type":"tool_use","id":"toolu_1","name":"now","input":{}}`),
				piece("1", `{"type":"input_json_delta","partial_json":"{\"a\":1}"}`),
			},
			protocol.Draft{Thinking: "Hm.", Count: 1, Calls: []model.ToolCall{{ID: "toolu_1", Name: "now", Arguments: `{"a":1}`}}, Extra: `{"thinking":[{"type":"thinking","thinking":"Hm.","signature":"s"},{"id":"toolu_1","input":{"a":1},"name":"now","type":"tool_use"}]}`},
		},
		"a tool of the endpoint": {
			`[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}]`, "pause_turn",
			[]string{
				begin("0", `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`), piece("0", `{"type":"input_json_delta","partial_json":"{\"query\":\"x\"}"}`),
				begin("1", `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`),
			},
			protocol.Draft{Shape: "the content of the answer has a block of the type web_search_tool_result and no text", Extra: `{"thinking":[{"id":"srvtoolu_1","input":{"query":"x"},"name":"web_search","type":"server_tool_use"},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}]}`},
		},
	} {
		test.want.ID, test.want.Model, test.want.Finish, test.want.Answered = "msg_1", "claude-opus-5-5", test.reason, true
		test.want.Usage = protocol.Tally{Input: known(127), Cached: known(100), CacheWrite: known(20), Output: known(15), Reasoning: known(9)}
		whole := `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":` + test.content + `,"stop_reason":"` + test.reason + `","stop_sequence":null,` +
			`"usage":{"input_tokens":7,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":15,"output_tokens_details":{"thinking_tokens":9}}}`
		got, err := anthropic.New(model.Provider{Name: own}).Decode(t.Context(), []byte(whole))
		if err != nil {
			t.Fatal(err)
		}
		pieces, parts, ended, err := streamed(t.Context(), append(append([]string{start}, test.events...), end(test.reason), stop)...)
		if err != nil || !ended || strings.Join(pieces, "") != test.want.Text {
			t.Errorf("%s: got %q, ended: %t, %v", name, pieces, ended, err)
		}
		for form, d := range map[string]protocol.Draft{"whole": got, "streamed": parts} {
			if !sameObject(t, d.Extra, test.want.Extra) {
				t.Errorf("%s %s: extra\n%s\nwant\n%s", name, form, d.Extra, test.want.Extra)
			}
			if d.Extra = test.want.Extra; !reflect.DeepEqual(d, test.want) {
				t.Errorf("%s %s: got\n%+v\nwant\n%+v", name, form, d, test.want)
			}
		}
	}
}

func sameObject(t *testing.T, a, b model.Extra) bool {
	t.Helper()
	return reflect.DeepEqual(plain(t, a), plain(t, b))
}

func plain(t *testing.T, e model.Extra) (v any) {
	t.Helper()
	if e == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(e), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDecodeRefusal(t *testing.T) {
	d, err := anthropic.New(model.Provider{}).Decode(t.Context(), []byte(`{"type":"message","content":[],"stop_reason":"refusal","stop_details":{"type":"refusal","category":"bio","explanation":"It asks for a weapon."}}`))
	if err != nil || d.Refusal != "It asks for a weapon." || d.Finish != "refusal" {
		t.Errorf("got %+v, %v", d, err)
	}
}

// Broken arguments stay in the call. A later request sends them as a text in an object.
func TestStreamBrokenArguments(t *testing.T) {
	_, d, _, err := streamed(t.Context(), start, begin("0", `{"type":"thinking","thinking":"","signature":"s"}`), begin("1", `{"type":"tool_use","id":"t","name":"now","input":{}}`),
		piece("1", `{"type":"input_json_delta","partial_json":"{\"a\":"}`), end("tool_use"))
	if err != nil || len(d.Calls) != 1 || d.Calls[0].Arguments != `{"a":` || !strings.Contains(string(d.Extra), `"input":{"invalid_arguments":"{\"a\":"}`) {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestStreamErrors(t *testing.T) {
	calls := []string{start}
	for range protocol.MaxCalls + 1 {
		calls = append(calls, begin("0", `{"type":"tool_use","id":"a","name":"now","input":{}}`))
	}
	text := begin("0", `{"type":"text","text":""}`)
	for name, test := range map[string]struct {
		events []string
		want   string
	}{
		"an error":         {[]string{start, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, "unavailable (status 529): Overloaded"},
		"a rate limit":     {[]string{`{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}`}, "rate_limited (status 429): Slow down"},
		"a wrong key":      {[]string{`{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`}, "rejected (status 401): invalid x-api-key"},
		"invalid UTF-8":    {[]string{start, text, piece("0", "{\"text\":\"a\xff\"}")}, "unavailable: the reply has invalid UTF-8"},
		"half a character": {[]string{start, text, piece("0", `{"text":"\ud83e"}`), piece("0", `{"text":"x"}`)}, "unavailable: the reply has invalid UTF-8"},
		"a duplicate name": {[]string{start, `{"type":"ping","type":"error"}`}, `unusable: the reply cannot be used: duplicate object member name "type"`},
		"no JSON":          {[]string{`{"type":`}, "unexpected EOF"},
		"too many calls":   {calls, "unusable: the model wants more than 100 tools called at once"},
	} {
		if _, _, _, err := streamed(t.Context(), test.events...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
	}
}

// A stop reason ends an answer if no more text follows.
func TestStreamEnded(t *testing.T) {
	text := begin("0", `{"type":"text","text":"a"}`)
	for name, test := range map[string]struct {
		events []string
		want   bool
	}{
		"no stop reason":     {[]string{start, text}, false},
		"a stop reason":      {[]string{start, text, end("end_turn")}, true},
		"text after it":      {[]string{start, text, end("end_turn"), piece("0", `{"text":"b"}`)}, false},
		"an event after it":  {[]string{start, text, end("end_turn"), ping, `{"type":"new_event"}`}, true},
		"nothing after stop": {[]string{start, text, end("end_turn"), stop, piece("0", `{"text":"b"}`)}, true},
	} {
		if _, d, ended, err := streamed(t.Context(), test.events...); err != nil || ended != test.want || d.ID != "msg_1" {
			t.Errorf("%s: ended: %t, %+v, %v", name, ended, d, err)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"error","error":{"type":"not_found_error","message":"model: x"}}`:                     "rejected (status 404): model: x",
		`{"type":"message","content":[{"type":"tool_use","id":"a","name":"b","input":{"c":1,"c":2}}]}`: `duplicate object member name "c"`,
		"{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}":                   "invalid UTF-8",
		`{"type":"message","content":[`: "unexpected EOF",
	} {
		if _, err := anthropic.New(model.Provider{}).Decode(t.Context(), []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// A member of an unexpected kind counts as missing.
func FuzzStream(f *testing.F) {
	f.Add(start + "\n" + begin("0", `{"type":"text","text":"a"}`) + "\n" + piece("0", `{"text":"b","thinking":"c","signature":"d","partial_json":"{}"}`) + "\n" + end("end_turn"))
	f.Add(begin("null", `[]`) + "\n" + piece("7", `{"text":1}`) + "\n" + `{"type":"message_delta","delta":[],"usage":3}` + "\n" + `{"type":"message_start","message":[]}`)
	f.Add(begin("0", `{"type":"server_tool_use","input":4}`) + "\n" + piece("0", `{"partial_json":"{"}`))
	f.Add("{\"type\":\"content_block_delta\",\"delta\":{\"text\":\"\\ud83e\xf0\x9f\"}}")
	f.Fuzz(func(t *testing.T, text string) {
		s := anthropic.New(model.Provider{Name: own}).Stream()
		var streamed strings.Builder
		for line := range strings.Lines(text) {
			piece, err := s.Add(t.Context(), "", []byte(line))
			streamed.WriteString(piece)
			if err != nil {
				return
			}
		}
		piece, d := s.Finish()
		streamed.WriteString(piece)
		if len(d.Text) != streamed.Len() { // blocks may have come by turns
			t.Errorf("the text is %q, heard was %q", d.Text, streamed.String())
		}
		again := request(model.Message{Role: model.User, Content: "Hi"}, model.Message{Role: model.Assistant, Content: d.Text, ToolCalls: d.Calls, Extra: d.Extra, Provider: own})
		if body, err := encoded(protocol.Query{Request: again}); err != nil || !json.Valid([]byte(body)) {
			t.Errorf("%s: the answer does not go back: %v", body, err)
		}
	})
}

// The endpoint refuses blank texts that it sent itself.
func TestDecodeBlankText(t *testing.T) {
	d, err := anthropic.New(model.Provider{}).Decode(t.Context(), []byte(`{"content":[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"text","text":"\n"},{"type":"tool_use","id":"a","name":"now","input":{}}],"stop_reason":"tool_use"}`))
	if err != nil || len(d.Calls) != 1 || strings.Contains(string(d.Extra), "text") || !strings.Contains(string(d.Extra), "tool_use") {
		t.Errorf("got %+v, %v", d, err)
	}
}
