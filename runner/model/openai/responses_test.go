package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

const (
	responseUsage = `{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":10,"output_tokens_details":{"reasoning_tokens":4},"total_tokens":110}`
	completed     = `"status":"completed","error":null,"incomplete_details":null`
	thought       = `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."},{"type":"summary_text","text":"So <b>."}],"encrypted_content":"gAAA+/="}`
	nowItem       = `{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_a","name":"now","arguments":"{\"zone\": \"UTC\"}"}`
)

func textItem(text string) string {
	return `{"id":"m","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":` + quoted(text) + `,"annotations":[]}]}`
}

// responded is a response object, as it comes whole or in the last event.
func responded(status string, items ...string) string {
	return `{"id":"resp_1","object":"response","created_at":1.5e9,"model":"m-1",` + status + `,"output":[` + strings.Join(items, ",") + `],"usage":` + responseUsage + `}`
}

// responding answers with a response, whole or as the events of its items.
func responding(status string, items ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Stream bool }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		whole := responded(status, items...)
		if !asked.Stream {
			body(200, whole)(w, r)
			return
		}
		list := []string{named("response.created", `"response":`+responded(`"status":"in_progress"`))}
		for i, item := range items {
			list = append(list, named("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":{"type":"x"}`, i)))
			var parts struct{ Content []struct{ Text string } }
			_ = json.Unmarshal([]byte(item), &parts)
			for _, part := range parts.Content {
				half := len([]rune(part.Text)) / 2
				list = append(list, textDelta(string([]rune(part.Text)[:half])), textDelta(string([]rune(part.Text)[half:])))
			}
			list = append(list, named("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, i, item)))
		}
		last := "response.completed"
		for _, s := range []string{"incomplete", "failed"} {
			if strings.Contains(status, `"status":"`+s) {
				last = "response." + s
			}
		}
		stream(append(list, named(last, `"response":`+whole))...)(w, r)
	}
}

func named(name, members string) string {
	return "event: " + name + "\n" + event(`{"type":"`+name+`",`+members+`}`)
}

func textDelta(text string) string {
	return named("response.output_text.delta", `"delta":`+quoted(text))
}

// speaking makes a client of the Responses protocol.
func speaking(t *testing.T, e *endpoint, set ...func(*openai.Options)) *openai.Client {
	p, _ := model.Builtin("openai")
	p.API = "responses"
	return e.client(t, append([]func(*openai.Options){func(o *openai.Options) { o.Provider = p }}, set...)...)
}

func streamed(on bool) func(*openai.Options) { return func(o *openai.Options) { o.Stream = on } }

func TestResponsesRequest(t *testing.T) {
	cold := 0.0
	for _, on := range []bool{false, true} {
		e := newEndpoint(t, responding(completed, thought, textItem("Hello “you”")))
		home, _ := model.Builtin("openai")
		home.API, home.BaseURL = "responses", "https://api.openai.com/v1"
		c := e.client(t, streamed(on), func(o *openai.Options) {
			o.Provider, o.BaseURL, o.HTTP = home, "", redirected(e)
		})
		r := ask("Say <hello>.")
		r.Run, r.Schema = "run 1", json.RawMessage(`{"type":"object","additionalProperties":false,"required":[],"properties":{}}`)
		r.Params = &model.Params{Temperature: &cold, MaxOutputTokens: 800, Effort: "low", Extra: `{"service_tier":"flex"}`}
		r.Tools = []model.Tool{{Name: "now", Description: "Tells the time.", Parameters: map[string]any{"type": "object"}}}
		resp, err := c.Call(t.Context(), r)
		want := model.Response{
			Text: "Hello “you”", Thinking: "Hm.\n\nSo <b>.", Model: "m-1", Finish: "completed", ID: "resp_1", Provider: "openai", Server: "api.openai.com",
			Extra: `{"reasoning":[` + thought + `]}`,
			Usage: model.Usage{Calls: 1, InputTokens: 100, OutputTokens: 10, Cached: 64, Reasoning: 4, CostUSD: resp.Usage.CostUSD},
		}
		if err != nil || !reflect.DeepEqual(resp, want) || resp.Usage.CostUSD == 0 {
			t.Errorf("got  %+v, %v\nwant %+v", resp, err, want)
		}
		sent := e.got(t, 0)
		key, _ := sent["prompt_cache_key"].(string)
		if !strings.HasPrefix(key, "capstan-") || (sent["stream"] == true) != on || e.paths[0] != "/v1/responses" {
			t.Errorf("asked %s with %v", e.paths[0], sent)
		}
		delete(sent, "prompt_cache_key")
		delete(sent, "stream")
		var asked map[string]any
		if err := json.Unmarshal([]byte(`{"model":"gpt-5-mini","input":[{"role":"user","content":"Say <hello>."}],"temperature":0,"max_output_tokens":800,
			"reasoning":{"effort":"low"},"service_tier":"flex","store":false,"include":["reasoning.encrypted_content"],
			"tools":[{"type":"function","name":"now","description":"Tells the time.","parameters":{"type":"object"},"strict":false}],
			"text":{"format":{"type":"json_schema","name":"draft","strict":true,
			"schema":{"type":"object","additionalProperties":false,"required":[],"properties":{}}}}}`), &asked); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(sent, asked) {
			t.Errorf("sent %v\nwant %v", sent, asked)
		}
	}
}

// TestResponsesThoughtsGoBack returns an answer with thoughts and calls to its
// provider, in the order of its items. Another provider receives it without
// thoughts.
func TestResponsesThoughtsGoBack(t *testing.T) {
	second := strings.ReplaceAll(thought, "rs_1", "rs_2")
	forgotten := `{"id":"rs_3","type":"reasoning","summary":[]}`
	other := strings.ReplaceAll(nowItem, "call_a", "call_b")
	for _, on := range []bool{false, true} {
		e := newEndpoint(t, responding(completed, thought, textItem("I look."), second, nowItem, forgotten, other), responding(completed, textItem("Noon.")))
		c := speaking(t, e, streamed(on))
		thread := model.NewThread(model.Message{Role: model.System, Content: "Be short."}, model.Message{Role: model.User, Content: "What time is it?"})
		r := model.Request{Model: "m", Messages: thread.Messages(), Thread: thread}
		resp, err := c.Call(t.Context(), r)
		calls := []model.ToolCall{
			{ID: "call_a", Name: "now", Arguments: `{"zone": "UTC"}`, Extra: `{"reasoning":[` + model.Extra(second) + `]}`},
			{ID: "call_b", Name: "now", Arguments: `{"zone": "UTC"}`},
		}
		if err != nil || resp.Text != "I look." || !reflect.DeepEqual(resp.ToolCalls, calls) {
			t.Fatalf("got %+v, %v", resp, err)
		}
		thread.Append(resp.Message(), model.Message{Role: model.ToolReply, ToolCallID: "call_a", Content: "noon"}, model.Message{Role: model.ToolReply, ToolCallID: "call_b"})
		r.Messages = thread.Messages()
		if _, err := c.Call(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		call := `{"type":"function_call","call_id":"call_a","name":"now","arguments":"{\"zone\": \"UTC\"}"}`
		ask := `{"role":"system","content":"Be short."},{"role":"user","content":"What time is it?"},`
		results := `{"type":"function_call_output","call_id":"call_a","output":"noon"},{"type":"function_call_output","call_id":"call_b","output":""}`
		want := `[` + ask + thought + `,{"role":"assistant","content":"I look."},` + second + `,` + call + `,` + strings.ReplaceAll(call, "call_a", "call_b") + `,` + results + `]`
		same(t, e.got(t, 1)["input"], want)
		p, _ := model.Builtin("groq")
		p.API = "responses"
		if _, err := e.client(t, func(o *openai.Options) { o.Provider = p }).Call(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		same(t, e.got(t, 2)["input"], strings.ReplaceAll(strings.ReplaceAll(want, thought+",", ""), second+",", ""))
	}
}

// same compares a value with JSON text.
func same(t *testing.T, got any, want string) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(want), &v); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, v) {
		t.Errorf("got  %v\nwant %v", got, v)
	}
}

// TestResponsesFailures sends failed answers, whole and streamed.
func TestResponsesFailures(t *testing.T) {
	broken := func(reason string) string {
		return `"status":"incomplete","incomplete_details":{"reason":"` + reason + `"}`
	}
	failed := func(code string) http.HandlerFunc {
		return responding(`"status":"failed","error":{"code":"` + code + `","message":"It failed."}`)
	}
	refusal := `{"id":"m","type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I will not."}]}`
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		class   model.Class
		says    string
		calls   int
	}{
		"token limit":      {responding(broken("max_output_tokens"), textItem("half")), model.Truncated, "after 4 characters: finish reason max_output_tokens", 1},
		"content filter":   {responding(broken("content_filter"), textItem("half")), model.Refused, "content filter", 1},
		"unknown reason":   {responding(broken("pause"), textItem("half")), model.Unusable, "pause", 1},
		"incomplete":       {responding(`"status":"incomplete","incomplete_details":null`, textItem("half")), model.Unusable, "finish reason incomplete", 1},
		"cancelled":        {responding(`"status":"cancelled"`, textItem("half")), model.Unavailable, "cancelled", 4},
		"refusal":          {responding(completed, refusal), model.Refused, "I will not.", 1},
		"server error":     {failed("server_error"), model.Unavailable, "It failed.", 4},
		"rate limit":       {failed("rate_limit_exceeded"), model.RateLimited, "It failed.", 4},
		"prompt":           {failed("invalid_prompt"), model.Rejected, "It failed.", 1},
		"no items":         {responding(completed), model.Empty, "said nothing", 4},
		"only thoughts":    {responding(completed, thought), model.Empty, "said nothing", 4},
		"other item":       {responding(completed, `{"type":"web_search_call","id":"ws_1"}`), model.Unusable, "the type web_search_call", 1},
		"status 400":       {body(400, `{"error":{"message":"Bad.","type":"invalid_request_error","param":"input","code":null}}`), model.Rejected, "Bad. (input)", 1},
		"status 529":       {body(529, `{"error":{"message":"Busy."}}`), model.Unavailable, "Busy.", 4},
		"no response":      {body(200, `{"choices":[]}`), model.Empty, `{"choices":[]}`, 4},
		"duplicate name":   {body(200, `{"id":"a","id":"b"}`), model.Unusable, "duplicate", 1},
		"invalid UTF-8":    {body(200, responded(completed, textItem("H"))[:40]+"\xff"+`"}`), model.Unavailable, "does not decode", 4},
		"too many calls":   {responding(completed, strings.Split(strings.Repeat(nowItem+"|", 101)[:101*(len(nowItem)+1)-1], "|")...), model.Unusable, "100", 1},
		"cut":              {stream(textDelta("Hel")), model.Unavailable, "cut", 4},
		"cut with DONE":    {stream(textDelta("Hel"), done), model.Unavailable, "no event response.completed", 4},
		"error event":      {stream(textDelta("Hel"), named("error", `"code":"server_error","message":"It broke.","param":null`)), model.Unavailable, "It broke.", 4},
		"unnamed error":    {stream(textDelta("Hel"), event(`{"type":"error","message":"It broke."}`)), model.Unavailable, "It broke.", 4},
		"another text":     {stream(textDelta("Hel"), named("response.completed", `"response":`+responded(completed, textItem("Good")))), model.Unavailable, "another text", 4},
		"broken event":     {stream(textDelta("Hel"), "event: response.completed\n", event(`{"type":"respo`)), model.Unavailable, "does not decode", 4},
		"half a character": {stream(named("response.output_text.delta", "\"delta\":\"a\xf0\""), named("response.completed", `"response":`+responded(completed, textItem("a")))), model.Unavailable, "invalid UTF-8", 4},
	} {
		for _, on := range []bool{false, true} {
			var h listener
			r := ask("Hello?")
			if on {
				r.OnText = h.on
			}
			e := newEndpoint(t, test.handler)
			resp, err := speaking(t, e).Call(t.Context(), r)
			var f *model.Failure
			if !errors.As(err, &f) || f.Class != test.class || !strings.Contains(f.Message, test.says) || e.count() != test.calls || resp.Text != "" || h.String() != "" {
				t.Errorf("%s, streamed %t: got %+v, %v after %d requests, heard %q", name, on, resp, err, e.count(), h.String())
			}
		}
	}
}

// TestResponsesStream checks the pieces of a streamed answer.
func TestResponsesStream(t *testing.T) {
	whole := func(items ...string) string {
		return named("response.completed", `"response":`+responded(completed, items...))
	}
	item := func(text string) string {
		return named("response.output_item.done", `"item":`+textItem(text))
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		text    string
		pieces  int
	}{
		"deltas":           {stream(textDelta("Hel"), textDelta("lo"), item("Hello"), whole(textItem("Hello"))), "Hello", 2},
		"no deltas":        {stream(whole(textItem("Hello"))), "Hello", 1},
		"no items at last": {stream(textDelta("Hel"), textDelta("lo"), item("Hello"), whole()), "Hello", 2},
		"two texts":        {stream(textDelta("Hel"), item("Hel"), textDelta("lo"), item("lo"), whole(textItem("Hel"), textItem("lo"))), "Hello", 2},
		"no names":         {stream(event(`{"type":"response.output_text.delta","delta":"Hello"}`), event(`{"type":"response.completed","response":`+responded(completed, textItem("Hello"))+`}`)), "Hello", 1},
		"half a pair":      {stream(named("response.output_text.delta", `"delta":"a\ud83e"`), named("response.output_text.delta", `"delta":"\udd89"`), whole(textItem("a🦉"))), "a🦉", 2},
		"DONE at last":     {stream(textDelta("Hello"), whole(textItem("Hello")), done), "Hello", 1},
		"whole instead":    {body(200, responded(completed, textItem("Hello"))), "Hello", 1},
		"keep-alives":      {stream(": wait\n\n", named("response.in_progress", `"response":{}`), named("keepalive", `"x":1`), textDelta("Hello"), whole(textItem("Hello"))), "Hello", 1},
		"never hangs up": {func(w http.ResponseWriter, r *http.Request) {
			stream(textDelta("Hello"), whole(textItem("Hello")))(w, r)
			<-r.Context().Done()
		}, "Hello", 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, test.handler)
			var h listener
			r := ask("Hello?")
			r.OnText = h.on
			resp, err := speaking(t, e).Call(t.Context(), r)
			if err != nil || resp.Text != test.text || h.String() != test.text || h.pieces != test.pieces || resp.Usage.InputTokens != 100 {
				t.Errorf("got %+v, %v; heard %q in %d", resp, err, h.String(), h.pieces)
			}
		})
	}
}

// TestResponsesWithout calls endpoints that reject members of a request.
func TestResponsesWithout(t *testing.T) {
	refusing := func(member, words string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			if strings.Contains(string(text), `"`+member+`"`) {
				body(400, `{"error":{"message":`+quoted(words)+`}}`)(w, r)
				return
			}
			body(200, responded(completed, textItem("{}")))(w, r)
		}
	}
	for member, test := range map[string]struct{ words, without string }{
		"include":     {"Encrypted content is not supported with this model.", ""},
		"store":       {"Unknown parameter: 'store'.", ""},
		"json_schema": {"Unsupported: text.format of the type json_schema", "json_schema"},
		"text":        {"Unknown parameter: 'text.format'.", "response_format"},
	} {
		e := newEndpoint(t, refusing(member, test.words))
		c := speaking(t, e)
		r := ask("Hello?")
		r.Schema = json.RawMessage(`{"type":"object"}`)
		for range 2 {
			resp, err := c.Call(t.Context(), r)
			if err != nil || resp.Text != "{}" || strings.Join(resp.Without, " ") != test.without {
				t.Errorf("%s: got %+v, %v", member, resp, err)
			}
		}
		if n := e.count(); n > 4 || e.got(t, n-1)[member] != nil {
			t.Errorf("%s: %d requests, the last %s", member, n, e.bodies[n-1])
		}
	}
}

// TestResponsesUnsupported refuses parameters that the protocol does not have.
func TestResponsesUnsupported(t *testing.T) {
	e, seed := newEndpoint(t, responding(completed, textItem("Hello"))), int64(7)
	for name, p := range map[string]*model.Params{"seed": {Seed: &seed}, "stop": {Stop: []string{"END"}}} {
		r := ask("Hello?")
		r.Params = p
		_, err := speaking(t, e).Call(t.Context(), r)
		if err == nil || !strings.Contains(err.Error(), "the protocol has no "+name+": remove it") || e.count() != 0 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestUnknownProtocol refuses a provider with an unknown protocol.
func TestUnknownProtocol(t *testing.T) {
	_, err := openai.New(openai.Options{Provider: model.Provider{Name: "house", API: "grpc", BaseURL: "http://127.0.0.1:1/v1"}})
	if err == nil || !strings.Contains(err.Error(), `unknown api "grpc": want chat, messages or responses`) {
		t.Errorf("got %v", err)
	}
}

// FuzzResponses sends any stream: each ends with an answer whose text was streamed, or with a failure.
func FuzzResponses(f *testing.F) {
	f.Add(textDelta("Hel") + named("response.completed", `"response":`+responded(completed, thought, textItem("Hello"), nowItem)))
	f.Add(named("response.failed", `"response":{"error":{"code":"x"}}`))
	f.Add(named("response.output_item.done", `"item":{"type":"message","content":[{"type":"output_text","text":[]}]}`) + done)
	f.Add(named("response.completed", `"response":{"output":[null,[],{"type":"function_call"}]}`))
	c := make(chan string, 1)
	url, _ := serve(f, func(w http.ResponseWriter, r *http.Request) { stream(<-c)(w, r) })
	client, err := openai.New(openai.Options{Provider: model.Provider{Name: "x", API: "responses", BaseURL: url}, MaxTries: 1, Stream: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var h listener
		r := ask("Hello?")
		r.OnText = h.on
		c <- text
		resp, err := client.Call(t.Context(), r)
		if err == nil && (resp.Text != h.String() || resp.Text == "" && len(resp.ToolCalls) == 0) || err != nil && h.String() != "" {
			t.Errorf("%q: got %+v, %v, heard %q", text, resp, err, h.String())
		}
	})
}
