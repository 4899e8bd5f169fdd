package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/mcp"
	"github.com/seed61713e19/capstan/runner/tool/tooltest"
)

func say(words string) map[string]any { return map[string]any{"say": words} }

func run(t *testing.T, tl tool.Tool, arguments map[string]any) tool.Result {
	t.Helper()
	r, err := tl.Run(t.Context(), tool.Call{Name: tl.Name, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fails(t *testing.T, tl tool.Tool, arguments map[string]any, want string) {
	t.Helper()
	r := run(t, tl, arguments)
	if !r.Failed || !strings.Contains(r.Text(), want) {
		t.Errorf("got %v %.300q, want a failure that says %q", r.Failed, r.Text(), want)
	}
}

// each runs a test with two servers: a child process and an HTTP server.
func each(t *testing.T, test func(t *testing.T, c *mcp.Client, s mcp.Server)) {
	t.Run("command", func(t *testing.T) {
		s, _ := started(t, "server")
		test(t, client(t), s)
	})
	t.Run("url", func(t *testing.T) {
		s, _ := listening(t)
		test(t, client(t), s)
	})
}

func TestTool(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c *mcp.Client, s mcp.Server) {
		tooltest.Run(t, c.Tool(s, "echo"), say("hello"))
		echo := c.Tool(s, "echo")
		for text, want := range map[string]any{"hello\n": "hello", "": ""} {
			if r := run(t, echo, say(text)); r.Failed || r.Value != want {
				t.Errorf("%q: got %q", text, r.Value)
			}
		}
		if r := run(t, echo, say(`{"a": 1}`)); r.Text() != `{"a":1}` || fmt.Sprintf("%T", r.Value) != "map[string]interface {}" {
			t.Errorf("got %#v", r.Value)
		}
		if r := run(t, c.Tool(s, "check"), map[string]any{"content": "four", "max": 9}); r.Text() != `{"reason":"4 of 9, by <nil>","valid":true}` {
			t.Errorf("got %s", r.Text())
		}
		if r := run(t, c.Tool(s, "parts"), say("")); r.Text() != "see\n[image image/png, 3 bytes]\n[resource file:///a]\ninside" {
			t.Errorf("got %q", r.Text())
		}
		fails(t, c.Tool(s, "fail"), say("swim"), "error: cannot swim")
		fails(t, c.Tool(s, "none"), nil, `no tool is called "none"; there are big, check`)
		if got := echo.Params()["required"].([]any); got[0] != "say" {
			t.Errorf("got %v", got)
		}
		_, err := c.Tool(s, "none").Described(t.Context())
		if err == nil || !strings.Contains(err.Error(), `no tool is called "none"; there are big, check, closed, crash, echo`) {
			t.Errorf("got %v", err)
		}
	})
}

func TestOneServerForAll(t *testing.T) {
	s, starts := started(t, "server")
	c := client(t)
	if len(starts()) != 0 {
		t.Error("started before it was needed")
	}
	var callers sync.WaitGroup
	for i := range 20 {
		callers.Go(func() {
			words := strconv.Itoa(i)
			if r := run(t, c.Tool(s, "echo"), say(words)); r.Value != words {
				t.Errorf("got %v", r.Value)
			}
		})
	}
	callers.Wait()
	if n := len(starts()); n != 1 {
		t.Errorf("%d starts", n)
	}
}

func TestCrashAndRestart(t *testing.T) {
	s, starts := started(t, "server")
	c := client(t)
	fails(t, c.Tool(s, "crash"), say(""), "(exit status 9: out of cheese)")
	if r := run(t, c.Tool(s, "echo"), say("again")); r.Value != "again" {
		t.Errorf("got %v", r.Value)
	}
	if n := len(starts()); n != 2 {
		t.Errorf("%d starts: a call that may have had effects is not repeated", n)
	}
}

// A server that ends during a read causes an error for the writer.
func TestEndsWhileWrittenTo(t *testing.T) {
	t.Parallel()
	s, _ := started(t, "script") // ends at a line of 16 MB
	fails(t, client(t).Tool(s, "check"), say(strings.Repeat("x", 17<<20)), "(exit status 2: ")
}

func TestHTTPServerIsStartedAnew(t *testing.T) {
	var mu sync.Mutex
	real, _ := listening(t)
	handler := http.Handler(http.NotFoundHandler())
	next := func() {
		mu.Lock()
		defer mu.Unlock()
		handler = proxy(real.URL)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		h := handler
		mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	c := client(t)
	echo := c.Tool(mcp.Server{URL: web.URL}, "echo")
	fails(t, echo, say("x"), "mcp server "+web.URL+": ")
	next()
	if r := run(t, echo, say("x")); r.Value != "x" {
		t.Fatalf("got %v", r.Text())
	}
	real, _ = listening(t) // does not know the session
	next()
	if r := run(t, echo, say("y")); r.Value != "y" {
		t.Errorf("got %v", r.Text())
	}
}

func TestHTTPCutMidCall(t *testing.T) {
	t.Parallel()
	s, cut := listening(t)
	c := client(t)
	hang := c.Tool(s, "hang")
	if _, err := hang.Described(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := make(chan tool.Result)
	go func() { done <- run(t, hang, say("")) }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case r := <-done:
			if !r.Failed {
				t.Errorf("got %v", r.Text())
			}
			return
		case <-tick.C:
			cut()
		}
	}
}

func TestHangs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c *mcp.Client, s mcp.Server) {
		quick := client(t)
		impatient(t, quick, s)
		fails(t, quick.Tool(s, "hang"), say(""), "no answer within 1s")
		quick.Timeout = patience
		if r := run(t, quick.Tool(s, "echo"), say("still here")); r.Value != "still here" {
			t.Errorf("got %v", r.Text())
		}
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
		if _, err := c.Tool(s, "hang").Run(ctx, tool.Call{Arguments: say("")}); !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
	})
}

func TestServersThatAreNone(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]string{
		"prints": `not ready within 5s; it printed text that is not a message: "Listening on stdin… ready!"`,
		"flood":  "the reply is too large",
		"exits":  "(exit status 4: no configuration)",
		"silent": "not ready within 1s",
		"deaf":   "not ready within 1s",
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			s, starts := started(t, role)
			c := &mcp.Client{Timeout: patience, MaxReply: 1 << 16}
			if strings.Contains(want, "within") {
				c.Timeout = time.Second
			}
			if role == "prints" { // takes some time
				c.Timeout = 5 * time.Second
			}
			fails(t, c.Tool(s, "echo"), say(""), want)
			c.Close()
			checkExited(t, starts())
		})
	}
	c := client(t)
	for want, s := range map[string]mcp.Server{
		"neither command nor url":     {},
		"command and url are both":    {Command: []string{"x"}, URL: "http://x"},
		"not an http or https URL":    {URL: "ftp://x"},
		"not started: ":               {Command: []string{"/no/such/program"}},
		"mcp server http://127.0.0.1": {URL: "http://127.0.0.1:1/"},
	} {
		fails(t, c.Tool(s, "x"), nil, want)
	}
}

// checkExited checks that none of these processes remains.
func checkExited(t *testing.T, pids []string) {
	t.Helper()
	if len(pids) == 0 {
		t.Error("none was started")
	}
	for _, text := range pids {
		pid, _ := strconv.Atoi(text)
		at, err := os.FindProcess(pid)
		if err == nil {
			err = at.Signal(syscall.Signal(0))
		}
		if !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	s, starts := started(t, "server")
	c := client(t)
	run(t, c.Tool(s, "echo"), say(""))
	done := make(chan tool.Result)
	go func() { done <- run(t, c.Tool(s, "hang"), say("")) }()
	c.Close()
	if r := <-done; !r.Failed {
		t.Errorf("got %v", r)
	}
	checkExited(t, starts())
	fails(t, c.Tool(s, "echo"), say(""), "the client is closed")
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestOrphans checks that the child processes of a server end with the server,
// even after a crash.
func TestOrphans(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	s, _ := started(t, "orphans", "CAPSTAN_MCP_SOCKET="+socket)
	fails(t, client(t).Tool(s, "echo"), nil, "exit status 7")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		conn, err := net.Dial("unix", socket)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err == nil {
			conn.Close()
		}
		if ctx.Err() != nil {
			t.Fatalf("the orphan is alive: %v", err)
		}
	}
}

func TestRedirects(t *testing.T) {
	real, _ := listening(t)
	at := func(to string) mcp.Server {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, to, http.StatusTemporaryRedirect)
				return
			}
			proxy(real.URL).ServeHTTP(w, r)
		}))
		t.Cleanup(web.Close)
		return mcp.Server{URL: web.URL + "/"}
	}
	c := client(t)
	if r := run(t, c.Tool(at("/mcp"), "echo"), say("x")); r.Value != "x" {
		t.Errorf("got %v", r.Text())
	}
	fails(t, c.Tool(at(real.URL), "echo"), say("x"), "it redirects to another host")
}

// A server that stops reading does not block its callers and is replaced.
func TestServerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	s, starts := started(t, "script", "CAPSTAN_MCP_REPLY=stop")
	c := client(t)
	impatient(t, c, s)
	check := c.Tool(s, "check")
	fails(t, check, say(""), "no answer within 1s")
	for len(starts()) < 2 { // until the server that hangs is replaced
		run(t, check, say(strings.Repeat("x", 1<<20)))
	}
	c.Close()
	checkExited(t, starts())
}

func TestHugeReply(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c *mcp.Client, s mcp.Server) {
		if r := run(t, c.Tool(s, "big"), say("")); r.Failed || len(r.Text()) != 1<<20 {
			t.Errorf("1 MiB is not too much: %.100s", r.Text())
		}
		small := &mcp.Client{MaxReply: 64 << 10, Timeout: patience}
		defer small.Close()
		fails(t, small.Tool(s, "big"), say(""), "the reply is too large")
		if r := run(t, small.Tool(s, "echo"), say("again")); r.Value != "again" {
			t.Errorf("got %v", r.Text())
		}
	})
}

func TestServerThatKnowsNoInitialize(t *testing.T) {
	t.Parallel()
	s, starts := started(t, "script", "CAPSTAN_MCP_REPLY=modern")
	if r := run(t, client(t).Tool(s, "check"), nil); r.Value != "modern times" {
		t.Errorf("got %v", r.Text())
	}
	if n := len(starts()); n != 2 {
		t.Errorf("%d starts", n)
	}
}

func proxy(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, _ := http.NewRequestWithContext(r.Context(), r.Method, to, r.Body)
		out.Header = r.Header.Clone()
		resp, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		for k, v := range resp.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(resp.StatusCode)
		buf := make([]byte, 4096)
		for {
			n, err := resp.Body.Read(buf)
			w.Write(buf[:n])
			w.(http.Flusher).Flush()
			if err != nil {
				return
			}
		}
	})
}
