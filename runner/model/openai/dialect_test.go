package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// redirected sends what goes to any host to an endpoint of ours, over a real
// socket.
func redirected(e *endpoint) *http.Client {
	home, _ := url.Parse(e.url)
	return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.URL.Scheme, r.URL.Host = home.Scheme, home.Host
		return http.DefaultTransport.RoundTrip(r)
	})}
}

// opened is the client of a built-in provider whose doors lead to e.
func opened(t *testing.T, e *endpoint, name string, streamed bool) *openai.Client {
	t.Helper()
	p, ok := model.Builtin(name)
	if !ok {
		t.Fatalf("no provider %s", name)
	}
	getenv := func(variable string) string {
		return map[string]string{p.KeyEnv: "secret-of-" + name, "AZURE_OPENAI_ENDPOINT": "https://house.openai.azure.com/"}[variable]
	}
	c, err := openai.Open(p, getenv, openai.Options{HTTP: redirected(e), Stream: streamed, MaxTries: 1})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// forms returns a whole answer, or the chunks of a streamed answer.
func forms(whole string, chunks ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Stream bool }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		if !asked.Stream {
			body(200, whole)(w, r)
			return
		}
		var events []string
		for _, c := range chunks {
			events = append(events, event(c))
		}
		stream(append(events, done)...)(w, r)
	}
}

const (
	usageOf  = `"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}`
	lastText = `{"id":"2","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Done."},"finish_reason":"stop"}],` + usageOf + `}`
	lastPart = `{"id":"2","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Done."},"finish_reason":"stop"}],` + usageOf + `}`
)

// The extra members of an answer go back unchanged, with and without streaming.
// They go only to the provider that sent them.
func TestExtrasGoBack(t *testing.T) {
	call := `"id":"a23456789","type":"function","function":{"name":"now","arguments":"{}"}`
	deepseek := `{"role":"assistant","content":"","reasoning_content":"Let me <think> \"twice\"\n…","tool_calls":[{"index":0,` + call + `}]}`
	gemini := `{"role":"assistant","tool_calls":[{"extra_content":{"google":{"thought_signature":"Cs8B<A>+/="}},` + call + `},{"id":"b","type":"function","function":{"name":"now","arguments":"{}"}}]}`
	router := `{"role":"assistant","content":null,"reasoning":"Hm. So.","reasoning_details":[{"type":"reasoning.text","text":"Hm. So.","signature":"sig","format":"anthropic-claude-v1","index":0},{"type":"reasoning.encrypted","data":"abc","index":1}],"tool_calls":[{` + call + `}]}`
	mistral := `{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"I look."}],"tool_calls":[{` + call + `}]}`
	for name, test := range map[string]struct {
		whole  string   // the message
		deltas []string // the same in pieces
		text   string
		back   string // members of the message when it goes back
	}{
		"deepseek": {deepseek, []string{
			`{"role":"assistant","content":null,"reasoning_content":""}`, `{"reasoning_content":"Let me <think> "}`, `{"reasoning_content":"\"twice\"\n…"}`,
			`{"content":"","tool_calls":[{"index":0,` + call + `}]}`,
		}, "", `{"reasoning_content":"Let me <think> \"twice\"\n…","content":null,"tool_calls":[{` + call + `}]}`},
		"gemini": {gemini, []string{
			`{"role":"assistant","tool_calls":[{"index":0,"extra_content":{"google":{"thought_signature":"Cs8B<A>+/="}},` + call + `}]}`,
			`{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"now","arguments":"{}"}}]}`, // all have the same number
		}, "", `{"content":null,"tool_calls":[{` + call + `,"extra_content":{"google":{"thought_signature":"Cs8B<A>+/="}}},{"id":"b","type":"function","function":{"name":"now","arguments":"{}"}}]}`},
		"openrouter": {router, []string{
			`{"role":"assistant","content":"","reasoning":"Hm. ","reasoning_details":[{"type":"reasoning.text","text":"Hm. ","format":"anthropic-claude-v1","index":0}]}`,
			`{"content":"","reasoning":"So.","reasoning_details":[{"type":"reasoning.text","text":"So.","format":"anthropic-claude-v1","index":0}]}`,
			`{"reasoning_details":[{"type":"reasoning.text","signature":"sig","format":"anthropic-claude-v1","index":0}]}`,
			`{"reasoning_details":[{"type":"reasoning.encrypted","data":"abc","index":1}]}`,
			`{"tool_calls":[{"index":0,` + call + `}]}`,
		}, "", `{"content":null,"reasoning":"Hm. So.","reasoning_details":[{"type":"reasoning.text","text":"Hm. So.","signature":"sig","format":"anthropic-claude-v1","index":0},{"type":"reasoning.encrypted","data":"abc","index":1}],"tool_calls":[{` + call + `}]}`},
		"mistral": {mistral, []string{
			`{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]}`, `{"content":"I "}`, `{"content":"look."}`, `{"tool_calls":[{"index":0,` + call + `}]}`,
		}, "I look.", `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"I look."}],"tool_calls":[{` + call + `}]}`},
		"vllm": {`{"role":"assistant","content":"Hm","annotations":[],"audio":null,"tool_calls":[{` + call + `}],"stop_token_ids":[1,2.50,1e3]}`, []string{
			`{"content":"Hm","stop_token_ids":[1,2.50],"tool_calls":[{"index":0,` + call + `}]}`, `{"stop_token_ids":[1e3]}`,
		}, "Hm", `{"content":"Hm","tool_calls":[{` + call + `}],"stop_token_ids":[1,2.50,1e3]}`},
	} {
		for _, streamed := range []bool{false, true} {
			t.Run(fmt.Sprint(name, streamed), func(t *testing.T) {
				var chunks []string
				for _, d := range test.deltas {
					chunks = append(chunks, `{"id":"1","model":"m-1","choices":[{"index":0,"delta":`+d+`,"finish_reason":null}]}`)
				}
				chunks = append(chunks, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],`+usageOf+`}`)
				first := forms(`{"id":"1","model":"m-1","choices":[{"index":0,"message":`+test.whole+`,"finish_reason":"tool_calls"}],`+usageOf+`}`, chunks...)
				e := newEndpoint(t, first, forms(lastText, lastPart))
				c := opened(t, e, name, streamed)
				thread := model.NewThread(model.Message{Role: model.User, Content: "Go."})
				resp, err := c.Call(t.Context(), model.Request{Model: "m", Messages: thread.Messages(), Thread: thread})
				if err != nil || resp.Text != test.text || resp.Provider != name {
					t.Fatalf("got %+v, %v", resp, err)
				}
				// As the journal stores it.
				raw, _ := json.Marshal(resp)
				var stored model.Response
				if err := json.Unmarshal(raw, &stored); err != nil || !reflect.DeepEqual(stored, resp) {
					t.Errorf("stored %+v\nof %+v, %v", stored, resp, err)
				}
				thread.Append(stored.Message(), model.Message{Role: model.ToolReply, Content: "noon", ToolCallID: "a23456789"})
				if resp, err = c.Call(t.Context(), model.Request{Model: "m", Messages: thread.Messages(), Thread: thread}); err != nil || resp.Text != "Done." {
					t.Fatalf("got %+v, %v", resp, err)
				}
				back := e.got(t, 1)["messages"].([]any)[1]
				want := tree(t, test.back)
				want["role"] = "assistant"
				if !reflect.DeepEqual(back, any(want)) {
					t.Errorf("went back %v\nwant %v", back, want)
				}
				// Another provider does not receive it.
				other := newEndpoint(t, forms(lastText, lastPart))
				if _, err := opened(t, other, "groq", streamed).Call(t.Context(), model.Request{Model: "m", Messages: thread.Messages(), Thread: thread}); err != nil {
					t.Fatal(err)
				}
				for _, word := range []string{"reasoning", "signature", "think", "stop_token_ids", "provider", "extra"} {
					if strings.Contains(other.bodies[0], word) {
						t.Errorf("%s went to another: %s", word, other.bodies[0])
					}
				}
			})
		}
	}
}

func tree(t *testing.T, text string) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// Gemini wants a signature at each call of a history, also of another's.
func TestForeignCalls(t *testing.T) {
	e := newEndpoint(t, forms(lastText, lastPart))
	answer := model.Response{Provider: "openai", ToolCalls: []model.ToolCall{{ID: "a", Name: "now", Arguments: "{}"}}}.Message()
	own := model.Response{Provider: "gemini", ToolCalls: []model.ToolCall{{ID: "b", Name: "now", Arguments: "{}"}}}.Message()
	_, err := opened(t, e, "gemini", false).Call(t.Context(), model.Request{Model: "m", Messages: []model.Message{
		{Role: model.User, Content: "Go."}, answer, {Role: model.ToolReply, ToolCallID: "a"}, own, {Role: model.ToolReply, ToolCallID: "b"},
	}})
	if err != nil || strings.Count(e.bodies[0], "skip_thought_signature_validator") != 1 || !strings.Contains(e.bodies[0], `"id":"a"`) {
		t.Errorf("sent %s, %v", e.bodies, err)
	}
}

// Mistral takes ids of nine letters and digits alone, also another's.
func TestCallIDs(t *testing.T) {
	call := func(provider, id string) model.Message {
		return model.Response{Provider: provider, ToolCalls: []model.ToolCall{{ID: id, Name: "now", Arguments: "{}"}}}.Message()
	}
	for id, unchanged := range map[string]bool{"a1B2c3D4e": true, "call_9a8b": false, "toolu_01VpEm654HvfMoRcrE3Hgdc6": false, "a1B2c3D4": false} {
		e := newEndpoint(t, forms(lastText, lastPart))
		_, err := opened(t, e, "mistral", false).Call(t.Context(), model.Request{Model: "m", Messages: []model.Message{
			{Role: model.User, Content: "Go."}, call("openai", id), {Role: model.ToolReply, ToolCallID: id}, call("mistral", "0123456AZ"), {Role: model.ToolReply, ToolCallID: "0123456AZ"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		var sent struct{ Messages []model.Message }
		if err := json.Unmarshal([]byte(e.bodies[0]), &sent); err != nil {
			t.Fatal(err)
		}
		got := sent.Messages[1].ToolCalls[0].ID
		if len(got) != 9 || strings.Contains(got, "_") || (got == id) != unchanged || sent.Messages[2].ToolCallID != got || sent.Messages[3].ToolCalls[0].ID != "0123456AZ" {
			t.Errorf("%s: sent %s", id, e.bodies[0])
		}
	}
}

// Each provider gets the requests at its own address, with its key in its header.
func TestProviderRequests(t *testing.T) {
	run := model.Params{MaxOutputTokens: 800}
	for _, p := range model.Providers() {
		if p.API != "" {
			continue
		}
		for _, streamed := range []bool{false, true} {
			e := newEndpoint(t, forms(lastText, lastPart))
			resp, err := opened(t, e, p.Name, streamed).Call(t.Context(), model.Request{
				Model: "maker/model:tag", Run: "my secret run", Params: &run, Schema: json.RawMessage(`{"type":"object"}`),
				Messages: []model.Message{{Role: model.User, Content: "Go."}},
			})
			if err != nil || resp.Text != "Done." || resp.Provider != p.Name {
				t.Fatalf("%s: %+v, %v", p.Name, resp, err)
			}
			sent, head := e.got(t, 0), e.heads[0]
			base := p.BaseURL
			if p.Name == "azure" {
				base = "https://house.openai.azure.com/openai/v1"
				if head.Get("Api-Key") != "secret-of-azure" || head.Get("Authorization") != "" {
					t.Errorf("azure: %v", head)
				}
			} else if head.Get("Authorization") != "Bearer secret-of-"+p.Name || head.Get("Api-Key") != "" {
				t.Errorf("%s: %v", p.Name, head)
			}
			u, _ := url.Parse(base)
			if e.paths[0] != u.Path+"/chat/completions" || resp.Server != u.Host {
				t.Errorf("%s: asked %s at %s", p.Name, e.paths[0], resp.Server)
			}
			limit := map[string]string{"openai": "max_completion_tokens", "azure": "max_completion_tokens", "groq": "max_completion_tokens", "xai": "max_completion_tokens"}[p.Name]
			if limit == "" {
				limit = "max_tokens"
			}
			if sent[limit] != 800.0 || sent["max_tokens"] != nil && sent["max_completion_tokens"] != nil || sent["model"] != "maker/model:tag" {
				t.Errorf("%s: sent %v", p.Name, sent)
			}
			key, _ := sent["prompt_cache_key"].(string)
			if (key != "") != (p.Name == "openai" || p.Name == "azure") || len(key) > 64 || strings.Contains(key, "secret") {
				t.Errorf("%s: caches under %q", p.Name, key)
			}
			if id := head.Get("X-Grok-Conv-Id"); (id != "") != (p.Name == "xai") || strings.Contains(id, "secret") {
				t.Errorf("%s: caches under %q", p.Name, id)
			}
			if sent["response_format"] == nil || (len(resp.Without) == 1) != (p.Format != "") {
				t.Errorf("%s: sent %v, reported %v", p.Name, sent, resp.Without)
			}
		}
	}
}

// OpenRouter reports the cost of an answer, and holds the connection open with
// comments.
func TestOpenRouterCosts(t *testing.T) {
	const usage = `"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110,"cost":0.0125,"cost_details":{"upstream_inference_cost":null},"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":4}}`
	e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(text), `"stream":true`) {
			body(200, "\n         \n"+strings.Replace(lastText, usageOf, usage, 1))(w, r)
			return
		}
		stream(": OPENROUTER PROCESSING\n\n", ": OPENROUTER PROCESSING\n\n", delta("Done."), finished("stop"), event(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],`+usage+`}`), done)(w, r)
	})
	for _, streamed := range []bool{false, true} {
		c := opened(t, e, "openrouter", streamed)
		r := ask("Hello?") // its model has a price in our table
		resp, err := c.Call(t.Context(), r)
		want := model.Usage{Calls: 1, InputTokens: 100, OutputTokens: 10, Cached: 64, Reasoning: 4, CostUSD: 0.0125}
		if err != nil || resp.Usage != want || !c.Priced("any/model") {
			t.Errorf("got %+v, %v", resp.Usage, err)
		}
	}
}

// TestArgumentsGoBackAsObject checks the arguments of earlier calls as endpoints get
// them.
func TestArgumentsGoBackAsObject(t *testing.T) {
	for arguments, want := range map[string]string{
		"": `{}`, " \n": `{}`, `{"a": 1}`: `{"a": 1}`, ` {} `: ` {} `,
		`{"a":`: `{"invalid_arguments":"{\"a\":"}`, `[1]`: `{"invalid_arguments":"[1]"}`, "null": `{"invalid_arguments":"null"}`,
		"say <hi>\x00": `{"invalid_arguments":"say <hi>\u0000"}`,
	} {
		e := newEndpoint(t, forms(lastText, lastPart))
		answer := model.Response{Provider: "openai", ToolCalls: []model.ToolCall{{ID: "a", Name: "now", Arguments: arguments}}}.Message()
		messages := []model.Message{{Role: model.User, Content: "Go."}, answer, {Role: model.ToolReply, ToolCallID: "a"}}
		if _, err := e.client(t).Call(t.Context(), model.Request{Model: "m", Messages: messages}); err != nil {
			t.Fatal(err)
		}
		var sent struct{ Messages []model.Message }
		if err := json.Unmarshal([]byte(e.bodies[0]), &sent); err != nil {
			t.Fatal(err)
		}
		if got := sent.Messages[1].ToolCalls[0].Arguments; got != want {
			t.Errorf("%q went back as %s, want %s", arguments, got, want)
		}
	}
}

// TestByteOrderMark reads an answer after a mark of its encoding.
func TestByteOrderMark(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"whole":    body(200, "\ufeff"+lastText),
		"streamed": stream("\ufeff"+event(lastPart), done),
	} {
		for _, streamed := range []bool{false, true} {
			resp, err := opened(t, newEndpoint(t, h), "openai", streamed).Call(t.Context(), ask("Hello?"))
			if err != nil || resp.Text != "Done." {
				t.Errorf("%s: got %+v, %v", name, resp, err)
			}
		}
	}
}
