package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// If the user can fix the problem, the failure contains the address and the
// setting.
func TestAdvice(t *testing.T) {
	house := model.Provider{Name: "house", KeyEnv: "HOUSE_KEY"}
	local, _ := model.Builtin("ollama")
	for name, test := range map[string]struct {
		provider model.Provider
		key      string
		handler  http.HandlerFunc // nil for an unreachable endpoint
		says     []string
	}{
		"unreachable":      {local, "", nil, []string{"http://127.0.0.1:1/v1/chat/completions", "is it running", "OLLAMA_BASE_URL", "refused"}},
		"unreachable, own": {house, "", nil, []string{"http://127.0.0.1:1/v1/chat/completions", "base URL of house"}},
		"no key":           {house, "", body(401, `{"error":"who are you?"}`), []string{"/v1/chat/completions", "requires a key", "set HOUSE_KEY", "who are you?"}},
		"wrong key":        {house, "secret-key", body(401, `{"error":{"message":"Incorrect API key provided: secret-key"}}`), []string{"/v1/chat/completions", "set HOUSE_KEY", "Incorrect API key provided: [key]"}},
		"404":              {local, "", body(404, `{"error":{"message":"model \"llama9\" not found, try pulling it first"}}`), []string{"/v1/chat/completions", "gpt-5-mini", "OLLAMA_BASE_URL", "try pulling"}},
		"404, a page":      {local, "", html(404, "404 page not found"), []string{"/v1/chat/completions", "OLLAMA_BASE_URL", "404 page not found"}},
		"elsewhere": {local, "", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://else.where/", http.StatusMovedPermanently)
		}, []string{"/v1/chat/completions", "https://else.where/", "OLLAMA_BASE_URL"}},
	} {
		for _, streamed := range []bool{false, true} {
			o := openai.Options{Provider: test.provider, APIKey: test.key, BaseURL: "http://127.0.0.1:1/v1?key=in-the-query", MaxTries: 1, Stream: streamed}
			if test.handler != nil {
				o.BaseURL = newEndpoint(t, test.handler).url + "?key=in-the-query"
			}
			c, err := openai.New(o)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Call(t.Context(), ask("Hello?"))
			var f *model.Failure
			if !errors.As(err, &f) {
				t.Fatalf("%s: %v", name, err)
			}
			for _, says := range test.says {
				if !strings.Contains(f.Message, says) || strings.Contains(f.Message, "in-the-query") {
					t.Errorf("%s: %q is not in %s", name, says, f.Message)
				}
			}
		}
	}
}

// A key that is no secret is not cut out of words.
func TestShortKeys(t *testing.T) {
	for key, shown := range map[string]bool{"ollama": true, "x": true, "1234567": true, "12345678": false} {
		e := newEndpoint(t, body(400, `{"error":{"message":"the ollama 1234567 server has 12345678 x"}}`))
		_, err := e.client(t, func(o *openai.Options) { o.APIKey = key }).Call(t.Context(), ask("Hello?"))
		if err == nil || strings.Contains(err.Error(), key) != shown || strings.Contains(err.Error(), "[key]") == shown {
			t.Errorf("%s: %v", key, err)
		}
	}
	e := newEndpoint(t, body(400, `{"error":{"message":"team platform-team, token tok-12345678, auth abcdefghij"}}`))
	c := e.client(t, func(o *openai.Options) {
		o.Provider = model.Provider{Name: "house", Headers: map[string]string{"X-Team": "platform-team", "X-Token": "tok-12345678", "Authorization": "Bearer abcdefghij"}}
	})
	_, err := c.Call(t.Context(), ask("Hello?"))
	if err == nil || !strings.Contains(err.Error(), "team platform-team, token [key], auth [key]") {
		t.Errorf("got %v", err)
	}
	if h := e.heads[0]; h.Get("X-Team") != "platform-team" || h.Get("X-Token") != "tok-12345678" || h.Get("Authorization") != "Bearer abcdefghij" {
		t.Errorf("sent %v", h)
	}
}

func TestOpen(t *testing.T) {
	env := map[string]string{"HOUSE_KEY": "sk-house-key", "OPENAI_BASE_URL": "localhost:8000/v1", "AZURE_OPENAI_ENDPOINT": "house.openai.azure.com", "AZURE_OPENAI_API_KEY": "x",
		"VLLM_BASE_URL": "127.0.0.1:8000/v1", "LMSTUDIO_BASE_URL": "me:secret@127.0.0.1:1234"}
	getenv := func(name string) string { return env[name] }
	for name, says := range map[string]string{
		"openai":    "OPENAI_BASE_URL: base url localhost:8000/v1: want http://",
		"vllm":      "VLLM_BASE_URL: base url 127.0.0.1:8000/v1: want http://",
		"lmstudio":  "LMSTUDIO_BASE_URL: base url me:xxxxx@127.0.0.1:1234: want http://",
		"azure":     "AZURE_OPENAI_ENDPOINT: base url house.openai.azure.com",
		"anthropic": "ANTHROPIC_API_KEY is not set",
		"mistral":   "MISTRAL_API_KEY is not set",
	} {
		p, _ := model.Builtin(name)
		if _, err := openai.Open(p, getenv, openai.Options{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := newEndpoint(t, reply("Hello"))
	cached := 0.5
	p := model.Provider{Name: "house", BaseURL: e.url, KeyEnv: "HOUSE_KEY", Headers: map[string]string{"X-Team": "a"}, Prices: model.Prices{"big": {Input: 1, Cached: &cached, Output: 4}}}
	c, err := openai.Open(p, getenv, openai.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := ask("Hello?")
	r.Model = "big"
	resp, err := c.Call(t.Context(), r)
	if err != nil || resp.Provider != "house" || resp.Usage.CostUSD != (100*1+10*4)/1e6 || !c.Priced("big") || c.Priced("small") || e.heads[0].Get("Authorization") != "Bearer sk-house-key" {
		t.Errorf("got %+v, %v", resp, err)
	}
	for _, headers := range []map[string]string{{"X Team": "a"}, {"": "a"}, {"X-Team": "a\nX-Key: b"}, {"X:": "a"}} {
		p.Headers = headers
		if _, err := openai.Open(p, getenv, openai.Options{}); err == nil || strings.Contains(err.Error(), "X-Key: b") {
			t.Errorf("%v: %v", headers, err)
		}
	}
	p.Headers, p.KeyEnv = nil, "MISSING"
	if _, err := openai.Open(p, getenv, openai.Options{}); err == nil || !strings.Contains(err.Error(), "MISSING is not set: house needs a key") {
		t.Errorf("%v", err)
	}
}

// A run may call several providers. Each provider has its own client.
func TestRouterCall(t *testing.T) {
	house, other := newEndpoint(t, reply("I am the house.")), newEndpoint(t, reply("I am the other."))
	env := map[string]string{"HOUSE_KEY": "sk-of-house", "OTHER_KEY": "sk-of-other", "OPENAI_API_KEY": "sk-of-openai"}
	d := openai.NewRouter(func(name string) string { return env[name] }, openai.Options{MaxTries: 1}).With([]model.Provider{
		{Name: "house", BaseURL: house.url, KeyEnv: "HOUSE_KEY"}, {Name: "groq", BaseURL: other.url, KeyEnv: "OTHER_KEY", Costs: true},
	})
	var calls sync.WaitGroup
	for range 20 {
		for name, want := range map[string]string{"house:a:b": "I am the house.", "groq:c": "I am the other."} {
			calls.Go(func() {
				r := ask("Hello?")
				r.Model = name
				if resp, err := d.Call(t.Context(), r); err != nil || resp.Text != want || resp.Provider != strings.Split(name, ":")[0] {
					t.Errorf("%s: got %+v, %v", name, resp, err)
				}
			})
		}
	}
	calls.Wait()
	if house.got(t, 0)["model"] != "a:b" || other.got(t, 0)["model"] != "c" || house.count() != 20 {
		t.Errorf("asked %v and %v", house.bodies, other.bodies)
	}
	for _, h := range append(house.heads, other.heads...) {
		if key := h.Get("Authorization"); key != "Bearer sk-of-house" && key != "Bearer sk-of-other" {
			t.Errorf("sent %s", key)
		}
	}
	for _, h := range house.heads {
		if h.Get("Authorization") != "Bearer sk-of-house" {
			t.Errorf("the house got %v", h)
		}
	}
	if !d.Priced("groq:any") || d.Priced("house:any") || !d.Priced("gpt-5-mini") || d.Priced("nowhere:x") {
		t.Error("priced otherwise")
	}
	var f *model.Failure
	for _, name := range []string{"nowhere:x", "anthropic:claude"} {
		r := ask("Hello?")
		r.Model = name
		if _, err := d.Call(t.Context(), r); !errors.As(err, &f) || f.Class != model.Rejected {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Cached input has its own price, and thoughts cost as much as words.
func TestCachedIsCheaper(t *testing.T) {
	const usage = `"usage":{"prompt_tokens":1000000,"completion_tokens":1000000,"prompt_tokens_details":{"cached_tokens":400000},"completion_tokens_details":{"reasoning_tokens":900000}}`
	cached := 0.25
	for prices, want := range map[*float64]float64{&cached: 0.6 + 0.1 + 4, nil: 1 + 4} {
		e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			body(200, strings.Replace(lastText, usageOf, usage, 1))(w, r)
		})
		c := e.client(t, func(o *openai.Options) {
			o.Provider, _ = model.Builtin(model.OpenAI)
			o.Provider.Prices = model.Prices{"gpt-5-mini": {Input: 1, Cached: prices, Output: 4}}
		})
		resp, err := c.Call(t.Context(), ask("Hello?"))
		if err != nil || resp.Usage.CostUSD < want-1e-9 || resp.Usage.CostUSD > want+1e-9 || resp.Usage.Cached != 400_000 || resp.Usage.Reasoning != 900_000 {
			t.Errorf("got %+v, %v, want $%v", resp.Usage, err, want)
		}
	}
}
