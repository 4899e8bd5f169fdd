package openai_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

const wish = `{"index":0,"id":"a","type":"function","function":{"name":"now","arguments":"{}"}}`

// answers is the same answer whole and streamed.
func answers(said, finish string) map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"whole":    body(200, `{"choices":[{"index":0,"message":`+said+`,"finish_reason":`+finish+`}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`),
		"streamed": stream(choice(said, "null"), choice(`{}`, finish), counted, done),
	}
}

// Only an answer that ended by itself is one.
func TestFinishReasons(t *testing.T) {
	const text, tools, both = `{"content":"half"}`, `{"content":null,"tool_calls":[` + wish + `]}`, `{"content":"half","tool_calls":[` + wish + `]}`
	tests := []struct {
		said  string
		class model.Class // "" for an answer
		words string
	}{
		{text, "", "stop Stop STOP end_turn END_TURN eos eos_token stop_sequence"},
		{tools, "", "stop STOP end_turn eos tool_calls TOOL_CALLS tool_use function_call"},
		{both, "", "stop tool_calls"},
		{text, model.Truncated, "length LENGTH model_length max_tokens MAX_TOKENS max_output_tokens model_context_window_exceeded"},
		{tools, model.Truncated, "length MAX_TOKENS model_length"},
		{text, model.Refused, "content_filter CONTENT_FILTER content_filter:_OTHER safety SAFETY recitation RECITATION PROHIBITED_CONTENT refusal"},
		{tools, model.Refused, "content_filter SAFETY"},
		{text, model.Unavailable, "abort error cancelled insufficient_system_resource"},
		{text, model.Unusable, "tool_calls TOOL_CALLS tool_use function_call unknown stopped sto stop_ stop,length OTHER pause_turn MALFORMED_FUNCTION_CALL 1 {} [] true"},
		{tools, model.Unusable, "unknown pause_turn"},
		{text, "missing", `null ""`},
		{tools, "missing", `null ""`},
	}
	for _, test := range tests {
		for _, reason := range strings.Fields(test.words) {
			finish := quoted(strings.ReplaceAll(reason, ":_", ": "))
			if strings.Contains(`1 {} [] true null ""`, reason) {
				finish = reason
			}
			for form, h := range answers(test.said, finish) {
				e := newEndpoint(t, h)
				resp, err := e.client(t, func(o *openai.Options) { o.Stream = form == "streamed" }).Call(t.Context(), ask("Hello?"))
				class, says := test.class, strings.Trim(finish, `"`)
				if class == "missing" {
					class, says = map[string]model.Class{"whole": model.Unusable, "streamed": model.Unavailable}[form], "no finish reason"
				}
				if class == "" {
					if err != nil || resp.Text == "" && len(resp.ToolCalls) == 0 || resp.Finish != says {
						t.Errorf("%s %s of %s: %+v, %v", form, reason, test.said, resp, err)
					}
					continue
				}
				var f *model.Failure
				if !errors.As(err, &f) || f.Class != class || !strings.Contains(f.Message, says) {
					t.Errorf("%s %s of %s: %+v, %v", form, reason, test.said, resp, err)
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

// What else may stand in a whole answer or a stream that seems to have ended
// well.
func TestNotWell(t *testing.T) {
	ended := `"finish_reason":"stop"`
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
		"DONE without a reason":       {stream(delta("half"), done), model.Unavailable, "no finish reason"},
		"DONE alone":                  {stream(done), model.Empty, "no choices"},
		"a bad reason, then a good":   {stream(delta("half"), finished("length"), finished("stop"), done), model.Truncated, "length"},
		"a good reason, then a bad":   {stream(delta("half"), finished("stop"), finished("content_filter"), done), model.Refused, "content_filter"},
		"another choice's reason":     {stream(delta("half"), event(`{"choices":[{"index":1,"delta":{},`+ended+`}]}`), done), model.Unavailable, "no finish reason"},
		"another choice's text":       {body(200, `{"choices":[{"index":1,"message":{"content":"half"},`+ended+`}]}`), model.Empty, "no choices"},
		"a router's better word":      {body(200, `{"choices":[{"message":{"content":"half"},`+ended+`,"native_finish_reason":"MAX_TOKENS"}]}`), model.Truncated, "MAX_TOKENS"},
		"a part that refuses":         {body(200, `{"choices":[{"message":{"content":[{"type":"refusal","refusal":"I will not."}]},`+ended+`}]}`), model.Refused, "I will not."},
		"thoughts alone":              {body(200, `{"choices":[{"message":{"content":"","reasoning_content":"hm"},`+ended+`}]}`), model.Empty, "nothing"},
		"an answer, and one after it": {body(200, `{"choices":[{"message":{"content":"a"},`+ended+`}]}{"choices":[]}`), model.Unavailable, "does not decode"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, test.handler)
			resp, err := e.client(t, func(o *openai.Options) { o.Stream, o.MaxTries = true, 1 }).Call(t.Context(), ask("Hello?"))
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
