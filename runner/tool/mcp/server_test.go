package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/mcp"
)

// TestMain lets this binary run the servers of the tests. The number of
// parallel tests exceeds the number of processors, because most tests wait for
// a server.
func TestMain(m *testing.M) {
	if role := os.Getenv("CAPSTAN_MCP_TEST"); role != "" {
		play(role)
		os.Exit(0)
	}
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func play(role string) {
	if log := os.Getenv("CAPSTAN_MCP_STARTS"); log != "" {
		f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(f, os.Getpid())
		f.Close()
	}
	switch role {
	case "server":
		_ = testServer(nil).Run(context.Background(), &sdk.StdioTransport{})
	case "script":
		script(os.Getenv("CAPSTAN_MCP_REPLY"))
	case "noisy":
		noisy()
	case "says":
		fmt.Fprintln(os.Stderr, os.Getenv("MY_KEY"), os.Getenv("MINE"), os.Getenv("OTHER_KEY"), len(os.Environ()))
		os.Exit(5)
	case "prints":
		fmt.Println("Listening on stdin… ready!")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "flood":
		for {
			fmt.Print(strings.Repeat(" ", 1000))
		}
	case "exits":
		fmt.Fprintln(os.Stderr, "no configuration")
		os.Exit(4)
	case "orphans":
		orphan()
		os.Exit(7)
	case "holder":
		l, err := net.Listen("unix", os.Getenv("CAPSTAN_MCP_SOCKET"))
		if err != nil {
			panic(err)
		}
		fmt.Println("ready")
		_, _ = l.Accept()
		time.Sleep(time.Hour)
	case "silent":
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "deaf":
		time.Sleep(time.Hour) // reads nothing until the test kills it
	}
}

// noisy is a server that also prints everything that servers print by mistake.
func noisy() {
	read, write := io.Pipe()
	go func() {
		fmt.Print("\ufeffwelcome\n\n{\"level\": \"info\", \"msg\": \"up\"}\n[1, 2]\n\"text\"\n{\n  \"jsonrpc\": 7\n}\nDebugger attached.")
		lines := bufio.NewScanner(read)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			fmt.Printf("%s\r\nwarning: \xff %s\n", lines.Text(), strings.Repeat("y", 100_000))
		}
		if err := lines.Err(); err != nil {
			panic(err)
		}
	}()
	_ = testServer(nil).Run(context.Background(), &sdk.IOTransport{Reader: os.Stdin, Writer: write})
}

// orphan starts a holder and ends before it.
func orphan() {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CAPSTAN_MCP_TEST=holder")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		panic(err)
	}
	_, _ = out.Read(make([]byte, 6)) // until it listens
}

// testServer is an MCP server with one tool for each behavior. Tools that hang
// return at stop.
func testServer(stop <-chan struct{}) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	type arguments struct {
		Say string `json:"say"`
	}
	add := func(name string, answer func(ctx context.Context, say string) (*sdk.CallToolResult, error)) {
		sdk.AddTool(s, &sdk.Tool{Name: name, Description: name + " it"}, func(ctx context.Context, _ *sdk.CallToolRequest, a arguments) (*sdk.CallToolResult, any, error) {
			r, err := answer(ctx, a.Say)
			return r, nil, err
		})
	}
	text := func(s string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}, nil
	}
	add("echo", func(_ context.Context, say string) (*sdk.CallToolResult, error) { return text(say) })
	add("big", func(context.Context, string) (*sdk.CallToolResult, error) { return text(strings.Repeat("x", 1<<20)) })
	add("fail", func(_ context.Context, say string) (*sdk.CallToolResult, error) {
		return nil, fmt.Errorf("cannot %s", say)
	})
	add("crash", func(context.Context, string) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of cheese")
		os.Exit(9)
		return nil, nil
	})
	add("hang", func(ctx context.Context, _ string) (*sdk.CallToolResult, error) {
		select {
		case <-stop:
		case <-ctx.Done():
		}
		return nil, errors.New("stopped")
	})
	add("parts", func(context.Context, string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "see"}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("png")},
			&sdk.ResourceLink{URI: "file:///a", Name: "a"}, &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///b", Text: "inside"}},
		}}, nil
	})
	addVerdicts(s)
	return s
}

// addVerdicts adds the tools that judge. Their content is the verdict.
func addVerdicts(s *sdk.Server) {
	type judged struct {
		Content string         `json:"content"`
		State   map[string]any `json:"state,omitempty"`
		Max     int            `json:"max,omitempty"`
	}
	type verdict struct {
		Valid  bool   `json:"valid"`
		Reason string `json:"reason"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "check", Description: "check it"}, func(_ context.Context, _ *sdk.CallToolRequest, a judged) (*sdk.CallToolResult, verdict, error) {
		return nil, verdict{a.Max == 0 || len(a.Content) <= a.Max, fmt.Sprintf("%d of %d, by %v", len(a.Content), a.Max, a.State["who"])}, nil
	})
	raw := func(name, schema string, answer func(arguments string) *sdk.CallToolResult) {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(schema)}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return answer(string(r.Params.Arguments)), nil
		})
	}
	content := func(arguments string) string {
		var a struct{ Content string }
		_ = json.Unmarshal([]byte(arguments), &a)
		return a.Content
	}
	raw("say", `{"type": "object", "properties": {"content": {"type": "string"}}}`, func(arguments string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: content(arguments)}}}
	})
	raw("structured", `{"type": "object", "properties": {"content": {"type": "string"}}}`, func(arguments string) *sdk.CallToolResult {
		return &sdk.CallToolResult{StructuredContent: json.RawMessage(content(arguments)), Content: []sdk.Content{}}
	})
	raw("wrapped", `{"type": "object"}`, func(string) *sdk.CallToolResult {
		return &sdk.CallToolResult{StructuredContent: map[string]any{"result": true}, Content: []sdk.Content{&sdk.TextContent{Text: "true"}}}
	})
	s.AddTool(&sdk.Tool{Name: "traced", InputSchema: json.RawMessage(`{"type": "object"}`)}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		parent := fmt.Sprint(r.Params.Meta["traceparent"])
		if r.Extra != nil && r.Extra.Header != nil {
			parent += " " + r.Extra.Header.Get("traceparent")
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: parent}}}, nil
	})
	arguments := func(arguments string) *sdk.CallToolResult {
		quoted, _ := json.Marshal(map[string]any{"valid": true, "reason": arguments})
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(quoted)}}}
	}
	raw("open", `{"type": "object"}`, arguments)
	raw("closed", `{"type": "object", "additionalProperties": false}`, arguments)
	raw("named", `{"type": "object", "properties": {"text": {}, "with": {}}}`, arguments)
	raw("renamed", `{"type": "object", "properties": {"text": {}, "output": {}}}`, arguments)
}

// script is a minimal server. It performs the handshake of the old protocol,
// ends at an unknown request, and answers tools/call with a raw line. In the
// line, ID is the number of the call. A modern server has no initialize.
func script(reply string) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	modern := reply == "modern"
	for lines.Scan() {
		var m struct {
			ID     any    `json:"id"`
			Method string `json:"method"`
		}
		_ = json.Unmarshal(lines.Bytes(), &m)
		id, _ := json.Marshal(m.ID)
		switch m.Method {
		case "initialize":
			if modern {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"what is initialize?"}}`+"\n", id)
				continue
			}
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"0"}}}`+"\n", id)
		case "notifications/initialized", "notifications/cancelled":
		case "tools/list":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"check","inputSchema":{"type":"object"}}]}}`+"\n", id)
		case "tools/call":
			switch reply {
			case "stop":
				time.Sleep(time.Hour)
			case "modern":
				reply = `{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","content":[{"type":"text","text":"modern times"}]}}`
			}
			fmt.Print(strings.ReplaceAll(reply, "ID", string(id)) + "\n")
		case "server/discover":
			if !modern {
				os.Exit(1)
			}
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`+"\n", id)
		default:
			os.Exit(1)
		}
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
}

// started starts a server in this binary. starts counts the starts.
func started(t *testing.T, role string, env ...string) (s mcp.Server, starts func() []string) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "starts")
	s = mcp.Server{Command: []string{path}, Env: append(env, "CAPSTAN_MCP_TEST="+role, "CAPSTAN_MCP_STARTS="+log)}
	return s, func() []string {
		text, _ := os.ReadFile(log)
		return strings.Fields(string(text))
	}
}

// listening starts the same server over HTTP. cut ends its connections, as a
// crash does.
func listening(t *testing.T) (s mcp.Server, cut func()) {
	t.Helper()
	stop := make(chan struct{})
	real := testServer(stop)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return real }, nil)
	web := httptest.NewServer(handler)
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	t.Cleanup(func() { close(stop) })
	return mcp.Server{URL: web.URL}, web.CloseClientConnections
}

// client returns a client that is closed with the test.
func client(t *testing.T) *mcp.Client {
	t.Helper()
	c := &mcp.Client{Timeout: patience}
	t.Cleanup(func() { c.Close() })
	return c
}

// patience is the time limit for an event on a machine with high load.
const patience = 2 * time.Minute

// impatient sets a short time limit for calls after the server has started,
// because the start takes an unknown time.
func impatient(t *testing.T, c *mcp.Client, s mcp.Server) {
	t.Helper()
	if _, err := c.Tool(s, "echo").Described(t.Context()); err != nil && !errors.Is(err, tool.ErrUnavailable) { // some servers return another error
		t.Fatal(err)
	}
	c.Timeout = time.Second
}
