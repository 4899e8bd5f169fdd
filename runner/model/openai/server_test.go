package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// serve starts a server on its own socket. It returns the base URL and the
// number of opened connections.
func serve(tb testing.TB, h http.HandlerFunc) (url string, conns *atomic.Int64) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	conns = new(atomic.Int64)
	s := &http.Server{Handler: h, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}}
	go s.Serve(l)
	tb.Cleanup(func() { s.Close() })
	return "http://" + l.Addr().String() + "/v1", conns
}

func parallel() int { return runtime.GOMAXPROCS(0) }

// An endpoint answers the n-th request with the n-th handler. Later requests
// use the last handler. The endpoint stores the requests.
type endpoint struct {
	url   string
	conns *atomic.Int64

	mu     sync.Mutex
	bodies []string
	heads  []http.Header
	paths  []string
	sleeps []time.Duration
}

func newEndpoint(t *testing.T, handlers ...http.HandlerFunc) *endpoint {
	e := &endpoint{}
	e.url, e.conns = serve(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		n := len(e.bodies)
		e.bodies = append(e.bodies, string(text))
		e.heads = append(e.heads, r.Header.Clone())
		e.paths = append(e.paths, r.URL.RequestURI())
		e.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(text))
		handlers[min(n, len(handlers)-1)](w, r)
	})
	return e
}

// client returns a client of e whose sleeps take no time.
func (e *endpoint) client(t *testing.T, set ...func(*openai.Options)) *openai.Client {
	t.Helper()
	o := openai.Options{BaseURL: e.url, APIKey: "sk-secret-key", Sleep: func(ctx context.Context, d time.Duration) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.sleeps = append(e.sleeps, d)
		return ctx.Err()
	}}
	for _, s := range set {
		s(&o)
	}
	c, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (e *endpoint) got(t *testing.T, n int) map[string]any {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if n >= len(e.bodies) {
		t.Fatalf("the endpoint got %d requests", len(e.bodies))
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(e.bodies[n]), &v); err != nil {
		t.Fatalf("body: %v\n%s", err, e.bodies[n])
	}
	return v
}

func (e *endpoint) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.bodies)
}

// Handlers.

func reply(text string) http.HandlerFunc {
	return body(200, fmt.Sprintf(`{"id":"x","object":"chat.completion","created":1,"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`, quoted(text)))
}

func message(message, finish string) http.HandlerFunc {
	return body(200, fmt.Sprintf(`{"model":"m-1","choices":[{"index":0,"message":%s,"finish_reason":%s}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`, message, quoted(finish)))
}

func body(status int, text string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// stream sends each text as it is, and then ends the answer well.
func stream(texts ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, text := range texts {
			_, _ = io.WriteString(w, text)
			w.(http.Flusher).Flush()
		}
	}
}

// cut runs h and then breaks the connection.
func cut(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h(w, r)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

func delta(text string) string { return choice(`{"content":`+quoted(text)+`}`, "null") }

func finished(reason string) string { return choice(`{}`, quoted(reason)) }

func choice(delta, finish string) string {
	return event(`{"id":"x","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}`)
}

func event(data string) string { return "data: " + data + "\n\n" }

var (
	counted = event(`{"model":"m-1","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10}}`)
	done    = event("[DONE]")
)

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

func ask(text string) model.Request {
	return model.Request{Model: "gpt-5-mini", Phase: "draft", Attempt: 1, Messages: []model.Message{{Role: model.User, Content: text}}}
}

// A listener collects the pieces of OnText. An empty piece discards the text.
type listener struct {
	strings.Builder
	pieces, anew int
}

func (h *listener) on(piece string) {
	if h.pieces++; piece == "" {
		h.anew++
		h.Reset()
	}
	h.WriteString(piece)
}
