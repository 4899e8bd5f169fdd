package runner_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// fewestCached is the shortest beginning that OpenAI and Anthropic cache, in
// tokens.
const fewestCached = 1024

// tokensOf returns the number of tokens of a text in these tests.
func tokensOf(text string) int { return len(text) / 4 }

// wordsOf returns a text with the number of tokens. Texts of different seeds
// begin differently.
func wordsOf(seed uint64, tokens int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < 4*tokens-4 {
		fmt.Fprintf(&b, "%06x ", r.IntN(1<<24))
	}
	return strings.TrimSpace(b.String())
}

// A promptCache applies the published rules of prompt caches.
type promptCache struct {
	mu      sync.Mutex
	texts   []string        // OpenAI: the beginnings of earlier requests
	entries map[string]bool // Anthropic: the beginnings that earlier requests marked
}

// automatic applies OpenAI's rule: the longest beginning of an earlier request is cached, from
// 1,024 tokens on, in steps of 128.
func (c *promptCache) automatic(text string) (cached int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, before := range c.texts {
		n := 0
		for n < min(len(before), len(text)) && before[n] == text[n] {
			n++
		}
		if n /= 4; n >= fewestCached {
			cached = max(cached, n-n%128)
		}
	}
	c.texts = append(c.texts, text)
	return cached
}

// draft returns the n-th reply of a model. Two replies differ.
func draft(n int) string { return wordsOf(uint64(100+n), 1000) }

// chatServer is an endpoint with OpenAI's cache. It keeps the messages of each request.
func chatServer(t *testing.T, sent *[]string) model.Model {
	var cache promptCache
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var request struct{ Messages json.RawMessage }
		if err := json.Unmarshal(body, &request); err != nil {
			t.Error(err)
		}
		mu.Lock()
		*sent = append(*sent, string(request.Messages))
		n := len(*sent)
		mu.Unlock()
		cached := cache.automatic(string(request.Messages))
		fmt.Fprintf(w, `{"choices": [{"message": {"role": "assistant", "content": %q}, "finish_reason": "stop"}],
			"usage": {"prompt_tokens": %d, "completion_tokens": 1000, "prompt_tokens_details": {"cached_tokens": %d}}}`,
			draft(n), tokensOf(string(request.Messages)), cached)
	}))
	t.Cleanup(s.Close)
	client, err := openai.New(openai.Options{BaseURL: s.URL, HTTP: s.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// usages runs a cascade and returns what each call of the phases has used.
func usages(t *testing.T, m model.Model, source string, input map[string]any) (list []model.Usage, paths []event.Path) {
	t.Helper()
	var mu sync.Mutex
	sink := event.Func(func(e event.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == event.ModelReplied {
			list, paths = append(list, e.Response.Usage), append(paths, e.Path)
		}
	})
	r, err := runner.New(runner.WithModel(m), runner.WithModelName("m"), runner.WithSink(sink))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = r.Run(t.Context(), parsed(t, r, source), input) // no text passes
	return list, paths
}

const fourAttempts = `cascade_id: four
system: "{{ input.system }}"
phases:
  - {name: document, compose: "{{ input.document }}"}
  - name: write
    context: {from: [document]}
    instructions: "Write 1,000 tokens on the document."
    rules: {feedback: {keep: KEEP}}
    wards: {post: [{expr: "content contains 'never'", reason: "it lacks the word", mode: retry, max_attempts: 4}]}
`

// TestRetriesReadFromCache checks that a retry reads 85 % or more of its input
// from the cache. With keep: last, the fourth attempt sends about the same
// number of tokens as the second, and reads the instructions and everything
// before them. CAPSTAN_CACHE_TABLE names a file for the measured table.
func TestRetriesReadFromCache(t *testing.T) {
	input := map[string]any{"system": wordsOf(1, 4000), "document": wordsOf(2, 8000)}
	opening := tokensOf(input["system"].(string) + input["document"].(string))
	var table strings.Builder
	for name, endpoint := range map[string]func(*testing.T, *[]string) model.Model{"OpenAI": chatServer, "Anthropic": messagesServer} {
		for _, keep := range []string{"all", "last"} {
			list, _ := usages(t, endpoint(t, new([]string)), strings.Replace(fourAttempts, "KEEP", keep, 1), input)
			if len(list) != 4 {
				t.Fatalf("%s, keep: %s: %d calls", name, keep, len(list))
			}
			for i, u := range list {
				share := float64(u.Cached) / float64(u.InputTokens)
				fmt.Fprintf(&table, "| %s | %s | %d | %d | %d | %.1f %% |\n", name, keep, i+1, u.InputTokens, u.Cached, 100*share)
				switch {
				case i == 0:
				case keep == "all" && share < 0.85:
					t.Errorf("%s, keep: all: attempt %d reads %.1f %% of its input from the cache", name, i+1, 100*share)
				case u.Cached < opening-128:
					t.Errorf("%s, keep: %s: attempt %d reads %d tokens from the cache, and system and document have %d", name, keep, i+1, u.Cached, opening)
				}
			}
			if keep == "last" && float64(list[3].InputTokens) > 1.1*float64(list[1].InputTokens) {
				t.Errorf("%s, keep: last: attempt 4 sends %d tokens, attempt 2 %d", name, list[3].InputTokens, list[1].InputTokens)
			}
		}
	}
	if file := os.Getenv("CAPSTAN_CACHE_TABLE"); file != "" {
		if err := os.WriteFile(file, []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const sharing = `cascade_id: sharing
system: "{{ input.system }}"
examples: [{user: Who, assistant: The owl.}]
phases:
  - {name: document, compose: "{{ input.document }}"}
  - {name: first, context: {from: [document]}, instructions: First., rules: {max_turns: 3}}
  - {name: later, context: {from: [document]}, instructions: Later., wards: {post: [{expr: "attempt > 1", mode: retry}]}}
  - {name: listed, context: {from: [document, first]}, instructions: "{{ item }}", each: {in: [a, b], max_parallel: 1}}
  - {name: tried, context: {from: [document]}, instructions: Try., soundings: {factor: 2, max_parallel: 1}}
  - {name: looped, context: {from: [document]}, instructions: Loop., rules: {max_turns: 3, loop_until: {expr: "turn > 0"}}}
`

// TestPhasesShareCache checks that later phases, items, soundings, turns and retries
// read system, examples and documents from the cache.
func TestPhasesShareCache(t *testing.T) {
	input := map[string]any{"system": wordsOf(1, 4000), "document": wordsOf(2, 8000)}
	opening := tokensOf(input["system"].(string) + input["document"].(string))
	for name, endpoint := range map[string]func(*testing.T, *[]string) model.Model{"OpenAI": chatServer, "Anthropic": messagesServer} {
		list, paths := usages(t, endpoint(t, new([]string)), sharing, input)
		if len(list) != 11 {
			t.Errorf("%s: calls %v", name, paths)
		}
		for i, u := range list[min(1, len(list)):] {
			if u.Cached < opening-128 {
				t.Errorf("%s: %s reads %d tokens from the cache, and system and document have %d", name, paths[i+1], u.Cached, opening)
			}
		}
	}
}

// TestRequestsRepeatTheirBeginning checks that each request of a conversation begins
// with the bytes of the previous request. Other conversations of the file begin with
// the same system, examples and documents.
func TestRequestsRepeatTheirBeginning(t *testing.T) {
	input := map[string]any{"system": "You <know> \"owls\".", "document": "A document\u2028with\tsigns & é."}
	var sent []string
	_, paths := usages(t, chatServer(t, &sent), sharing, input)
	if got := roles(t, sent[0]); got != "system user assistant user" {
		t.Errorf("the first request has the messages %s", got)
	}
	end := strings.Index(sent[0], `First.`)
	if end < 0 {
		t.Fatalf("no instructions: %s", sent[0])
	}
	last := map[string]string{}
	for i, messages := range sent {
		if !strings.HasPrefix(messages, sent[0][:end]) {
			t.Errorf("%s does not begin as %s:\n%s", paths[i], paths[0], messages)
		}
		conversation, _, _ := strings.Cut(string(paths[i]), "/attempt")
		if before := last[conversation]; !strings.HasPrefix(messages, strings.TrimSuffix(before, "]")) {
			t.Errorf("%s does not begin with the request before:\n%s\n%s", paths[i], before, messages)
		}
		last[conversation] = messages
	}
}

// roles returns the roles of the messages.
func roles(t *testing.T, messages string) string {
	t.Helper()
	var list []struct{ Role string }
	if err := json.Unmarshal([]byte(messages), &list); err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, m := range list {
		words = append(words, m.Role)
	}
	return strings.Join(words, " ")
}
