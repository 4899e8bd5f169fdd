package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	gopenai "github.com/sashabaranov/go-openai"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// loopback serves the chat completions protocol on a real socket. It tells the
// length of its answers: of a chunked one go-openai leaves the end unread, and
// its connection cannot be used again.
func loopback(b *testing.B) string {
	b.Helper()
	answer := `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a text of some words"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		io.WriteString(w, answer)
	})}
	go server.Serve(listener)
	b.Cleanup(func() { server.Close() })
	return "http://" + listener.Addr().String() + "/v1"
}

// spoken is about how long one message of a conversation is, in bytes.
const spoken = 1000

// BenchmarkGatedTurn holds a whole gated turn (a template, three checks, the
// turn's events, of which the reply is encoded) against a bare go-openai call of the same history, alone and
// 64 at once, over a real socket. One operation is one conversation: its history
// grows from 1 to 2n-1 messages over n turns, and the bare calls send the same
// ones.
func BenchmarkGatedTurn(b *testing.B) {
	url := loopback(b)
	for _, turns := range []int{1, 10, 50, 150} {
		for _, at := range []struct {
			name     string
			parallel int
		}{{"alone", 0}, {"64", 32}} { // SetParallelism counts per core
			b.Run(fmt.Sprintf("turns=%d/%s/bare", turns, at.name), func(b *testing.B) {
				client := bareClient(url)
				repeat(b, at.parallel, turns, func() { bareRun(b, client, turns) })
			})
			b.Run(fmt.Sprintf("turns=%d/%s/gated", turns, at.name), func(b *testing.B) {
				gated := gatedRun(b, url, turns)
				repeat(b, at.parallel, turns, gated)
			})
		}
	}
}

// repeat makes b.N runs of n turns and reports the time of one turn.
func repeat(b *testing.B, parallel, n int, run func()) {
	b.ReportAllocs()
	b.ResetTimer()
	if parallel == 0 {
		for b.Loop() {
			run()
		}
	} else {
		b.SetParallelism(parallel)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				run()
			}
		})
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/turn")
}

// bareClient keeps a connection for each of 64 runs, where Go's own client would
// keep two and dial for the rest.
func bareClient(url string) *gopenai.Client {
	config := gopenai.DefaultConfig("key")
	config.BaseURL = url
	pooled := http.DefaultTransport.(*http.Transport).Clone()
	pooled.MaxIdleConns, pooled.MaxIdleConnsPerHost = 0, 128
	config.HTTPClient = &http.Client{Transport: pooled}
	return gopenai.NewClientWithConfig(config)
}

func bareRun(b *testing.B, client *gopenai.Client, turns int) {
	var messages []gopenai.ChatCompletionMessage
	for range turns {
		messages = append(messages, gopenai.ChatCompletionMessage{Role: "user", Content: strings.Repeat("a word ", spoken/7)})
		resp, err := client.CreateChatCompletion(context.Background(), gopenai.ChatCompletionRequest{Model: "m", Messages: messages})
		if err != nil {
			b.Error(err)
			return
		}
		messages = append(messages, gopenai.ChatCompletionMessage{Role: "assistant", Content: resp.Choices[0].Message.Content})
	}
}

func gatedRun(b *testing.B, url string, turns int, more ...runner.Option) func() {
	client, err := openai.New(openai.Options{BaseURL: url, APIKey: "key"})
	if err != nil {
		b.Fatal(err)
	}
	r := newRunner(b, append(more, runner.WithModel(client), runner.WithModelName("m"), runner.WithSink(discardEvents{}))...)
	c := parsed(b, r, fmt.Sprintf(`cascade_id: bench
phases:
  - name: a
    instructions: "Say: {{ input.words }}"
    rules: {max_turns: %d, turn_prompt: "{{ input.words }}"}
    wards:
      turn:
        - {expr: "len(content) > 2"}
        - {validator: non_empty, mode: retry}
        - {validator: max_length, with: {max: 1000}, mode: retry}`, turns))
	input := map[string]any{"words": strings.Repeat("a word ", spoken/7)}
	return func() {
		if _, err := r.Run(context.Background(), c, input); err != nil {
			b.Error(err)
		}
	}
}

// discardEvents hears every event and encodes the one that holds what the turn
// came to.
type discardEvents struct{}

func (discardEvents) Emit(e event.Event) {
	if e.Kind == event.ModelReplied {
		json.NewEncoder(io.Discard).Encode(e)
	}
}
