package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/mcp"
)

// lacks checks a result that no model can correct.
func lacks(t *testing.T, tl tool.Tool, want string) {
	t.Helper()
	if r := run(t, tl, say("x")); !r.Unavailable || !r.Failed || !strings.Contains(r.Text(), want) {
		t.Errorf("got gone %v, %.300q, want %q", r.Unavailable, r.Text(), want)
	}
}

// An unavailable tool is distinguished from a tool that failed.
func TestGone(t *testing.T) {
	each(t, func(t *testing.T, c *mcp.Client, s mcp.Server) {
		lacks(t, c.Tool(s, "ehco"), `no tool is called "ehco", did you mean "echo"?`)
		if _, err := c.Tool(s, "ehco").Described(t.Context()); err == nil || !strings.Contains(err.Error(), `did you mean "echo"?`) {
			t.Errorf("got %v", err)
		}
		if r := run(t, c.Tool(s, "fail"), say("echo fail")); !r.Failed || r.Unavailable {
			t.Errorf("a tool that reports an error is there: %+v", r)
		}
	})
	exits, _ := started(t, "exits")
	c := client(t)
	lacks(t, c.Tool(exits, "echo"), "mcp server mcp.test: ")
	lacks(t, c.Tool(mcp.Server{Command: []string{"no-such-program"}}, "echo"), "mcp server no-such-program: not started: ")
	lacks(t, c.Tool(mcp.Server{URL: "http://127.0.0.1:1/mcp"}, "echo"), "connection refused")
	lacks(t, c.Tool(mcp.Server{Command: []string{"x"}, Env: []string{"NO_SUCH_KEY"}}, "echo"), "the environment has no NO_SUCH_KEY")
	lacks(t, c.Tool(mcp.Server{URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"A": "{{ env.NO_SUCH_KEY }}"}}, "echo"), "the environment has no NO_SUCH_KEY")
}

// The list of a server and the description of a tool have limits.
func TestTooMuchIsListed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tools, bytes int
		want         string
	}{
		"as much as may be": {999, 1 << 19, ""},
		"too many":          {1001, 1, "it lists more than 1000 tools"},
		"too long":          {1, 1 << 20, "described in more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			real := sdk.NewServer(&sdk.Implementation{Name: "many", Version: "1"}, nil)
			add := func(name string, bytes int) {
				real.AddTool(&sdk.Tool{Name: name, Description: strings.Repeat("x", bytes), InputSchema: map[string]any{"type": "object"}},
					func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return nil, nil })
			}
			add("first", c.bytes)
			for i := range c.tools - 1 {
				add(fmt.Sprint("t", i), 1)
			}
			web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return real }, nil))
			t.Cleanup(web.Close)
			_, err := client(t).Tool(mcp.Server{URL: web.URL}, "first").Described(t.Context())
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A tool that a server no longer has is unavailable, however the server reports
// it.
func TestVanished(t *testing.T) {
	real := testServer(nil)
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return real }, nil))
	t.Cleanup(web.Close)
	c := client(t)
	s := mcp.Server{URL: web.URL}
	echo := c.Tool(s, "echo")
	if r := run(t, echo, say("x")); r.Value != "x" {
		t.Fatalf("got %v", r.Text())
	}
	real.RemoveTools("echo")
	lacks(t, echo, `no tool is called "echo"; there are big`)
	if _, err := echo.Described(t.Context()); err == nil {
		t.Error("it is still described")
	}
	unknown, _ := started(t, "script", `CAPSTAN_MCP_REPLY={"jsonrpc":"2.0","id":ID,"result":{"isError":true,"content":[{"type":"text","text":"Unknown tool: serch"}]}}`)
	lacks(t, c.Tool(unknown, "serch"), `no tool is called "serch"; there are check`)
}

// Output that is not a message does not prevent the reading of messages. It is
// reported once.
func TestNoise(t *testing.T) {
	t.Parallel()
	s, starts := started(t, "noisy")
	c := client(t)
	for range 3 {
		if r := run(t, c.Tool(s, "echo"), say("x")); r.Value != "x" {
			t.Fatalf("got %v", r.Text())
		}
	}
	if r := run(t, c.Tool(s, "big"), say("")); len(r.Text()) != 1<<20 {
		t.Errorf("%.100s", r.Text())
	}
	fails(t, c.Tool(s, "fail"), say("swim"), "cannot swim")
	if n := len(starts()); n != 1 {
		t.Errorf("%d starts", n)
	}
	if notes := c.Notes(); len(notes) != 1 || !strings.Contains(notes[0], `mcp.test prints text that is not a message, such as "welcome"`) {
		t.Errorf("got %q", notes)
	}
	quiet, _ := started(t, "server")
	other := client(t)
	if run(t, other.Tool(quiet, "echo"), say("x")); len(other.Notes()) != 0 {
		t.Errorf("got %q", other.Notes())
	}
}

// A started server sees its arguments. Its error messages do not repeat them.
func TestServerEnvironment(t *testing.T) {
	t.Setenv("MY_KEY", "a-secret-key")
	t.Setenv("OTHER_KEY", "another-secret")
	s, _ := started(t, "says", "MY_KEY", "MINE=own")
	r := run(t, client(t).Tool(s, "echo"), nil)
	if text := r.Text(); !strings.Contains(text, "[redacted MY_KEY] own ") || strings.Contains(text, "secret") {
		t.Errorf("got %s", text)
	}
}

// refusing answers with a status and the request.
func refusing(t *testing.T, status int) (s mcp.Server, asked *atomic.Int32) {
	asked = &atomic.Int32{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.WriteHeader(status)
		fmt.Fprintf(w, "<p>no entry for\n %s of %s</p>%s", r.Header.Get("Authorization"), r.Header.Get("X-Team"), strings.Repeat("x", 1<<20))
	}))
	t.Cleanup(web.Close)
	return mcp.Server{URL: web.URL, Headers: map[string]string{"Authorization": "Bearer {{ env.MY_KEY }}", "x-team": "owls"}}, asked
}

// The reason of a refusal is reported with limited length and without the
// secrets of the request.
func TestRefusals(t *testing.T) {
	t.Setenv("MY_KEY", "a-secret-key\n")
	for _, status := range []int{400, 401, 403, 404, 429, 500, 503} {
		s, _ := refusing(t, status)
		r := run(t, client(t).Tool(s, "echo"), say(""))
		want := fmt.Sprintf("status %d: <p>no entry for Bearer [redacted MY_KEY] of owls</p>", status)
		if text := r.Text(); !r.Unavailable || !strings.Contains(text, want) || len(text) > 2500 || strings.Contains(text, "secret") {
			t.Errorf("%d: got %v %d bytes: %.400s", status, r.Unavailable, len(text), text)
		}
	}
}

// TestHeaders checks that every request to the server has the headers. Other
// hosts must not get the headers.
func TestHeaders(t *testing.T) {
	t.Setenv("MY_KEY", "a-secret-key")
	real, _ := listening(t)
	var without, requests atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("Authorization") != "Bearer a-secret-key" {
			without.Add(1)
		}
		proxy(real.URL).ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	headers := map[string]string{"Authorization": "Bearer {{ env.MY_KEY }}"}
	c := client(t)
	if r := run(t, c.Tool(mcp.Server{URL: web.URL, Headers: headers}, "echo"), say("x")); r.Value != "x" {
		t.Errorf("got %v", r.Text())
	}
	if c.Close(); requests.Load() < 4 || without.Load() > 0 {
		t.Errorf("%d of %d requests had no header", without.Load(), requests.Load())
	}
	away := httptest.NewServer(http.RedirectHandler(web.URL, http.StatusTemporaryRedirect))
	t.Cleanup(away.Close)
	before := requests.Load()
	lacks(t, client(t).Tool(mcp.Server{URL: away.URL, Headers: headers}, "echo"), "another host")
	if requests.Load() != before {
		t.Error("another host was asked")
	}
}

// restarts starts a real server that again replaces by a new one. strange answers
// requests with a session that the new server does not know. The listener stays
// open, so no other process can take the port between two servers.
func restarts(t *testing.T, strange http.HandlerFunc) (s mcp.Server, again func()) {
	var current atomic.Pointer[http.HandlerFunc]
	begin := func() {
		var known atomic.Bool
		real := testServer(nil)
		handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return real }, nil)
		serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strange != nil && r.Header.Get("Mcp-Session-Id") != "" && !known.Load() {
				strange(w, r)
				return
			}
			known.Store(true)
			handler.ServeHTTP(w, r)
		})
		current.Store(&serve)
	}
	begin()
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*current.Load())(w, r) }))
	// If a connection breaks during a call, nobody knows whether the server took the
	// call. TestTakenOnce covers that case.
	web.Config.SetKeepAlivesEnabled(false)
	web.Start()
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return mcp.Server{URL: web.URL}, func() {
		begin()
		web.CloseClientConnections()
	}
}

func TestRestarts(t *testing.T) {
	t.Parallel()
	for name, strange := range map[string]http.HandlerFunc{
		"404": nil,
		"400 with a message": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`)
		},
		"404 with a message": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, again := restarts(t, strange)
			c := client(t)
			echo := c.Tool(s, "echo")
			for i := range 4 {
				if r := run(t, echo, say("x")); r.Value != "x" {
					t.Fatalf("%d: got %v", i, r.Text())
				}
				if _, err := echo.Described(t.Context()); err != nil {
					t.Fatalf("%d: got %v", i, err)
				}
				again()
			}
		})
	}
}

// A call that a server has received is not repeated, whatever happens to the
// server.
func TestTakenOnce(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	lower := lowest("text/event-stream", "id: 1\ndata: \n\n")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(text)))
		w.Header().Set("Mcp-Session-Id", "s")
		if !strings.Contains(string(text), "tools/call") {
			lower.ServeHTTP(w, r)
			return
		}
		calls.Add(1)
		lower.ServeHTTP(w, r)
		w.(http.Flusher).Flush()
		l.Close() // from here on there is no server
		panic(http.ErrAbortHandler)
	})}
	go web.Serve(l)
	t.Cleanup(func() { web.Close() })
	c := &mcp.Client{Timeout: patience}
	t.Cleanup(func() { c.Close() })
	r := run(t, c.Tool(mcp.Server{URL: "http://" + l.Addr().String()}, "check"), nil)
	if !r.Failed || r.Unavailable || calls.Load() != 1 {
		t.Errorf("%d calls: gone %v, %s", calls.Load(), r.Unavailable, r.Text())
	}
}
