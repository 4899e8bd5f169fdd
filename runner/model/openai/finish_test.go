package openai_test

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

const wish = `{"index":0,"id":"a","type":"function","function":{"name":"now","arguments":"{}"}}`

// answers is the same answer whole and streamed.
func answers(content, finish string) map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"whole":    body(200, `{"choices":[{"index":0,"message":`+content+`,"finish_reason":`+finish+`}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`),
		"streamed": stream(choice(content, "null"), choice(`{}`, finish), counted, done),
	}
}

// Only an answer with a regular end counts as an answer.
func TestFinishReasons(t *testing.T) {
	const text, tools, both = `{"content":"half"}`, `{"content":null,"tool_calls":[` + wish + `]}`, `{"content":"half","tool_calls":[` + wish + `]}`
	halfCall := strings.Replace(tools, `{}`, `{\"a\":`, 1)
	tests := []struct {
		content string
		class   model.Class // "" for an answer
		words   string
	}{
		{text, "", "stop Stop STOP end_turn END_TURN eos eos_token stop_sequence"},
		{text, "", `null ""`},
		{tools, "", `stop STOP end_turn eos tool_calls TOOL_CALLS tool_use function_call null ""`},
		{both, "", "stop tool_calls"},
		{text, model.Truncated, "length LENGTH model_length max_tokens MAX_TOKENS max_output_tokens model_context_window_exceeded"},
		{tools, model.Truncated, "length MAX_TOKENS model_length"},
		{text, model.Refused, "content_filter CONTENT_FILTER content_filter:_OTHER safety SAFETY recitation RECITATION PROHIBITED_CONTENT refusal"},
		{tools, model.Refused, "content_filter SAFETY"},
		{text, model.Unavailable, "abort error cancelled insufficient_system_resource MALFORMED_FUNCTION_CALL function_call_filter:_MALFORMED_FUNCTION_CALL"},
		{text, model.Unusable, "tool_calls TOOL_CALLS tool_use function_call unknown stopped sto stop_ stop,length OTHER pause_turn 1 {} [] true"},
		{tools, model.Unusable, "unknown pause_turn"},
		{halfCall, model.Unavailable, `null ""`},
	}
	for _, test := range tests {
		for _, reason := range strings.Fields(test.words) {
			finish := quoted(strings.ReplaceAll(reason, ":_", ": "))
			if strings.Contains(`1 {} [] true null ""`, reason) {
				finish = reason
			}
			for form, h := range answers(test.content, finish) {
				e := newEndpoint(t, h)
				resp, err := e.client(t, func(o *openai.Options) { o.Stream = form == "streamed" }).Call(t.Context(), ask("Hello?"))
				class, says := test.class, strings.Trim(strings.TrimPrefix(finish, "null"), `"`)
				if class == "" {
					if err != nil || resp.Text == "" && len(resp.ToolCalls) == 0 || resp.Finish != says {
						t.Errorf("%s %s of %s: %+v, %v", form, reason, test.content, resp, err)
					}
					continue
				}
				var f *model.Failure
				if !errors.As(err, &f) || f.Class != class || !strings.Contains(f.Message, says) {
					t.Errorf("%s %s of %s: %+v, %v", form, reason, test.content, resp, err)
					continue
				}
				calls := 1
				if f.Temporary() {
					calls = model.Tries
				}
				if resp.Text != "" || resp.ToolCalls != nil || e.count() != calls || resp.Usage.InputTokens != 100*calls || resp.Usage.Calls != calls {
					t.Errorf("%s %s: %+v after %d requests", form, reason, resp, e.count())
				}
			}
		}
	}
}

// TestNotWell checks answers and streams with a regular end and another
// problem.
func TestNotWell(t *testing.T) {
	ended := `"finish_reason":"stop"`
	limited := ask("Hello?")
	limited.Params = &model.Params{MaxOutputTokens: 20}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		class   model.Class
		says    string
	}{
		"an error beside choices":     {body(200, `{"error":{"message":"upstream is down"},"choices":[{"message":{"content":"half"},`+ended+`}]}`), model.Unavailable, "upstream is down"},
		"an error behind choices":     {body(200, `{"choices":[{"message":{"content":"half"},`+ended+`}],"error":"upstream is down"}`), model.Unavailable, "upstream is down"},
		"an error in a choice":        {body(200, `{"choices":[{"message":{"content":"half"},"finish_reason":"error","error":{"code":429,"message":"slow down"}}]}`), model.RateLimited, "slow down"},
		"an error in a good choice":   {body(200, `{"choices":[{"message":{"content":"half"},`+ended+`,"error":{"code":403,"message":"flagged"}}]}`), model.Rejected, "flagged"},
		"streamed in a choice":        {stream(delta("ha"), event(`{"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"provider gone"}}]}`), done), model.Unavailable, "provider gone"},
		"streamed after the end":      {stream(delta("half"), finished("stop"), event(`{"error":{"message":"upstream is down"}}`), done), model.Unavailable, "upstream is down"},
		"streamed with the end":       {stream(delta("half"), event(`{"error":{"message":"upstream is down"},"choices":[{"delta":{},`+ended+`}]}`), done), model.Unavailable, "upstream is down"},
		"an event named error":        {stream(delta("half"), "event: error\ndata: {\"message\":\"overloaded\"}\n\n", done), model.Unavailable, "overloaded"},
		"an event named error, text":  {stream(delta("half"), "event: error\ndata: overloaded\n\n", done), model.Unavailable, "overloaded"},
		"an error in several lines":   {stream(delta("half"), "data: {\"error\":\ndata: {\"message\":\"overloaded\"}}\n\n", done), model.Unavailable, "overloaded"},
		"no reason, and no end":       {stream(delta("half")), model.Unavailable, "cut"},
		"as many tokens as allowed":   {stream(delta("half"), event(`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":20}}`), done), model.Truncated, "token limit"},
		"DONE alone":                  {stream(done), model.Empty, "no answer"},
		"a bad reason, then a good":   {stream(delta("half"), finished("length"), finished("stop"), done), model.Truncated, "length"},
		"a good reason, then a bad":   {stream(delta("half"), finished("stop"), finished("content_filter"), done), model.Refused, "content_filter"},
		"another choice's text":       {body(200, `{"choices":[{"index":1,"message":{"content":"half"},`+ended+`}]}`), model.Empty, "no answer"},
		"a router's better word":      {body(200, `{"choices":[{"message":{"content":"half"},`+ended+`,"native_finish_reason":"MAX_TOKENS"}]}`), model.Truncated, "MAX_TOKENS"},
		"a part that refuses":         {body(200, `{"choices":[{"message":{"content":[{"type":"refusal","refusal":"I will not."}]},`+ended+`}]}`), model.Refused, "I will not."},
		"an answer, and one after it": {body(200, `{"choices":[{"message":{"content":"a"},`+ended+`}]}{"choices":[]}`), model.Unavailable, "does not decode"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, test.handler)
			resp, err := e.client(t, func(o *openai.Options) { o.Stream, o.MaxTries = true, 1 }).Call(t.Context(), limited)
			var f *model.Failure
			if !errors.As(err, &f) || f.Class != test.class || !strings.Contains(f.Message, test.says) || resp.Text != "" {
				t.Errorf("got %+v, %v", resp, err)
			}
			if resp.Provider != "openai" || !strings.HasPrefix(resp.Server, "127.0.0.1:") {
				t.Errorf("asked %+v", resp)
			}
		})
	}
}

// TestFinishTable sends both reasons of each row of the table, and a reason that the
// provider declares.
func TestFinishTable(t *testing.T) {
	table, err := os.ReadFile("tables/finish.tsv")
	if err != nil {
		t.Fatal(err)
	}
	classes := map[string]model.Class{"end": "", "calls": "", "length": model.Truncated, "withheld": model.Refused, "broken": model.Unavailable, "paused": model.Unusable}
	seen := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		cells := strings.Split(line, "\t")
		want, known := classes[cells[0]]
		if len(cells) != 5 || !known || cells[2] == "" || seen[cells[1]] {
			t.Fatalf("row %q", line)
		}
		seen[cells[1]] = true
		content := `{"content":"Hello"}`
		if cells[0] == "calls" {
			content = `{"content":null,"tool_calls":[` + wish + `]}`
		}
		for reason, class := range map[string]model.Class{cells[3]: want, cells[4]: model.Unusable} {
			e := newEndpoint(t, message(content, reason))
			_, err := e.client(t, func(o *openai.Options) { o.MaxTries = 1 }).Call(t.Context(), ask("Hello?"))
			var f *model.Failure
			if class == "" && err != nil || class != "" && (!errors.As(err, &f) || f.Class != class) {
				t.Errorf("%s: got %v, want %q", reason, err, class)
			}
		}
	}
	e := newEndpoint(t, message(`{"content":"Hello"}`, "Fertig"))
	_, err = e.client(t).Call(t.Context(), ask("Hello?"))
	if err == nil || !strings.Contains(err.Error(), "add it to finish of the provider openai") {
		t.Errorf("got %v", err)
	}
	p, _ := model.Builtin("openai")
	p.Finish = []string{"fertig"}
	resp, err := e.client(t, func(o *openai.Options) { o.Provider = p }).Call(t.Context(), ask("Hello?"))
	if err != nil || resp.Text != "Hello" {
		t.Errorf("declared: got %+v, %v", resp, err)
	}
}

// TestContentShapes sends each row of testdata/shapes.tsv whole and streamed. A shape
// that is not read ends the call with the first answer.
func TestContentShapes(t *testing.T) {
	table, err := os.ReadFile("testdata/shapes.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		cells := strings.Split(strings.ReplaceAll(line, "\t-", "\t"), "\t") // shape, source, choice, text, call, failure
		if len(cells) != 6 {
			t.Fatalf("row %q", line)
		}
		whole := `{"model":"m-1","choices":[{"index":0,` + cells[2] + `,"finish_reason":"stop"}]}`
		chunk := strings.Replace(whole, `"message"`, `"delta"`, 1)
		for _, streamed := range []bool{false, true} {
			e := newEndpoint(t, forms(whole, chunk))
			resp, err := e.client(t, func(o *openai.Options) { o.Stream = streamed }).Call(t.Context(), ask("Hello?"))
			call := ""
			for _, c := range resp.ToolCalls {
				call += c.Name + c.Arguments
			}
			switch {
			case e.count() != 1:
				t.Errorf("%s: %d requests", cells[0], e.count())
			case cells[5] != "" && (err == nil || !strings.Contains(err.Error(), cells[5])):
				t.Errorf("%s: got %+v, %v; want %s", cells[0], resp, err, cells[5])
			case cells[5] == "" && (err != nil || resp.Text != cells[3] || call != cells[4]):
				t.Errorf("%s: got %+v, %v", cells[0], resp, err)
			}
		}
	}
}
