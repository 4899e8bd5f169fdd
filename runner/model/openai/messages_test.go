package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// claude sets the built-in provider that speaks the Messages protocol.
func claude(o *openai.Options) { o.Provider, _ = model.Builtin("anthropic") }

func once(o *openai.Options) { o.MaxTries = 1 }

const counts = `"usage":{"input_tokens":20,"cache_read_input_tokens":70,"cache_creation_input_tokens":10,"output_tokens":10}`

// claudeReply is a whole reply of Messages.
func claudeReply(content, reason string) http.HandlerFunc {
	return body(200, `{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":`+content+`,"stop_reason":`+quoted(reason)+`,`+counts+`}`)
}

// claudeEvents are the events of the texts in pieces.
func claudeEvents(pieces ...string) string {
	all := claudeEvent("message_start", `"message":{"id":"msg_1","model":"m-1","content":[],`+counts+`}`) +
		claudeEvent("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`) + claudeEvent("ping", `"x":0`)
	for _, p := range pieces {
		all += claudePiece(p)
	}
	return all + claudeEvent("content_block_stop", `"index":0`)
}

func claudePiece(inner string) string {
	return claudeEvent("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"`+inner+`"}`)
}

func claudeEvent(kind, members string) string {
	return "event: " + kind + "\n" + event(`{"type":"`+kind+`",`+members+`}`)
}

func claudeEnd(reason string) string {
	return claudeEvent("message_delta", `"delta":{"stop_reason":`+quoted(reason)+`},"usage":{"output_tokens":10}`) + claudeEvent("message_stop", `"x":0`)
}

// The request has Anthropic's address and headers, and none of OpenAI's.
func TestMessagesRequest(t *testing.T) {
	e := newEndpoint(t, claudeReply(`[{"type":"text","text":"Hello"}]`, "end_turn"))
	r := ask("Hello?")
	r.Run = "one"
	resp, err := e.client(t, claude).Call(t.Context(), r)
	if err != nil || resp.Text != "Hello" || resp.Model != "m-1" || resp.ID != "msg_1" || resp.Provider != "anthropic" {
		t.Fatalf("got %+v, %v", resp, err)
	}
	h := e.heads[0]
	if e.paths[0] != "/v1/messages" || h.Get("X-Api-Key") != "sk-secret-key" || h.Get("Anthropic-Version") != "2023-06-01" || h.Get("Authorization") != "" {
		t.Errorf("asked %s with %v", e.paths[0], h)
	}
	if want := `{"model":"gpt-5-mini","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"Hello?"}]}]}`; e.bodies[0] != want {
		t.Errorf("sent %s", e.bodies[0])
	}
}

// A provider of a cascade may speak the protocol too.
func TestMessagesOwnProvider(t *testing.T) {
	e := newEndpoint(t, claudeReply(`[{"type":"text","text":"Hello"}]`, "end_turn"))
	own := model.Provider{Name: "gateway", API: model.Messages, Headers: map[string]string{"Anthropic-Version": "2024-01-01", "X-Team": "a"}}
	resp, err := e.client(t, func(o *openai.Options) { o.Provider = own }).Call(t.Context(), ask("Hello?"))
	if h := e.heads[0]; err != nil || resp.Text != "Hello" || h.Get("X-Api-Key") != "sk-secret-key" || h.Get("Anthropic-Version") != "2024-01-01" || h.Get("X-Team") != "a" {
		t.Errorf("got %+v, %v, with %v", resp, err, h)
	}
}

// Tokens read from the cache and written to it have prices of their own.
func TestMessagesUsage(t *testing.T) {
	read, written := 0.1, 1.25
	prices := model.Prices{"gpt-5-mini": {Input: 1, Cached: &read, CacheWrite: &written, Output: 5}}
	want := model.Usage{Calls: 1, InputTokens: 100, OutputTokens: 10, Cached: 70, CacheWrite: 10, CostUSD: (20 + 7 + 12.5 + 50) / 1e6}
	for _, streamed := range []bool{false, true} {
		e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
			if streamed {
				stream(claudeEvents("Hello")+claudeEnd("end_turn"))(w, r)
				return
			}
			claudeReply(`[{"type":"text","text":"Hello"}]`, "end_turn")(w, r)
		})
		resp, err := e.client(t, claude, func(o *openai.Options) { o.Stream, o.Provider.Prices = streamed, prices }).Call(t.Context(), ask("Hello?"))
		if u := resp.Usage; err != nil || u.CostUSD-want.CostUSD > 1e-12 || want.CostUSD-u.CostUSD > 1e-12 {
			t.Errorf("got %+v, %v", resp, err)
		}
		if resp.Usage.CostUSD = want.CostUSD; resp.Usage != want {
			t.Errorf("got %+v, want %+v", resp.Usage, want)
		}
	}
}

// Each stop reason, whole and streamed.
func TestMessagesStopReasons(t *testing.T) {
	const text, call = `[{"type":"text","text":"Half"}]`, `[{"type":"tool_use","id":"toolu_1","name":"now","input":{}}]`
	for name, test := range map[string]struct {
		content, reason string
		class           model.Class
		says            string
	}{
		"end_turn":       {text, "end_turn", "", ""},
		"stop_sequence":  {text, "stop_sequence", "", ""},
		"tool_use":       {call, "tool_use", "", ""},
		"no call":        {text, "tool_use", model.Unusable, "ends for its tool calls and has none"},
		"max_tokens":     {text, "max_tokens", model.Truncated, "the token limit after 4 characters"},
		"context window": {text, "model_context_window_exceeded", model.Truncated, "model_context_window_exceeded"},
		"refusal":        {text, "refusal", model.Refused, "finish reason refusal"},
		"pause_turn":     {text, "pause_turn", model.Unusable, "Capstan does not continue"},
		"another":        {text, "compaction", model.Unusable, "add it to finish of the provider anthropic"},
		"nothing":        {`[]`, "end_turn", model.Empty, "said nothing"},
		"blank":          {`[{"type":"text","text":" \n"}]`, "end_turn", model.Empty, "said nothing"},
		"only thinking":  {`[{"type":"thinking","thinking":"Hm.","signature":"s"}]`, "end_turn", model.Empty, "said nothing"},
		"another block":  {`[{"type":"container_upload","file_id":"f"}]`, "end_turn", model.Unusable, "a block of the type container_upload and no text"},
	} {
		for _, streamed := range []bool{false, true} {
			events := claudeEvent("message_start", `"message":{"id":"msg_1","model":"m-1","content":`+test.content+`,`+counts+`}`) + claudeEnd(test.reason)
			e := newEndpoint(t, claudeReply(test.content, test.reason))
			if streamed {
				e = newEndpoint(t, stream(events))
			}
			resp, err := e.client(t, claude, once, func(o *openai.Options) { o.Stream = streamed }).Call(t.Context(), ask("Hello?"))
			var f *model.Failure
			switch {
			case test.class == "" && (err != nil || resp.Text == "" && resp.ToolCalls == nil || resp.Finish != test.reason):
				t.Errorf("%s: got %+v, %v", name, resp, err)
			case test.class != "" && (!errors.As(err, &f) || f.Class != test.class || !strings.Contains(f.Message, test.says) || resp.Text != "" || resp.Usage.OutputTokens != 10):
				t.Errorf("%s: got %+v, %v", name, resp, err)
			}
		}
	}
}

func TestMessagesErrors(t *testing.T) {
	report := func(status int, kind, message string, headers ...string) http.HandlerFunc {
		return body(status, `{"type":"error","error":{"type":"`+kind+`","message":"`+message+`"},"request_id":"req_1"}`, headers...)
	}
	inside := func(kind string) string {
		return claudeEvent("error", `"error":{"type":"`+kind+`","message":"Sorry"}`)
	}
	hello := claudeEvents("Hello")
	for name, test := range map[string]struct {
		handler  http.HandlerFunc
		class    model.Class
		says     string
		requests int
	}{
		"overloaded":             {report(529, "overloaded_error", "Overloaded"), model.Unavailable, "Overloaded", 4},
		"api_error":              {report(500, "api_error", "Internal server error"), model.Unavailable, "Internal server error", 4},
		"a rate limit":           {report(429, "rate_limit_error", "Slow down"), model.RateLimited, "Slow down", 4},
		"a long wait":            {report(429, "rate_limit_error", "Slow down", "Retry-After", "600"), model.RateLimited, "asks to wait 10m0s", 1},
		"a wrong key":            {report(401, "authentication_error", "invalid x-api-key"), model.Rejected, "does not take the key; set ANTHROPIC_API_KEY", 1},
		"billing":                {report(402, "billing_error", "No credit"), model.Rejected, "No credit", 1},
		"permission":             {report(403, "permission_error", "Not yours"), model.Rejected, "Not yours", 1},
		"an unknown model":       {report(404, "not_found_error", "model: x"), model.Rejected, "does not know model gpt-5-mini", 1},
		"too large":              {report(413, "request_too_large", "Too large"), model.Rejected, "Too large", 1},
		"an invalid request":     {report(400, "invalid_request_error", "max_tokens: too large", "Request-Id", "req_7"), model.Rejected, "(request req_7)", 1},
		"an error in status 200": {report(200, "overloaded_error", "Overloaded"), model.Unavailable, "Overloaded", 4},
		"no JSON":                {body(200, "<html>"), model.Unavailable, "no JSON object", 4},
		"another protocol":       {reply("Hello"), model.Empty, "the reply has no answer", 4},
		"overloaded, streamed":   {stream(hello, inside("overloaded_error")), model.Unavailable, "Sorry", 4},
		"a rate limit, streamed": {stream(hello, inside("rate_limit_error")), model.RateLimited, "Sorry", 4},
		"rejected, streamed":     {stream(hello, inside("invalid_request_error")), model.Rejected, "Sorry", 1},
		"an error without name":  {stream(hello, event(`{"type":"error","error":{"type":"permission_error","message":"Sorry"}}`)), model.Rejected, "Sorry", 1},
		"an error after the end": {stream(hello, claudeEvent("message_delta", `"delta":{"stop_reason":"end_turn"}`), inside("api_error")), model.Unavailable, "Sorry", 4},
		"cut":                    {stream(hello), model.Unavailable, "the answer was cut", 4},
		"cut in an event":        {stream(hello, claudeEnd("end_turn")[:60]), model.Unavailable, "does not decode", 4},
		"cut connection":         {cut(stream(hello)), model.Unavailable, "EOF", 4},
		"nothing":                {stream(), model.Unavailable, "no body", 4},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, test.handler)
			var h listener
			r := ask("Hello?")
			if strings.Contains(name, "stream") || strings.Contains(name, "cut") || strings.Contains(name, "error ") {
				r.OnText = h.on
			}
			resp, err := e.client(t, claude).Call(t.Context(), r)
			var f *model.Failure
			if !errors.As(err, &f) || f.Class != test.class || !strings.Contains(f.Message, test.says) || e.count() != test.requests || resp.Text+h.String() != "" {
				t.Errorf("got %+v, %v; %d requests, heard %q", resp, err, e.count(), h.String())
			}
		})
	}
}

// A reply that is not exactly one reading of valid text is a failure.
func TestMessagesReplyRejected(t *testing.T) {
	million := "[" + strings.Repeat("0,", 1_000_000) + "0]"
	half := "[" + strings.Repeat("0,", 500_000) + "0]"
	other := func(values string) string {
		return claudeEvent("content_block_start", `"index":1,"content_block":{"type":"search_result","content":`+values+`}`)
	}
	var calls strings.Builder
	for i := range 101 {
		fmt.Fprintf(&calls, `{"type":"tool_use","id":"a%d","name":"now","input":{}},`, i)
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		class   model.Class
		says    string
	}{
		"text twice":           {claudeReply(`[{"type":"text","text":"no","text":"yes"}]`, "end_turn"), model.Unusable, `duplicate object member name "text" within "/content/0"`},
		"input twice":          {claudeReply(`[{"type":"tool_use","id":"a","name":"b","input":{"c":1,"c":2}}]`, "tool_use"), model.Unusable, `duplicate object member name "c"`},
		"text twice, streamed": {stream(claudePiece(`no","text":"yes`), claudeEnd("end_turn")), model.Unusable, `duplicate object member name "text"`},
		"invalid bytes":        {claudeReply("[{\"type\":\"text\",\"text\":\"a\xff\"}]", "end_turn"), model.Unavailable, "invalid UTF-8"},
		"half a pair":          {claudeReply(`[{"type":"text","text":"a\ud83e"}]`, "end_turn"), model.Unavailable, "surrogate"},
		"half at the end":      {stream(claudeEvents(`a\ud83e`) + claudeEnd("end_turn")), model.Unavailable, "invalid UTF-8"},
		"half, another text":   {stream(claudeEvents(`a\ud83e`, "b") + claudeEnd("end_turn")), model.Unavailable, "invalid UTF-8"},
		"bytes, streamed":      {stream(claudeEvents("a\xff", "b") + claudeEnd("end_turn")), model.Unavailable, "invalid UTF-8"},
		"values":               {claudeReply(`[{"type":"text","text":"yes"}],"x":`+million, "end_turn"), model.Unusable, "the limit is 1000000"},
		"values of an event":   {stream(claudeEvents("yes"), other(million)), model.Unusable, "the limit is 1000000"},
		"values of events":     {stream(claudeEvents("yes"), other(half), other(half), other(half)), model.Unusable, "the limit is 1000000"},
		"calls":                {claudeReply("["+strings.TrimSuffix(calls.String(), ",")+"]", "tool_use"), model.Unusable, "101 tools called at once"},
	} {
		t.Run(name, func(t *testing.T) {
			var h listener
			r := ask("Hello?")
			r.OnText = h.on
			resp, err := newEndpoint(t, test.handler).client(t, claude, once).Call(t.Context(), r)
			var f *model.Failure
			if !errors.As(err, &f) || f.Class != test.class || !strings.Contains(f.Message, test.says) || resp.Text+h.String() != "" {
				t.Errorf("got %+v, %.300v; heard %q", resp, err, h.String())
			}
		})
	}
}

// The spellings of a stream.
func TestMessagesStream(t *testing.T) {
	pieces := []string{"Hel", "lo, ", `\u201cyou\u201d \ud83e`, `\udd89`}
	whole := claudeEvents(pieces...) + claudeEnd("end_turn")
	for name, handler := range map[string]http.HandlerFunc{
		"plain":            stream(whole),
		"byte by byte":     stream(strings.Split(whole, "")...),
		"CRLF":             stream(strings.ReplaceAll(whole, "\n", "\r\n")),
		"CR":               stream(strings.ReplaceAll(whole, "\n", "\r")),
		"no space":         stream(strings.ReplaceAll(whole, ": ", ":")),
		"no names":         stream(strings.ReplaceAll(whole, "event: ", "id: ")),
		"comments":         stream(": hold\n\n", whole),
		"no last newline":  stream(strings.TrimSpace(whole)),
		"byte order mark":  stream("\ufeff" + whole),
		"no message_stop":  stream(strings.TrimSuffix(whole, claudeEvent("message_stop", `"x":0`))),
		"cut after end":    cut(stream(strings.TrimSuffix(whole, claudeEvent("message_stop", `"x":0`)))),
		"more after end":   stream(whole, claudePiece("no")),
		"an unknown event": stream(claudeEvent("new_event", `"x":[]`), whole),
		"whole instead":    claudeReply(`[{"type":"text","text":"Hello, “you” 🦉"}]`, "end_turn"),
		"events as JSON":   body(200, whole, "Content-Type", "application/json"),
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, handler)
			var h listener
			r := ask("Hello?")
			r.OnText = h.on
			resp, err := e.client(t, claude).Call(t.Context(), r)
			if err != nil || resp.Text != "Hello, “you” 🦉" || h.String() != resp.Text || h.anew != 0 || e.count() != 1 {
				t.Errorf("got %+v, %v; heard %q, %d requests", resp, err, h.String(), e.count())
			}
			if u := resp.Usage; u.InputTokens != 100 || u.OutputTokens != 10 || u.Estimated {
				t.Errorf("usage %+v", u)
			}
		})
	}
}

// Thinking is no part of the text. A later request returns it with its
// signature, even from a journal. Other providers receive only the text.
func TestMessagesThinking(t *testing.T) {
	const blocks = `[{"type":"thinking","thinking":"Hm.","signature":"EqQB/+=="},{"type":"redacted_thinking","data":"abc"},{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"now","input":{"zone":"UTC"}}]`
	e := newEndpoint(t, claudeReply(blocks, "tool_use"), claudeReply(`[{"type":"text","text":"Noon."}]`, "end_turn"))
	c := e.client(t, claude)
	thread := model.NewThread(model.Message{Role: model.User, Content: "Go."})
	request := func() model.Request {
		return model.Request{Model: "m", Messages: thread.Messages(), Thread: thread, Tools: []model.Tool{{Name: "now"}}}
	}
	resp, err := c.Call(t.Context(), request())
	if err != nil || resp.Text != "I look." || resp.Thinking != "Hm." || len(resp.ToolCalls) != 1 || resp.ToolCalls[0].Arguments != `{"zone":"UTC"}` {
		t.Fatalf("got %+v, %v", resp, err)
	}
	raw, _ := json.Marshal(resp)
	var stored model.Response
	if err := json.Unmarshal(raw, &stored); err != nil || !reflect.DeepEqual(stored, resp) {
		t.Errorf("stored %+v, %v", stored, err)
	}
	thread.Append(stored.Message(), model.Message{Role: model.ToolReply, Content: "12:00", ToolCallID: "toolu_1"})
	if _, err := c.Call(t.Context(), request()); err != nil {
		t.Fatal(err)
	}
	var sent struct {
		Messages []struct{ Content any }
	}
	var want any
	if err := errors.Join(json.Unmarshal([]byte(e.bodies[1]), &sent), json.Unmarshal([]byte(blocks), &want)); err != nil || !reflect.DeepEqual(sent.Messages[1].Content, want) {
		t.Errorf("went back %s, %v", e.bodies[1], err)
	}
	if !strings.HasPrefix(e.bodies[1], strings.TrimSuffix(e.bodies[0], "]}")) {
		t.Errorf("the second request does not begin as the first:\n%s\n%s", e.bodies[0], e.bodies[1])
	}
	other := newEndpoint(t, forms(lastText, lastPart))
	if _, err := opened(t, other, "groq", false).Call(t.Context(), request()); err != nil || strings.Contains(other.bodies[0], "thinking") || !strings.Contains(other.bodies[0], `"id":"toolu_1"`) {
		t.Errorf("sent %s, %v", other.bodies[0], err)
	}
}

// If an endpoint rejects the thinking of a conversation, the client repeats the
// request without it. The next conversation is not affected.
func TestMessagesThinkingRefused(t *testing.T) {
	e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Messages []struct{ Content json.RawMessage }
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		if strings.Contains(string(asked.Messages[1].Content), "foreign") {
			body(400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `+"`signature` in `thinking`"+` block"}}`)(w, r)
			return
		}
		claudeReply(`[{"type":"text","text":"Noon."}]`, "end_turn")(w, r)
	})
	c := e.client(t, claude)
	for _, signature := range []string{"foreign", "own"} {
		before, requests := e.count(), map[string]int{"foreign": 2, "own": 1}[signature]
		earlier := model.Message{Role: model.Assistant, Content: "Yes.", Provider: "anthropic",
			Extra: model.Extra(`{"thinking":[{"type":"thinking","thinking":"Hm.","signature":"` + signature + `"},{"type":"text","text":"Yes."}]}`)}
		resp, err := c.Call(t.Context(), model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "Go."}, earlier, {Role: model.User, Content: "And?"}}})
		if err != nil || resp.Text != "Noon." || e.count()-before != requests || (len(resp.Without) == 1) != (requests == 2) {
			t.Errorf("%s: got %+v, %v, %d requests", signature, resp, err, e.count()-before)
		}
	}
}

// A schema that the endpoint refuses goes into the prompt; other schemas stay.
func TestMessagesSchema(t *testing.T) {
	refusal := func(message string) http.HandlerFunc {
		return body(400, `{"type":"error","error":{"type":"invalid_request_error","message":"`+message+`"}}`)
	}
	answer := claudeReply(`[{"type":"text","text":"{}"}]`, "end_turn")
	for name, test := range map[string]struct {
		refused, says string
		requests      []int // with the schema {"type":"object"} and with another schema, twice each
		without       string
	}{
		"takes all":           {"nothing", "", []int{1, 1, 1, 1}, ""},
		"refuses this schema": {`"maxProperties"`, "output_config.format.schema: For 'object' type, 'maxProperties' is not supported", []int{1, 1, 2, 1}, "json_schema"},
		"refuses every one":   {`"output_config"`, "output_config: Extra inputs are not permitted", []int{2, 1, 1, 1}, "json_schema"},
	} {
		e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
			var asked map[string]json.RawMessage
			_ = json.NewDecoder(r.Body).Decode(&asked)
			if text := string(asked["output_config"]); text != "" && strings.Contains(`"output_config":`+text, test.refused) {
				refusal(test.says)(w, r)
				return
			}
			answer(w, r)
		})
		c := e.client(t, claude)
		var without []string
		for i, want := range test.requests {
			r, before := withSchema([]string{`{"type":"object"}`, `{"type":"object","enum":[{"maxProperties":1}]}`}[i/2]), e.count()
			resp, err := c.Call(t.Context(), r)
			if err != nil || e.count()-before != want {
				t.Errorf("%s %d: got %+v, %v, %d requests", name, i, resp, err, e.count()-before)
			}
			without = resp.Without
			last := e.bodies[e.count()-1]
			if in := strings.Contains(last, "matches this JSON Schema"); in == strings.Contains(last, `"output_config"`) {
				t.Errorf("%s %d: sent %s", name, i, last)
			}
		}
		if strings.Join(without, " ") != test.without {
			t.Errorf("%s: without %v", name, without)
		}
	}
}
