package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// kilobyte is a message's text with what texts have: quotes and line ends.
var kilobyte = strings.Repeat("It said \"turn the capstan\", and they turned it round and round.\n", 16)

// answer is a whole reply, in the two pieces in which the server sends it.
var answer = [2]string{
	fmt.Sprintf(`{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],`, kilobyte),
	`"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}`,
}

// replying answers as endpoints do: in chunks.
func replying(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, answer[0])
	w.(http.Flusher).Flush()
	_, _ = io.WriteString(w, answer[1])
}

// BenchmarkCall sends a history of messages of a kilobyte each. It compares
// go-openai with the client.
func BenchmarkCall(b *testing.B) {
	for _, history := range []int{2, 20, 100, 300} {
		for _, at := range []int{1, 64} {
			b.Run(fmt.Sprintf("history=%d/at=%d/bare", history, at), func(b *testing.B) {
				url, conns := serve(b, replying)
				config := api.DefaultConfig("key")
				config.BaseURL = url
				c := api.NewClientWithConfig(config)
				r := api.ChatCompletionRequest{Model: "m"}
				for range history {
					r.Messages = append(r.Messages, api.ChatCompletionMessage{Role: "user", Content: kilobyte})
				}
				measure(b, at, conns, func() error {
					_, err := c.CreateChatCompletion(context.Background(), r)
					return err
				})
			})
			b.Run(fmt.Sprintf("history=%d/at=%d/client", history, at), func(b *testing.B) {
				url, conns := serve(b, replying)
				c, err := openai.New(openai.Options{BaseURL: url, APIKey: "key"})
				if err != nil {
					b.Fatal(err)
				}
				thread := model.NewThread()
				for range history {
					thread.Append(model.Message{Role: model.User, Content: kilobyte})
				}
				r := model.Request{Model: "m", Messages: thread.Messages(), Thread: thread}
				measure(b, at, conns, func() error {
					_, err := c.Call(context.Background(), r)
					return err
				})
			})
		}
	}
}

// BenchmarkTurn adds two messages to a long conversation and sends all
// messages.
func BenchmarkTurn(b *testing.B) {
	for _, turn := range []int{10, 300} {
		b.Run(fmt.Sprint(turn), func(b *testing.B) {
			url, conns := serve(b, replying)
			c, err := openai.New(openai.Options{BaseURL: url, APIKey: "key"})
			if err != nil {
				b.Fatal(err)
			}
			start := model.NewThread()
			for range 2 * turn {
				start.Append(model.Message{Role: model.User, Content: kilobyte})
			}
			thread, n := model.NewThread(start.Messages()...), 0
			measure(b, 1, conns, func() error {
				if n++; n%20 == 0 { // the history stays about as long
					thread = model.NewThread(start.Messages()...)
				}
				thread.Append(model.Message{Role: model.Assistant, Content: kilobyte}, model.Message{Role: model.User, Content: kilobyte})
				_, err := c.Call(context.Background(), model.Request{Model: "m", Messages: thread.Messages(), Thread: thread})
				return err
			})
		})
	}
}

func measure(b *testing.B, at int, conns *atomic.Int64, call func() error) {
	b.ReportAllocs()
	before := conns.Load()
	if at == 1 {
		for b.Loop() {
			if err := call(); err != nil {
				b.Fatal(err)
			}
		}
	} else {
		b.SetParallelism(max(at/parallel(), 1))
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				if err := call(); err != nil {
					b.Error(err)
				}
			}
		})
	}
	b.ReportMetric(float64(conns.Load()-before)/float64(b.N), "conns/op")
}

// BenchmarkReply calls without a connection. It measures the client's own cost
// for a short request and a reply of a kilobyte or a mebibyte.
func BenchmarkReply(b *testing.B) {
	for name, text := range map[string]string{
		"KiB": answer[0] + answer[1],
		"MiB": strings.Replace(answer[0], `"content":"`, `"content":"`+strings.Repeat(`Round and round it went, said the crew aboard\n`, 22_000), 1) + answer[1],
	} {
		b.Run(name, func(b *testing.B) {
			c, err := openai.New(openai.Options{HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
			})}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Call(context.Background(), ask("Go on.")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
