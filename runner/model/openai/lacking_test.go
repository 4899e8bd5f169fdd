package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// strict calls no for a body with one of the words, and answers other requests.
func strict(no http.HandlerFunc, words ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(text))
		for _, word := range words {
			if strings.Contains(string(text), word) {
				no(w, r)
				return
			}
		}
		forms(lastText, lastPart)(w, r)
	}
}

// If an endpoint rejects a schema without details or with 500, the client stops
// sending the schema. It stores that for the model and reports it.
func TestFormatRefusedVaguely(t *testing.T) {
	for name, no := range map[string]http.HandlerFunc{
		"Gemini":     body(400, `[{"error":{"code":400,"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}]`),
		"no words":   body(422, ``),
		"500":        body(500, `{"error":{"message":"Internal server error"}}`), // which may be temporary, so the client retries it once
		"501":        body(501, `not implemented`),
		"500 in 200": body(200, `{"error":{"code":500,"message":"Internal error"}}`),
	} {
		for _, streamed := range []bool{false, true} {
			e := newEndpoint(t, strict(no, formatWord))
			c := e.client(t, func(o *openai.Options) { o.Stream = streamed })
			in := 1
			if strings.HasPrefix(name, "500") {
				in = 2
			}
			for n := range 3 {
				resp, err := c.Call(t.Context(), withSchema(`{}`))
				if err != nil || resp.Text != "Done." || !reflect.DeepEqual(resp.Without, []string{"response_format"}) || e.count() != n+1+in {
					t.Errorf("%s: got %+v, %v after %d", name, resp, err, e.count())
				}
			}
			if len(e.sleeps) != in-1 {
				t.Errorf("%s: slept %v", name, e.sleeps)
			}
			r := withSchema(`{}`)
			r.Model = "another"
			if _, err := c.Call(t.Context(), r); err != nil || !strings.Contains(e.bodies[3+in], formatWord) {
				t.Errorf("%s: another model is asked without: %v", name, err)
			}
			if resp, err := c.Call(t.Context(), ask("Hello?")); err != nil || resp.Without != nil {
				t.Errorf("%s: without a schema it reports %v, %v", name, resp.Without, err)
			}
		}
	}
}

const formatWord = `"response_format"`

// A request that also fails without the format does not change its support. A
// format that was accepted once is not suspected later.
func TestFormatIsSuspectedOnce(t *testing.T) {
	e := newEndpoint(t, body(500, ``))
	if _, err := e.client(t).Call(t.Context(), withSchema(`{}`)); err == nil || e.count() != model.Tries+1 {
		t.Errorf("%v after %d", err, e.count())
	}
	for n, sent := range []bool{true, true, false, true, true} {
		if strings.Contains(e.bodies[n], formatWord) != sent {
			t.Errorf("request %d: %s", n, e.bodies[n])
		}
	}
	e = newEndpoint(t, reply("{}"), body(500, ``), reply("{}"), body(400, `no`))
	c := e.client(t)
	for range 2 {
		if resp, err := c.Call(t.Context(), withSchema(`{}`)); err != nil || resp.Without != nil {
			t.Errorf("got %+v, %v", resp, err)
		}
	}
	if _, err := c.Call(t.Context(), withSchema(`{}`)); err == nil || e.count() != 4 {
		t.Errorf("%v after %d", err, e.count())
	}
	// Another schema may be rejected. Then the client stops sending only that
	// schema.
	other := `{"title":"odd"}`
	e = newEndpoint(t, strict(body(400, `no`), `"odd"`))
	c = e.client(t)
	for _, schema := range []string{`{}`, other, other, `{}`} {
		resp, err := c.Call(t.Context(), withSchema(schema))
		if err != nil || (resp.Without != nil) != (schema == other) {
			t.Errorf("%s: %+v, %v", schema, resp, err)
		}
	}
	if e.count() != 5 || !strings.Contains(e.bodies[4], formatWord) {
		t.Errorf("%d requests", e.count())
	}
	for _, status := range []int{401, 403, 404, 413, 429, 503} {
		e = newEndpoint(t, body(status, `no`))
		_, _ = e.client(t, func(o *openai.Options) { o.MaxTries = 1 }).Call(t.Context(), withSchema(`{}`))
		if e.count() != 1 {
			t.Errorf("%d: asked %d times", status, e.count())
		}
	}
}

// The limit of the output goes under the name that the endpoint takes.
func TestLimitsName(t *testing.T) {
	no := body(400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`)
	e := newEndpoint(t, strict(no, `"max_tokens"`))
	c := e.client(t)
	r := ask("Hello?")
	r.Params = &model.Params{MaxOutputTokens: 800}
	for n := range 2 {
		resp, err := c.Call(t.Context(), r)
		if err != nil || resp.Without != nil || e.count() != n+2 || e.got(t, n+1)["max_completion_tokens"] != 800.0 {
			t.Errorf("got %+v, %v: %v", resp, err, e.bodies)
		}
	}
}

// A parameter that is refused is an error with the endpoint's words; nothing is
// left out.
func TestParamsAreNotDropped(t *testing.T) {
	cold := 0.0
	seed := int64(1)
	for word, test := range map[string]struct {
		p       *model.Params
		status  int
		message string
	}{
		"temperature":      {&model.Params{Temperature: &cold}, 400, "Unsupported value: 'temperature' does not support 0 with this model."},
		"reasoning_effort": {&model.Params{Effort: "low"}, 400, "property 'reasoning_effort' is unsupported"},
		"seed":             {&model.Params{Seed: &seed}, 422, `[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]`},
		"service_tier":     {&model.Params{Extra: `{"service_tier":"flex"}`}, 400, "Unknown name \"service_tier\": Cannot find field."},
	} {
		e := newEndpoint(t, body(test.status, `{"error":{"message":`+quoted(test.message)+`}}`))
		r := ask("Hello?")
		r.Params = test.p
		_, err := e.client(t).Call(t.Context(), r)
		var f *model.Failure
		if !errors.As(err, &f) || f.Class != model.Rejected || !strings.Contains(f.Message, test.message) || e.count() != 1 || !strings.Contains(e.bodies[0], word) {
			t.Errorf("%s: %v after %d: %s", word, err, e.count(), e.bodies)
		}
	}
	vague := newEndpoint(t, body(400, `{"error":{"message":"Bad request."}}`))
	for says, p := range map[string]*model.Params{
		"Bad request.; the request asks for seed, stop, temperature, which the endpoint may not take": {Temperature: &cold, Seed: &seed, Stop: []string{"END"}},
		"Bad request.; the request asks for effort, service_tier, which the endpoint may not take":    {Effort: "low", NoFormat: true, Extra: `{"service_tier":"flex"}`},
		"Bad request.": {NoFormat: true},
	} {
		r := ask("Hello?")
		r.Params = p
		if _, err := vague.client(t).Call(t.Context(), r); err == nil || !strings.HasSuffix(err.Error(), says) {
			t.Errorf("%v", err)
		}
	}
	e := newEndpoint(t, forms(lastText, lastPart))
	r := ask("Hello?")
	r.Params = &model.Params{Seed: &seed}
	_, err := opened(t, e, "anthropic", false).Call(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "anthropic: the protocol has no seed") || e.count() != 0 {
		t.Errorf("%v", err)
	}
}

// The members of the extra are merged into the request, and no member is lost.
func TestExtraIsMerged(t *testing.T) {
	e := newEndpoint(t, forms(lastText, lastPart))
	r := withSchema(`{}`)
	r.Run = "run"
	r.Params = &model.Params{MaxOutputTokens: 5, Extra: `{"response_format":{"type":"json_object"},"stream_options":{"include_usage":false},"prompt_cache_key":"mine","tools":[{"type":"web"}],"max_completion_tokens":7}`}
	if _, err := opened(t, e, "openai", true).Call(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{`"response_format"`, `"stream_options"`, `"prompt_cache_key"`, `"tools"`, `"max_completion_tokens"`, `"stream"`} {
		if strings.Count(e.bodies[0], name) != 1 {
			t.Errorf("%s in %s", name, e.bodies[0])
		}
	}
	sent := e.got(t, 0)
	if sent["prompt_cache_key"] != "mine" || sent["max_completion_tokens"] != 7.0 || sent["stream"] != true {
		t.Errorf("sent %v", sent)
	}
	r.Tools = []model.Tool{{Name: "now"}}
	if _, err := opened(t, e, "openai", true).Call(t.Context(), r); err == nil || !strings.Contains(err.Error(), "tools") || e.count() != 1 {
		t.Errorf("%v", err)
	}
	r.Params = &model.Params{NoFormat: true}
	resp, err := opened(t, e, "openai", true).Call(t.Context(), r)
	if err != nil || resp.Without != nil || strings.Contains(e.bodies[1], formatWord) {
		t.Errorf("switched off, it sent %s, %v", e.bodies[1], err)
	}
}

// If an endpoint rejects the extras of its own answers, the client repeats the
// request without them and reports that. An endpoint that requires them is not
// called again.
func TestExtrasRefused(t *testing.T) {
	groq := body(400, `{"error":{"message":"'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning' is unsupported)]","type":"invalid_request_error"}}`)
	answer := model.Response{Provider: "groq", Extra: `{"reasoning":"Hm."}`, ToolCalls: []model.ToolCall{{ID: "a", Name: "now", Arguments: "{}"}}}.Message()
	r := model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "Go."}, answer, {Role: model.ToolReply, ToolCallID: "a"}}}
	e := newEndpoint(t, strict(groq, `"reasoning"`))
	c := opened(t, e, "groq", false)
	for n := range 2 {
		resp, err := c.Call(t.Context(), r)
		if err != nil || !reflect.DeepEqual(resp.Without, []string{"reasoning"}) || e.count() != n+2 {
			t.Errorf("got %+v, %v after %d", resp, err, e.count())
		}
	}
	for _, message := range []string{"Missing `reasoning` field in the assistant message", "The reasoning in the thinking mode must be passed back to the API.", "reasoning_effort is no word"} {
		e := newEndpoint(t, body(400, `{"error":{"message":`+quoted(message)+`}}`))
		if _, err := opened(t, e, "groq", false).Call(t.Context(), r); err == nil || e.count() != 1 {
			t.Errorf("%s: %v after %d", message, err, e.count())
		}
	}
}

// If an endpoint rejects the cache key of a prompt, the client repeats the
// request without it.
func TestCacheKeyRefused(t *testing.T) {
	e := newEndpoint(t, strict(body(400, `{"error":{"message":"Unrecognized request argument supplied: prompt_cache_key"}}`), "prompt_cache_key"))
	c := opened(t, e, "azure", true)
	r := ask("Hello?")
	r.Run = "run"
	for n := range 2 {
		if resp, err := c.Call(t.Context(), r); err != nil || e.count() != n+2 || resp.Without != nil {
			t.Errorf("got %+v, %v after %d", resp, err, e.count())
		}
	}
}

// A later request repeats the earlier messages byte for byte, because endpoints
// use them as the cache key.
func TestPrefixStays(t *testing.T) {
	call := `{"role":"assistant","content":null,"reasoning_content":"Hm <b> \u00e9","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"now","arguments":"{\"z\": \"<UTC>\"}"},"extra_content":{"google":{"thought_signature":"C+/="}}}]}`
	whole := `{"choices":[{"index":0,"message":` + call + `,"finish_reason":"tool_calls"}]}`
	part := `{"choices":[{"index":0,"delta":` + call + `,"finish_reason":"tool_calls"}]}`
	for _, streamed := range []bool{false, true} {
		turn := 0
		e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
			switch turn++; turn % 5 {
			case 1:
				body(500, `{"error":{"message":"later"}}`)(w, r)
			case 2, 4:
				forms(whole, part)(w, r)
			case 3:
				cut(stream(delta("ha")))(w, r)
			default:
				forms(lastText, lastPart)(w, r)
			}
		})
		c := e.client(t, func(o *openai.Options) { o.Stream = streamed })
		thread := model.NewThread(model.Message{Role: model.System, Content: "Be <kind> & “short”."}, model.Message{Role: model.User, Content: "Go."})
		r := model.Request{Model: "m", Run: "run", Tools: []model.Tool{{Name: "now", Parameters: map[string]any{"type": "object", "b": 1, "a": 2}}}, Schema: json.RawMessage(`{"type":"object"}`)}
		for range 12 {
			r.Messages, r.Thread = thread.Messages(), thread
			resp, err := c.Call(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			thread.Append(resp.Message())
			for _, call := range resp.ToolCalls {
				thread.Append(model.Message{Role: model.ToolReply, Content: "noon", ToolCallID: call.ID})
			}
			if len(resp.ToolCalls) == 0 {
				thread.Append(model.Message{Role: model.User, Content: "That is not <it>."})
			}
		}
		var before string
		for n, sent := range e.bodies {
			if !strings.HasPrefix(sent, before) || !strings.HasSuffix(sent, "}]}") {
				t.Fatalf("request %d begins otherwise:\n%s\nnot\n%s", n, sent, before)
			}
			before = strings.TrimSuffix(sent, "]}")
		}
		// The same holds without the thread.
		r.Thread = nil
		if _, err := c.Call(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		last := strings.TrimSuffix(e.bodies[len(e.bodies)-1], "]}")
		if !strings.HasPrefix(before, last) && !strings.HasPrefix(last, before) {
			t.Errorf("encoded anew it is %s", last)
		}
	}
}
