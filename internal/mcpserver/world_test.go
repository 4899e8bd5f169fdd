package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/mcpserver"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/builtins"
)

// legacy is the newest protocol version in which a server may ask a client.
const legacy = "2025-11-25"

// options returns options with the built-in validators.
func options(gates ...validators.Validator) mcpserver.Options {
	o := mcpserver.Options{Version: "test", Known: cascades.Known{Validators: builtins.Default()}}
	for _, v := range append(builtins.Default().List(), gates...) {
		o.Gates = append(o.Gates, mcpserver.Gate{Validator: v})
	}
	return o
}

// A peer is a client that writes lines.
type peer struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Reader
	ended chan error

	hangUp func() // stops reading
}

// begin serves until the test ends or the peer disconnects.
func begin(ctx context.Context, t *testing.T, o mcpserver.Options) *peer {
	t.Helper()
	s, err := mcpserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	fromPeer, in := io.Pipe()
	out, toPeer := io.Pipe()
	p := &peer{t, in, bufio.NewReader(out), make(chan error, 1), func() { out.Close() }}
	go func() {
		err := s.Serve(ctx, fromPeer, toPeer)
		toPeer.Close()
		p.ended <- err
	}()
	t.Cleanup(func() { in.Close(); out.Close() })
	return p
}

// client connects a client of the SDK.
func (p *peer) client(version string, o *sdk.ClientOptions) *sdk.ClientSession {
	p.t.Helper()
	transport := &sdk.IOTransport{Reader: io.NopCloser(p.out), Writer: p.in}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "peer", Version: "1"}, o).Connect(p.t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { session.Close() })
	return session
}

// connect starts a server and connects a client.
func connect(t *testing.T, o mcpserver.Options) *sdk.ClientSession {
	t.Helper()
	return begin(t.Context(), t, o).client("", nil)
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(p.in, line+"\n"); err != nil {
			p.t.Fatal(err)
		}
	}
}

// next reads one message of the server.
func (p *peer) next() map[string]any {
	p.t.Helper()
	text, err := p.out.ReadBytes('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		p.t.Fatalf("%v: %s", err, text)
	}
	return m
}

// hello performs the handshake.
const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"p","version":"1"}}}`

func (p *peer) greet() {
	p.t.Helper()
	p.send(hello)
	if m := p.next(); m["result"] == nil {
		p.t.Fatalf("got %v", m)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// calling returns the line that calls a tool.
func calling(id any, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// use calls a tool and returns its text, its object or the data of its run, and whether it is
// an error.
func use(t *testing.T, s *sdk.ClientSession, tool string, arguments any) (text string, object map[string]any, isError bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var words []string
	for _, c := range r.Content {
		words = append(words, c.(*sdk.TextContent).Text)
	}
	if object, _ = r.StructuredContent.(map[string]any); object == nil {
		object, _ = r.Content[0].(*sdk.TextContent).Meta["capstan/run"].(map[string]any)
	}
	return strings.Join(words, "\n"), object, r.IsError
}

// storedRuns executes runs and stores their records in a journal.
type storedRuns struct {
	t       *testing.T
	model   model.Model
	journal *journal.Journal

	mu     sync.Mutex
	orders []mcpserver.Order
}

func newKept(t *testing.T, m model.Func) *storedRuns {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "runs.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return &storedRuns{t: t, model: m, journal: j}
}

func (k *storedRuns) runner(o mcpserver.Order) (*runner.Runner, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.orders = append(k.orders, o)
	options := []runner.Option{runner.WithModel(k.model), runner.WithModelName("owl"), runner.WithAsk(o.Ask), runner.WithSink(o.Sink)}
	if k.journal != nil {
		options = append(options, runner.WithJournal(k.journal))
	}
	return runner.New(options...)
}

func (k *storedRuns) Run(ctx context.Context, o mcpserver.Order) (engine.Result, error) {
	r, err := k.runner(o)
	if err != nil {
		return engine.Result{}, err
	}
	return r.Run(ctx, o.Cascade, o.Input)
}

func (k *storedRuns) Answer(ctx context.Context, id string, answers map[event.Path]engine.Answer, o mcpserver.Order) (engine.Result, error) {
	r, err := k.runner(o)
	for key, a := range answers {
		if err == nil {
			err = k.journal.Answer(ctx, id, key, a)
		}
	}
	if err != nil {
		return engine.Result{}, err
	}
	return r.Resume(ctx, id)
}

// parsed returns the cascade of a source.
func parsed(t *testing.T, source string) *cascades.Cascade {
	t.Helper()
	c, err := cascades.Parse("test.yaml", []byte(source), nil, cascades.Known{Validators: builtins.Default()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// runs returns options with cascades whose model always returns the same text.
func runs(t *testing.T, words string, sources map[string]string) (mcpserver.Options, *storedRuns) {
	t.Helper()
	k := newKept(t, func(context.Context, model.Request) (model.Response, error) { return model.Response{Text: words}, nil })
	o := options()
	o.Runs, o.Stored, o.Cascades = k, true, map[string]*cascades.Cascade{}
	for name, source := range sources {
		o.Cascades[name] = parsed(t, source)
	}
	return o, k
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// ids returns the names of the stored runs.
func (k *storedRuns) ids(t *testing.T) []string {
	t.Helper()
	list, err := k.journal.Runs(t.Context(), journal.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.RunID
	}
	return ids
}
