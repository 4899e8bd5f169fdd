// Package servetest starts a server for tests. A [World] is a server with
// cascades and scripted models. It compares each answer of the API with the
// contract. A [Shelf] is a store with generated runs. Begin with [New].
package servetest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/scripted"
	"github.com/seed61713e19/capstan/runner/serve"
	"github.com/seed61713e19/capstan/validators/builtins"
)

// A World is a server with its cascades, models and store.
type World struct {
	testing.TB
	Store  serve.Store
	Shelf  *Shelf // the store of a world from MadeUp; otherwise nil
	Server *serve.Server
	HTTP   *httptest.Server
	Model  model.Model // answers if no script does
	Hold   chan struct{}
	Token  string
	Done   chan string
}

// slow answers when the test releases it.
func (w *World) slow(ctx context.Context, _ model.Request) (model.Response, error) {
	select {
	case <-w.Hold:
		return model.Response{Text: "At last."}, nil
	case <-ctx.Done():
		return model.Response{}, context.Cause(ctx)
	}
}

// New starts a world with a journal.
func New(t testing.TB, change ...func(*serve.Options)) *World {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "runs.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return Over(t, j, change...)
}

// MadeUp starts a world with a store in memory.
func MadeUp(t testing.TB, change ...func(*serve.Options)) *World {
	t.Helper()
	return Over(t, &Shelf{}, change...)
}

// Over starts a world with a store.
func Over(t testing.TB, s serve.Store, change ...func(*serve.Options)) *World {
	t.Helper()
	w := &World{TB: t, Store: s}
	w.Shelf, _ = s.(*Shelf)
	dir := t.TempDir()
	offered := map[string]string{}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if base, ok := strings.CutSuffix(name, ".yaml"); ok {
			offered[base] = file
		}
	}
	w.Hold, w.Done = make(chan struct{}), make(chan string, 100)
	judging, err := runner.New(runner.WithModel(model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{}, &model.Failure{Class: model.RateLimited, Message: "slow down"}
	})))
	if err != nil {
		t.Fatal(err)
	}
	o := serve.Options{
		Store: w.Store, Cascades: offered, Models: []string{"slow"}, Runner: judging, Every: time.Millisecond,
		NewRunner: w.runner, Done: func(id string, _ engine.Result, _ error) { w.Done <- id },
		Gates: serve.Computed(builtins.Default()), Addr: "127.0.0.1:0",
	}
	for _, c := range change {
		c(&o)
	}
	w.Token = o.Token
	if w.Server, err = serve.New(o); err != nil {
		t.Fatal(err)
	}
	w.HTTP = httptest.NewServer(w.Server)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		w.Server.Close(ctx)
		w.HTTP.CloseClientConnections()
		w.HTTP.Close()
	})
	return w
}

func (w *World) runner(s runner.Start, j runner.Journal) (*runner.Runner, error) {
	script := map[string]*scripted.Script{}
	var mu sync.Mutex
	answer := func(ctx context.Context, r model.Request) (model.Response, error) {
		if r.Model == "slow" {
			return w.slow(ctx, r)
		}
		if w.Model != nil {
			return w.Model.Call(ctx, r)
		}
		name := s.Settings["cascade"] + ".script"
		mu.Lock()
		if script[name] == nil {
			parsed, err := scripted.Parse(name, []byte(files[name]), nil)
			if err != nil {
				mu.Unlock()
				return model.Response{}, err
			}
			script[name] = parsed
		}
		mu.Unlock()
		return script[name].Call(ctx, r)
	}
	return runner.New(runner.WithJournal(j), runner.WithModel(model.Func(answer)), runner.WithModelName(s.Model))
}

// A Reply is an answer of the server.
type Reply struct {
	*http.Response
	Text string
}

// JSON returns the answer as an object.
func (r Reply) JSON(t testing.TB) map[string]any {
	t.Helper()
	v, err := schema.Parse([]byte(r.Text))
	if err != nil {
		t.Fatalf("%v in %s", err, r.Text)
	}
	return v.(map[string]any)
}

// Ask sends a request and compares the answer with the contract.
func (w *World) Ask(method, path string, body any, header ...string) Reply {
	w.Helper()
	r := w.Send(method, path, body, header...)
	if strings.HasPrefix(path, "/v1") {
		w.Contract().hold(w.TB, method, path, r)
	}
	return r
}

// Send sends a request, with additional headers in pairs.
func (w *World) Send(method, path string, body any, header ...string) Reply {
	w.Helper()
	var in io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(body)
	default:
		text, err := json.Marshal(body)
		if err != nil {
			w.Fatal(err)
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequest(method, w.HTTP.URL+path, in)
	if err != nil {
		w.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if w.Token != "" {
		req.Header.Set("Authorization", "Bearer "+w.Token)
	}
	for pair := range slices.Chunk(header, 2) {
		if pair[0] == "Host" {
			req.Host = pair[1]
		}
		req.Header.Set(pair[0], pair[1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	return Reply{resp, string(text)}
}

// Want is like [World.Ask] and also checks the status.
func (w *World) Want(status int, method, path string, body any, header ...string) Reply {
	w.Helper()
	r := w.Ask(method, path, body, header...)
	if r.StatusCode != status {
		w.Fatalf("%s %s: got %d, want %d: %s", method, path, r.StatusCode, status, r.Text)
	}
	if _, wrong, found := strings.Cut(r.Text, "%!"); found {
		w.Errorf("%s %s: a number is not printed as one: %.40s", method, path, wrong)
	}
	return r
}

// Problem is like [World.Ask] and also checks the status and the code of the
// problem.
func (w *World) Problem(status int, code, method, path string, body any, header ...string) Reply {
	w.Helper()
	r := w.Want(status, method, path, body, header...)
	if got := r.JSON(w.TB)["code"]; got != code {
		w.Fatalf("%s %s: code %v, want %s: %s", method, path, got, code, r.Text)
	}
	return r
}

// Start starts a run and waits for its end.
func (w *World) Start(cascade string, input map[string]any) string {
	w.Helper()
	order := map[string]any{"cascade": cascade}
	if input != nil {
		order["input"] = input
	}
	r := w.Want(202, "POST", "/v1/runs", order)
	<-w.Done
	return r.JSON(w.TB)["run_id"].(string)
}

// Run returns a run from the store.
func (w *World) Run(id string) *journal.Run {
	w.Helper()
	run, err := w.Store.Run(w.Context(), id)
	if err != nil {
		w.Fatal(err)
	}
	return run
}

// Serve lets the server open its own listener.
func (w *World) Serve(ctx context.Context) (addr string, served chan error) {
	w.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	served = make(chan error, 1)
	go func() { served <- w.Server.Serve(ctx, l) }()
	return l.Addr().String(), served
}
