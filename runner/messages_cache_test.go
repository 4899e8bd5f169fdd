package runner_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// The limits of Anthropic's prompt cache:
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching.
const (
	maxCacheMarks = 4  // a request with more is an error
	lookBack      = 20 // positions that a mark checks, its own block included
)

// cacheMark is the member of a marked block, its last one.
const cacheMark = `,"cache_control":{"type":"ephemeral"}`

// A cacheBlock is one block of a request. Its text contains everything that a hit compares:
// the model, the output format, the role and the content.
type cacheBlock struct {
	text   string
	marked bool
}

// cacheBlocks returns the blocks of a request in the order of the cache: tools, system, messages.
func cacheBlocks(body []byte) (blocks []cacheBlock, err error) {
	var request struct {
		Model         string
		Tools, System []json.RawMessage
		OutputConfig  json.RawMessage `json:"output_config"`
		Messages      []struct {
			Role    string
			Content []json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, err
	}
	add := func(part string, list []json.RawMessage) {
		for _, block := range list {
			text, marked := strings.CutSuffix(string(block[:len(block)-1]), cacheMark)
			blocks = append(blocks, cacheBlock{fmt.Sprintf("%s %s %s %s", request.Model, request.OutputConfig, part, text), marked})
		}
	}
	add("tools", request.Tools)
	add("system", request.System)
	for _, m := range request.Messages {
		add(m.Role, m.Content)
	}
	marks := 0
	for _, b := range blocks {
		if b.marked {
			marks++
		}
	}
	switch {
	case marks > maxCacheMarks:
		err = fmt.Errorf("a maximum of %d blocks with cache_control may be provided, found %d", maxCacheMarks, marks)
	case marks != bytes.Count(body, []byte(`"cache_control"`)):
		err = errors.New("cache_control is not at the end of a block")
	}
	return blocks, err
}

// marked applies Anthropic's rules: the beginning up to each mark is written, from 1,024
// tokens on. A mark reads the longest beginning that an earlier request wrote and that ends at
// one of the 20 positions up to the mark.
func (c *promptCache) marked(blocks []cacheBlock) (read, written, rest int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var begins []string
	var tokens []int
	all, last := "", 0
	for _, b := range blocks {
		all += b.text + "\n"
		begins, tokens = append(begins, all), append(tokens, tokensOf(all))
	}
	for mark, b := range blocks {
		if !b.marked {
			continue
		}
		for i := mark; i > max(mark-lookBack, -1); i-- {
			if c.entries[begins[i]] {
				read = max(read, tokens[i])
				break
			}
		}
	}
	for mark, b := range blocks {
		if b.marked && tokens[mark] >= fewestCached {
			if c.entries == nil {
				c.entries = map[string]bool{}
			}
			c.entries[begins[mark]], last = true, tokens[mark]
		}
	}
	written = max(last-read, 0)
	return read, written, tokensOf(all) - read - written
}

// messagesServer is an endpoint with Anthropic's protocol and cache. Its replies are drafts.
func messagesServer(t *testing.T, _ *[]string) model.Model {
	return messagesEndpoint(t, func(n int) string {
		return fmt.Sprintf(`{"content": [{"type": "text", "text": %q}], "stop_reason": "end_turn"`, draft(n))
	})
}

// messagesEndpoint is an endpoint with Anthropic's protocol and cache. A reply is an object
// without its end.
func messagesEndpoint(t *testing.T, reply func(n int) string) model.Model {
	t.Helper()
	var cache promptCache
	var count atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		blocks, err := cacheBlocks(body)
		if err != nil {
			t.Error(err)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		read, written, rest := cache.marked(blocks)
		fmt.Fprintf(w, `%s, "role": "assistant", "usage": {"input_tokens": %d, "cache_read_input_tokens": %d, "cache_creation_input_tokens": %d, "output_tokens": 1000}}`,
			reply(int(count.Add(1))), rest, read, written)
	}))
	t.Cleanup(s.Close)
	anthropic, _ := model.Builtin("anthropic")
	client, err := openai.New(openai.Options{BaseURL: s.URL, APIKey: "key", HTTP: s.Client(), Provider: anthropic})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

const calling = `cascade_id: calling
system: "{{ input.system }}"
examples: [{user: Who, assistant: The owl.}]
phases:
  - {name: document, compose: "{{ input.document }}"}
  - {name: note, context: {from: [document]}, instructions: Note it., tackle: [set_state], rules: {max_turns: 3}}
`

// TestParallelCallsReadFromCache checks a request with the results of many parallel calls. It
// must read the previous request from the cache, even if the distance of the marks exceeds the
// look-back of a mark.
func TestParallelCallsReadFromCache(t *testing.T) {
	const calls = 15
	m := messagesEndpoint(t, func(n int) string {
		if n > 4 {
			return `{"content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"`
		}
		var list []string
		for i := range calls {
			list = append(list, fmt.Sprintf(`{"type": "tool_use", "id": "toolu_%d_%d", "name": "set_state", "input": {"key": "k%d", "value": %q}}`,
				n, i, i, wordsOf(uint64(100*n+i), 100)))
		}
		return `{"content": [` + strings.Join(list, ",") + `], "stop_reason": "tool_use"`
	})
	list, paths := usages(t, m, calling, map[string]any{"system": wordsOf(1, 4000), "document": wordsOf(2, 8000)})
	if len(list) < 5 {
		t.Fatalf("calls %v", paths)
	}
	for i, u := range list[1:5] {
		if u.Cached < list[i].InputTokens {
			t.Errorf("request %d reads %d tokens from the cache, and the request before it had %d", i+2, u.Cached, list[i].InputTokens)
		}
	}
}
