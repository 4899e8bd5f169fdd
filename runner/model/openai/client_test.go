package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

func TestCall(t *testing.T) {
	e := newEndpoint(t, reply("Hello “you” <b>&"))
	resp, err := e.client(t).Call(t.Context(), ask("Say hello."))
	if err != nil {
		t.Fatal(err)
	}
	want := model.Response{
		Text: "Hello “you” <b>&", Model: "m-1", Finish: "stop", ID: "x", Provider: "openai", Server: strings.TrimSuffix(strings.TrimPrefix(e.url, "http://"), "/v1"),
		Usage: model.Usage{Calls: 1, InputTokens: 100, OutputTokens: 10},
	}
	want.Usage.CostUSD = (100*0.25 + 10*2.0) / 1e6
	if !reflect.DeepEqual(resp, want) {
		t.Errorf("got %+v\nwant %+v", resp, want)
	}
	if e.paths[0] != "/v1/chat/completions" || e.heads[0].Get("Authorization") != "Bearer sk-secret-key" {
		t.Errorf("asked %s with %v", e.paths[0], e.heads[0])
	}
	if e.heads[0].Get("Content-Length") == "" && e.heads[0].Get("Transfer-Encoding") != "" {
		t.Error("the body came without its length")
	}
	want2 := map[string]any{"model": "gpt-5-mini", "messages": []any{map[string]any{"role": "user", "content": "Say hello."}}}
	if got := e.got(t, 0); !reflect.DeepEqual(got, want2) {
		t.Errorf("sent %v", got)
	}
}

// Both forms of an answer, whole and streamed, must come to the same.
func TestToolCalls(t *testing.T) {
	whole := message(`{"role":"assistant","content":null,"tool_calls":[
		{"id":"a","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.txt\"}"}},
		{"type":"function","function":{"name":"now","arguments":{"zone": "UTC"}}}]}`, "tool_calls")
	numbered := stream(
		choice(`{"role":"assistant","content":null}`, "null"),
		choice(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read_file","arguments":""}}]}`, "null"),
		choice(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}`, "null"),
		choice(`{"tool_calls":[{"index":1,"type":"function","function":{"name":"now","arguments":"{\"zone\": "}},{"index":0,"function":{"arguments":"\"a.txt\"}"}}]}`, "null"),
		choice(`{"tool_calls":[{"index":1,"function":{"arguments":"\"UTC\"}"}}]}`, "null"),
		finished("tool_calls"), counted, done)
	unnumbered := stream(
		choice(`{"tool_calls":[{"id":"a","function":{"name":"read_file","arguments":"{\"path\":"}}]}`, "null"),
		choice(`{"tool_calls":[{"function":{"arguments":"\"a.txt\"}"}}]}`, "null"),
		choice(`{"tool_calls":[{"id":"call_1_2","function":{"name":"now","arguments":"{\"zone\": \"UTC\"}"}}]}`, "null"),
		finished("stop"), counted, done)
	const first, second = `"function":{"name":"read_file","arguments":"{\"path\":\"a.txt\"}"}}`, `"function":{"name":"now","arguments":"{\"zone\": \"UTC\"}"}}`
	named := func(arguments string) string {
		return choice(`{"tool_calls":[{"index":0,"function":{"name":"read_file","arguments":`+arguments+`}}]}`, "null")
	}
	now := []model.ToolCall{{ID: "call_1_1", Name: "now", Arguments: `{"zone": "UTC"}`}, {ID: "call_1_2", Name: "now", Arguments: `{"zone": "UTC"}`}}
	want := []model.ToolCall{
		{ID: "a", Name: "read_file", Arguments: `{"path":"a.txt"}`},
		{ID: "call_1_2", Name: "now", Arguments: `{"zone": "UTC"}`},
	}
	unnamed := []model.ToolCall{{ID: "call_1_1", Name: "read_file", Arguments: want[0].Arguments}, want[1]}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    []model.ToolCall
	}{
		"halved": {stream(
			choice(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"now","arguments":"{\"zone\": \"\ud83e"}}]}`, "null"),
			choice(`{"tool_calls":[{"index":0,"function":{"arguments":"\udd89\"}"}}]}`, "null"), finished("tool_calls"), counted, done,
		), []model.ToolCall{{ID: "a", Name: "now", Arguments: `{"zone": "🦉"}`}}},
		"whole":      {whole, want},
		"numbered":   {numbered, want},
		"unnumbered": {unnumbered, want},
		// Endpoints without ids send the same number for all calls, or none.
		"same number":             {stream(choice(`{"tool_calls":[{"index":0,`+first+`]}`, "null"), choice(`{"tool_calls":[{"index":0,`+second+`]}`, "null"), finished("tool_calls"), counted, done), unnamed},
		"same number, one chunk":  {stream(choice(`{"tool_calls":[{"index":0,"id":"",`+first+`,{"index":0,"id":"",`+second+`]}`, "null"), finished("stop"), counted, done), unnamed},
		"no number":               {stream(choice(`{"tool_calls":[{`+first+`]}`, "null"), choice(`{"tool_calls":[{`+second+`]}`, "null"), finished("stop"), counted, done), unnamed},
		"no number, one chunk":    {stream(choice(`{"tool_calls":[{`+first+`,{`+second+`]}`, "null"), finished("stop"), counted, done), unnamed},
		"the same tool twice":     {stream(choice(`{"tool_calls":[{"index":0,`+second+`]}`, "null"), choice(`{"tool_calls":[{"index":0,`+second+`]}`, "null"), finished("stop"), counted, done), now},
		"one without arguments":   {stream(named(`""`), choice(`{"tool_calls":[{"index":0,`+second+`]}`, "null"), finished("stop"), counted, done), []model.ToolCall{{ID: "call_1_1", Name: "read_file"}, want[1]}},
		"the name in each piece":  {stream(named(`""`), named(`"{\"path\":"`), named(`"\"a.txt\"}"`), named(`""`), finished("stop"), counted, done), unnamed[:1]},
		"the name again":          {stream(named(`"{\"path\":\"a.txt\"}"`), named(`""`), finished("stop"), counted, done), unnamed[:1]},
		"the name again, nothing": {stream(named(`"{\"path\":"`), named(`"\"a.txt\"}"`), named(`null`), finished("stop"), counted, done), unnamed[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, test.handler)
			r := ask("Read a.txt.")
			r.Tools = []model.Tool{{Name: "read_file", Description: "Reads.", Parameters: map[string]any{"type": "object"}}, {Name: "now"}}
			resp, err := e.client(t, func(o *openai.Options) { o.Stream = name != "whole" }).Call(t.Context(), r)
			if err != nil || !reflect.DeepEqual(resp.ToolCalls, test.want) || resp.Text != "" || resp.Usage.InputTokens != 100 {
				t.Errorf("got %+v, %v", resp, err)
			}
			tools := []any{
				map[string]any{"type": "function", "function": map[string]any{"name": "read_file", "description": "Reads.", "parameters": map[string]any{"type": "object"}}},
				map[string]any{"type": "function", "function": map[string]any{"name": "now"}},
			}
			if got := e.got(t, 0)["tools"]; !reflect.DeepEqual(got, tools) {
				t.Errorf("sent %v", got)
			}
		})
	}
}

// TestFailures checks the class of each failed answer and the number of
// requests.
func TestFailures(t *testing.T) {
	tests := map[string]struct {
		handler  http.HandlerFunc
		class    model.Class
		status   int
		says     string
		calls    int
		streamed bool
	}{
		"no key":          {body(401, `{"error":{"message":"You didn't provide an API key.","type":"invalid_request_error","param":null,"code":null}}`), model.Rejected, 401, "You didn't provide an API key.", 1, false},
		"forbidden":       {body(403, `{"detail":"not your model"}`), model.Rejected, 403, "not your model", 1, false},
		"no such model":   {body(404, `{"error":"model 'x' not found"}`), model.Rejected, 404, "model 'x' not found", 1, false},
		"bad request":     {body(400, `[{"error":{"code":400,"message":"too long","status":"INVALID_ARGUMENT"}}]`), model.Rejected, 400, "too long", 1, false},
		"bad in a stream": {body(400, `{"object":"error","message":"too long","code":400}`), model.Rejected, 400, "too long", 1, true},
		"no money":        {body(429, `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}`), model.Rejected, 429, "quota", 1, false},
		"rate":            {body(429, `{"error":{"message":"slow down"}}`), model.RateLimited, 429, "slow down", 4, false},
		"lock":            {body(409, `{}`), model.Unavailable, 409, "{}", 4, false},
		"late":            {body(408, ``), model.TimedOut, 408, "Request Timeout", 4, false},
		"down":            {body(500, `{"error":{"message":"The server had an error","code":"server_error"}}`, "X-Request-Id", "req_1"), model.Unavailable, 500, "The server had an error (request req_1)", 4, false},
		"down, streamed":  {body(503, `{"error":{"message":"overloaded"}}`), model.Unavailable, 503, "overloaded", 4, true},
		"proxy's page":    {html(502, "<html><body>502 Bad Gateway</body></html>"), model.Unavailable, 502, "502 Bad Gateway", 4, false},
		"page as answer":  {html(200, "<html>Sign in</html>"), model.Unavailable, 0, "is no JSON object (Content-Type: text/html): <html>", 4, false},
		"page as stream":  {html(200, "<html>Sign in</html>"), model.Unavailable, 0, "Sign in", 4, true},
		"words as stream": {body(200, "Busy, come back later.", "Content-Type", "text/plain"), model.Unavailable, 0, "Busy, come back later.", 4, true},
		"error as text":   {body(200, `{"error":{"message":"overloaded"}}`, "Content-Type", "text/plain"), model.Unavailable, 0, "overloaded", 4, true},
		"error as line":   {stream(delta("He"), "error: {\"code\":500,\"message\":\"context is full\",\"type\":\"server_error\"}\n\n"), model.Unavailable, 500, "context is full", 4, true},
		"error by object": {body(200, `{"object":"error","message":"too long","type":"BadRequestError","code":400}`), model.Rejected, 400, "too long", 1, false},
		"error in events": {stream(delta("He"), event(`{"object":"error","message":"gone","code":500}`), done), model.Unavailable, 500, "gone", 4, true},
		"stopped early":   {stream(delta("He"), event(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","error":"over capacity"}}`), done), model.Unavailable, 0, "over capacity", 4, true},
		"other words":     {body(200, `{"status":"loading","msg":"the model is loading"}`), model.Empty, 0, "the model is loading", 4, false},
		"not JSON":        {body(200, `{"choices":[{"message":{"content":"hal`), model.Unavailable, 0, "does not decode", 4, false},
		"no body":         {body(200, ``), model.Unavailable, 0, "no body", 4, false},
		"wrong types":     {body(200, `{"choices":"none"}`), model.Empty, 0, "no answer", 4, false},
		"cut whole":       {cut(body(200, `{"choices":[`)), model.Unavailable, 0, "cut", 4, false},
		"no choice":       {body(200, `{"choices":[]}`), model.Empty, 0, "said nothing", 4, false},
		"empty":           {message(`{"content":""}`, "stop"), model.Empty, 0, "said nothing", 4, false},
		"blank":           {message(`{"content":" \n"}`, "stop"), model.Empty, 0, "said nothing", 4, false},
		"empty stream":    {stream(finished("stop"), done), model.Empty, 0, "said nothing", 4, true},
		"error in 200":    {body(200, `{"error":{"message":"upstream is down","code":502}}`), model.Unavailable, 502, "upstream is down", 4, false},
		"error in a list": {body(200, `[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]`), model.Rejected, 400, "API key not valid", 1, false},
		"list":            {body(200, `[1]`, "Content-Type", "application/json"), model.Unavailable, 0, "no JSON object (Content-Type: application/json): [1]", 4, false},
		"error in stream": {stream(delta("He"), ": keep-alive\n\n", event(`{ "error": {"message":"upstream is down"}}`)), model.Unavailable, 0, "upstream is down", 4, true},
		"error, cut":      {cut(stream(delta("He"), event(`{"error":{"code":"content_filter","message":"no"}}`))), model.Refused, 0, "no", 1, true},
		"broken off":      {message(`{"content":"half"}`, "insufficient_system_resource"), model.Unavailable, 0, "broke off", 4, false},
		"refusal":         {message(`{"content":null,"refusal":"I can't help with that."}`, "stop"), model.Refused, 0, "I can't help with that.", 1, false},
		"refusal stream":  {stream(choice(`{"refusal":"I can't"}`, "null"), choice(`{"refusal":" help."}`, "null"), finished("stop"), done), model.Refused, 0, "I can't help.", 1, true},
		"filter":          {message(`{"content":""}`, "content_filter"), model.Refused, 0, "content filter", 1, false},
		"filter stream":   {stream(delta("He"), finished("content_filter"), done), model.Refused, 0, "content filter", 1, true},
		"filter as error": {body(400, `{"error":{"code":"content_filter","message":"The prompt was filtered."}}`), model.Refused, 400, "The prompt was filtered.", 1, false},
		"length":          {message(`{"content":"half"}`, "length"), model.Truncated, 0, "after 4 characters", 1, false},
		"length stream":   {stream(delta("half"), finished("length"), done), model.Truncated, 0, "after 4 characters", 1, true},
		"cut stream":      {cut(stream(delta("Hel"))), model.Unavailable, 0, "EOF", 4, true},
		"cut in a chunk":  {cut(stream(delta("Hel"), `data: {"choices":[{"del`)), model.Unavailable, 0, "unexpected EOF", 4, true},
		"more than ended": {stream(delta("Hel"), finished("stop"), delta("lo")), model.Unavailable, 0, "cut", 4, true},
		"more calls":      {cut(stream(delta("Hel"), finished("stop"), choice(`{"tool_calls":[{"id":"a","function":{"name":"now","arguments":"{}"}}]}`, "null"))), model.Unavailable, 0, "EOF", 4, true},
		"ended stream":    {stream(delta("Hel"), delta("lo")), model.Unavailable, 0, "cut", 4, true},
		"nothing at all":  {stream(), model.Unavailable, 0, "cut", 4, true},
		"broken chunk":    {stream(delta("Hel"), event(`{"choices":[{"del`), done), model.Unavailable, 0, "does not decode", 4, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, test.handler)
			c := e.client(t, func(o *openai.Options) { o.Stream = test.streamed })
			resp, err := c.Call(t.Context(), ask("Hello?"))
			var f *model.Failure
			if !errors.As(err, &f) {
				t.Fatalf("got %+v, %v", resp, err)
			}
			if f.Class != test.class || f.Status != test.status || !strings.Contains(f.Message, test.says) {
				t.Errorf("got %+v", f)
			}
			if len(f.Message) > 3000 {
				t.Errorf("message of %d bytes", len(f.Message))
			}
			if e.count() != test.calls || resp.Usage.Calls != test.calls || resp.Text != "" {
				t.Errorf("%d requests, response %+v", e.count(), resp)
			}
		})
	}
}

// An answer without an end is read up to a bound.
func TestHuge(t *testing.T) {
	for name, test := range map[string]struct {
		kind, start string
		streamed    bool
	}{
		"whole":      {"application/json", `{"choices":[{"message":{"content":"`, false},
		"a line":     {"text/event-stream", "data: ", true},
		"in a 400":   {"", `{"error":{"message":"`, false},
		"whole page": {"text/html", "<html>", true},
	} {
		t.Run(name, func(t *testing.T) {
			read := 0
			c, err := openai.New(openai.Options{MaxTries: 1, Stream: test.streamed, HTTP: &http.Client{
				Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {test.kind}}, Request: r}
					if test.kind == "" {
						resp.StatusCode = 400
					}
					resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(test.start), endless{&read}))
					return resp, nil
				}),
			}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Call(t.Context(), ask("Hello?"))
			if err == nil || len(err.Error()) > 3000 || read > 65<<20 {
				t.Errorf("got %v after %d bytes", err, read)
			}
			if strings.HasPrefix(test.kind, "application") && !strings.Contains(err.Error(), "longer than 67108864 bytes") {
				t.Errorf("got %v", err)
			}
		})
	}
}

type endless struct{ read *int }

func (e endless) Read(p []byte) (int, error) {
	copy(p, "xxxxxxxx")
	*e.read += len(p)
	return len(p), nil
}

func html(status int, text string) http.HandlerFunc {
	return body(status, text, "Content-Type", "text/html")
}

// The usage of failed tries is added to the usage of the call.
func TestUsageAddsUp(t *testing.T) {
	e := newEndpoint(t, message(`{"content":""}`, "stop"), body(500, ""), reply("Hello"))
	resp, err := e.client(t).Call(t.Context(), ask("Hello?"))
	if err != nil || resp.Usage.Calls != 3 || resp.Usage.InputTokens != 200 || resp.Usage.OutputTokens != 20 {
		t.Errorf("got %+v, %v", resp, err)
	}
}

// Answers that are not as go-openai has them, and can be read all the same.
func TestOddAnswers(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"parts":          body(200, `{"choices":[{"message":{"content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo"}]},"finish_reason":"stop"}]}`),
		"float created":  body(200, `{"created":1.5e9,"id":7,"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}`),
		"nulls":          body(200, `{"error":null,"usage":null,"choices":[{"logprobs":null,"message":{"content":"Hello","tool_calls":null,"refusal":null},"finish_reason":"stop"}]}`),
		"text/plain":     body(200, `{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}`, "Content-Type", "text/plain"),
		"leading spaces": body(200, "\n\n {\"choices\":[{\"message\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}"),
		"escapes":        body(200, `{ "choices" : [ { "m\u0065ssage" : { "content" : "H\u0065llo" , "x": [1, {"a": "]}\\\""}] } , "finish_reason" : "stop" } ] }`),
		"other choices":  body(200, `{"choices":[{"index":1,"message":{"content":"no"},"finish_reason":"length"},{"index":0,"message":{"content":"Hello"},"finish_reason":"stop"}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := newEndpoint(t, h).client(t).Call(t.Context(), ask("Hello?"))
			if err != nil || resp.Text != "Hello" {
				t.Errorf("got %+v, %v", resp, err)
			}
		})
	}
}

// go-openai rejects some of these before it sends a request.
func TestModelNamesPass(t *testing.T) {
	e := newEndpoint(t, reply("ok"))
	for _, name := range []string{"o1-", "o1-preview", "o3", "gpt-5-anything", "gpt-6-sol", "text-davinci-003", "code-davinci-002", `me/my "model":latest`, ""} {
		for _, streamed := range []bool{false, true} {
			r := ask("Hello?")
			r.Model = name
			if _, err := e.client(t, func(o *openai.Options) { o.Stream = streamed }).Call(t.Context(), r); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got := e.got(t, e.count()-1)["model"]; got != name {
				t.Errorf("sent %v, want %s", got, name)
			}
		}
	}
}

func TestKeyStaysHome(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/v1/chat/completions", status)
		})
		_, err := e.client(t).Call(t.Context(), ask("Hello?"))
		var f *model.Failure
		if !errors.As(err, &f) || f.Class != model.Rejected || !strings.Contains(f.Message, other.URL) {
			t.Errorf("%d: %v", status, err)
		}
	}
	if elsewhere.Load() != 0 {
		t.Error("the other host was asked")
	}
}

// The client follows a redirect within the origin if the redirect preserves the
// request.
func TestRedirectAtHome(t *testing.T) {
	e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") {
			reply("Hello")(w, r)
			return
		}
		http.Redirect(w, r, r.URL.Path+"/", http.StatusTemporaryRedirect)
	})
	for _, size := range []int{10, 100_000} {
		resp, err := e.client(t).Call(t.Context(), ask(strings.Repeat("x", size)))
		if err != nil || resp.Text != "Hello" || e.bodies[0] != e.bodies[1] {
			t.Errorf("got %+v, %v", resp, err)
		}
	}
}

func TestKeyIsNotShown(t *testing.T) {
	leak := strings.Repeat("sk-secret-key ", 500)
	for _, h := range []http.HandlerFunc{body(401, leak), html(200, leak), stream(event(`{"error":{"message":"` + leak + `"}}`))} {
		for _, streamed := range []bool{false, true} {
			c := newEndpoint(t, h).client(t, func(o *openai.Options) { o.Stream, o.MaxTries = streamed, 1 })
			_, err := c.Call(t.Context(), ask("Hello?"))
			if err == nil || strings.Contains(err.Error(), "sk-") || !strings.Contains(err.Error(), "[key]") {
				t.Errorf("got %v", err)
			}
		}
	}
	slashed := newEndpoint(t, body(401, `{"detail":{"msg":"not sk-a\/secret+key="}}`)).client(t, func(o *openai.Options) { o.APIKey = "sk-a/secret+key=" })
	if _, err := slashed.Call(t.Context(), ask("Hello?")); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "[key]") {
		t.Errorf("got %v", err)
	}
	for _, o := range []openai.Options{
		{APIKey: "sk-secret\nkey"},
		{BaseURL: "https://me:hunter2@host/v1"},
		{BaseURL: "ftp://me:hunter2@host/v1"},
		{BaseURL: "https://me:hunter2@host:port/v1"},
		{BaseURL: "host/v1"},
		{BaseURL: "https://host/#x"},
		{MaxTries: -1},
	} {
		if _, err := openai.New(o); err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestNoKeyNoHeader(t *testing.T) {
	e := newEndpoint(t, reply("Hello"))
	for _, streamed := range []bool{false, true} {
		c := e.client(t, func(o *openai.Options) { o.APIKey, o.Stream = "", streamed })
		if _, err := c.Call(t.Context(), ask("Hello?")); err != nil || e.heads[e.count()-1]["Authorization"] != nil {
			t.Errorf("sent %v, %v", e.heads, err)
		}
	}
}

func TestBaseURLWithQuery(t *testing.T) {
	e := newEndpoint(t, reply("Hello"))
	c := e.client(t, func(o *openai.Options) { o.BaseURL += "/?api-version=2" })
	if _, err := c.Call(t.Context(), ask("Hello?")); err != nil || e.paths[0] != "/v1/chat/completions?api-version=2" {
		t.Errorf("asked %v, %v", e.paths, err)
	}
}

func TestNoOneThere(t *testing.T) {
	e := newEndpoint(t, reply("Hello"))
	c := e.client(t, func(o *openai.Options) { o.BaseURL = "http://127.0.0.1:1/v1" })
	resp, err := c.Call(t.Context(), ask("Hello?"))
	var f *model.Failure
	if !errors.As(err, &f) || f.Class != model.Unavailable || !strings.Contains(f.Message, "127.0.0.1:1") || resp.Usage.Calls != 0 || len(e.sleeps) != 3 {
		t.Errorf("got %+v, %v, slept %v", resp, err, e.sleeps)
	}
}

// An answer in chunks, of any status, leaves its connection fit for the next.
func TestConnectionsServeAgain(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"whole":    replying,
		"streamed": stream(delta("Hello"), finished("stop"), counted, done),
		"no":       body(400, `{"error":{"message":"`+strings.Repeat("no", 50_000)+`"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, h)
			c := e.client(t, func(o *openai.Options) { o.Stream = name == "streamed" })
			for range 20 {
				_, _ = c.Call(t.Context(), ask("Hello?"))
			}
			if n := e.conns.Load(); n != 1 || e.count() != 20 {
				t.Errorf("%d connections for %d requests", n, e.count())
			}
		})
	}
}

// The client retains as many idle connections as were used concurrently.
func TestIdleConnections(t *testing.T) {
	arrived, open := make(chan bool), make(chan bool)
	e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- true
		<-open
		reply("Hello")(w, r)
	})
	c := e.client(t)
	for range 3 {
		var calls sync.WaitGroup
		for range 10 {
			calls.Go(func() { _, _ = c.Call(t.Context(), ask("Hello?")) })
		}
		for range 10 {
			<-arrived
		}
		for range 10 {
			open <- true
		}
		calls.Wait()
	}
	if n := e.conns.Load(); n != 10 {
		t.Errorf("%d connections", n)
	}
}

func TestConcurrency(t *testing.T) {
	var now atomic.Int64
	arrived, open := make(chan int64, 20), make(chan struct{})
	e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- now.Add(1)
		<-open
		now.Add(-1)
		reply("Hello")(w, r)
	})
	c := e.client(t, func(o *openai.Options) { o.Concurrency = 3 })
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			if _, err := c.Call(t.Context(), ask("Hello?")); err != nil {
				t.Error(err)
			}
		})
	}
	most := max(<-arrived, <-arrived, <-arrived)
	close(open)
	calls.Wait()
	for range 17 {
		most = max(most, <-arrived)
	}
	if most != 3 || e.conns.Load() > 3 {
		t.Errorf("%d at once, %d connections", most, e.conns.Load())
	}
}

func TestCancelled(t *testing.T) {
	cause := errors.New("the attempt is over")
	for name, start := range map[string]string{"before": "", "mid-stream": delta("Hel")} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			closed := make(chan struct{})
			e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
				if start == "" {
					cancel(cause)
				} else {
					stream(start)(w, r)
				}
				<-r.Context().Done()
				close(closed)
			})
			r := ask("Hello?")
			r.OnText = func(piece string) {
				if piece != "" {
					cancel(cause)
				}
			}
			resp, err := e.client(t).Call(ctx, r)
			if err != cause || resp.Usage.Calls != 1 {
				t.Errorf("got %+v, %v", resp, err)
			}
			<-closed
		})
	}
	t.Run("waiting for a slot", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		e := newEndpoint(t, func(_ http.ResponseWriter, r *http.Request) { cancel(cause); <-r.Context().Done() })
		c := e.client(t, func(o *openai.Options) { o.Concurrency = 1 })
		errs := make(chan error)
		for range 2 {
			go func() { _, err := c.Call(ctx, ask("Hello?")); errs <- err }()
		}
		if a, b := <-errs, <-errs; a != cause || b != cause || e.count() != 1 {
			t.Errorf("got %v, %v after %d requests", a, b, e.count())
		}
	})
}

func TestSilence(t *testing.T) {
	for name, test := range map[string]struct {
		kind, text string // "" for not even a head
		streamed   bool
	}{
		"no head":         {"", "", false},
		"no head, stream": {"", "", true},
		"half answer":     {"application/json", `{"choices":`, false},
		"no event":        {"text/event-stream", "", true},
		"mid-stream":      {"text/event-stream", delta("Hel"), true},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, err := openai.New(openai.Options{Timeout: 30 * time.Second, MaxTries: 2, Stream: test.streamed, HTTP: &http.Client{
				Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					if test.kind == "" {
						<-r.Context().Done()
						return nil, r.Context().Err()
					}
					out, in := io.Pipe()
					context.AfterFunc(r.Context(), func() { out.CloseWithError(r.Context().Err()) })
					go func() { _, _ = io.WriteString(in, test.text) }()
					return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {test.kind}}, Body: out, Request: r}, nil
				}),
			}})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			resp, err := c.Call(t.Context(), ask("Hello?"))
			var f *model.Failure
			if !errors.As(err, &f) || f.Class != model.TimedOut || resp.Usage.Calls != 2 || !strings.Contains(f.Message, "30s") || time.Since(began) > 62*time.Second {
				t.Errorf("%s: got %+v, %v after %s", name, resp, err, time.Since(began))
			}
		})
	}
}

// Public endpoints use HTTP/2.
func TestHTTP2(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		var protocol string
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			protocol = r.Proto
			if streamed {
				stream(delta("Hello"), finished("stop"), counted, done)(w, r)
			} else {
				replying(w, r)
			}
		}))
		s.EnableHTTP2 = true
		s.StartTLS()
		defer s.Close()
		c, err := openai.New(openai.Options{BaseURL: s.URL, HTTP: s.Client(), Stream: streamed, MaxTries: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{10, 100_000} {
			resp, err := c.Call(t.Context(), ask(strings.Repeat("x", size)))
			if err != nil || resp.Text == "" || protocol != "HTTP/2.0" {
				t.Errorf("got %+v, %v over %s", resp, err, protocol)
			}
		}
	}
}

func TestSchemaThatIsNone(t *testing.T) {
	e := newEndpoint(t, reply("Hello"))
	r := ask("Hello?")
	r.Schema = []byte(`{"type":`)
	_, err := e.client(t).Call(t.Context(), r)
	var f *model.Failure
	if !errors.As(err, &f) || f.Class != model.Rejected || e.count() != 0 {
		t.Errorf("got %v", err)
	}
}

// FuzzBody checks that the body contains the conversation for any text.
func FuzzBody(f *testing.F) {
	f.Add("Hello", "", "id", `{"a": 1}`)
	f.Add("<b>&\u2028\"\\ \x00\n", "x", "", "")
	f.Add(strings.Repeat("long ", 10_000), "\xff\xfe", "é", "{")
	l := make(chan []byte, 1)
	url, _ := serve(f, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		l <- text
		reply("ok")(w, r)
	})
	c, err := openai.New(openai.Options{BaseURL: url})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, a, b, id, arguments string) {
		thread := model.NewThread(model.Message{Role: model.System, Content: a}, model.Message{Role: model.User, Content: b})
		thread.Append(model.Message{Role: model.Assistant, Content: b, ToolCalls: []model.ToolCall{{ID: id, Name: a, Arguments: arguments}}},
			model.Message{Role: model.ToolReply, Content: a, ToolCallID: id})
		for _, r := range []model.Request{{Messages: thread.Messages(), Thread: thread}, {Messages: thread.Messages()}} {
			if _, err := c.Call(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if err := sameMessages(<-l, r.Messages); err != nil {
				t.Error(err)
			}
		}
	})
}

func sameMessages(sent []byte, want []model.Message) error {
	var got struct{ Messages []model.Message }
	if err := json.Unmarshal(sent, &got); err != nil {
		return fmt.Errorf("%w: %s", err, sent)
	}
	var plain []model.Message // as in encoding/json, with invalid UTF-8 replaced
	text, err := json.Marshal(want)
	if err == nil {
		err = json.Unmarshal(text, &plain)
	}
	if err == nil {
		err = settle(got.Messages, plain)
	}
	if err == nil && !reflect.DeepEqual(got.Messages, plain) {
		err = fmt.Errorf("sent %+v, want %+v", got.Messages, plain)
	}
	return err
}

// settle checks the arguments of calls that were sent, which are always objects, and
// then makes them those of the messages if these are no objects.
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
