package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"
)

// own is a transport of ours.
func own(t *testing.T) *Transport {
	if !watches {
		t.Skip("all goes over net/http here")
	}
	behind := http.DefaultTransport.(*http.Transport).Clone()
	behind.MaxIdleConnsPerHost = 8
	p := New(behind)
	t.Cleanup(p.CloseIdleConnections)
	return p
}

func post(ctx context.Context, url, body string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	return r
}

// say asks and reads the answer to its end.
func say(rt http.RoundTripper, r *http.Request) (status int, text string, err error) {
	resp, err := rt.RoundTrip(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw), err
}

// A raw endpoint has one goroutine for each connection, numbered from 1.
func raw(t *testing.T, serve func(n int, c net.Conn, r *bufio.Reader)) (address string, dialled *atomic.Int64) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dialled = new(atomic.Int64)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n := int(dialled.Add(1))
			t.Cleanup(func() { c.Close() })
			all.Go(func() { serve(n, c, bufio.NewReader(c)) })
		}
	})
	t.Cleanup(func() { l.Close() })
	return "http://" + l.Addr().String(), dialled
}

// heard reads one request to its end.
func heard(r *bufio.Reader) (string, bool) {
	q, err := http.ReadRequest(r)
	if err != nil {
		return "", false
	}
	text, err := io.ReadAll(q.Body)
	return string(text), err == nil
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// What comes back is what net/http gives for the same bytes, and a connection
// serves again where it does there.
func TestAsNetHTTP(t *testing.T) {
	for name, one := range map[string]struct {
		answer string
		close  bool // the endpoint closes behind it
	}{
		"length":        {answer: ok},
		"chunks":        {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"},
		"no body":       {answer: "HTTP/1.1 204 No Content\r\n\r\n"},
		"empty":         {answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		"to the end":    {answer: "HTTP/1.1 200 OK\r\n\r\nall that comes", close: true},
		"1.0":           {answer: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", close: true},
		"closing":       {answer: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", close: true},
		"not closing":   {answer: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"},
		"says continue": {answer: "HTTP/1.1 100 Continue\r\n\r\n" + ok},
		"early hints":   {answer: "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + ok},
		"an error":      {answer: "HTTP/1.1 429 Slow Down\r\nRetry-After: 3\r\nContent-Length: 4\r\n\r\nwait"},
		"cut":           {answer: "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok", close: true},
		"cut chunk":     {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nok", close: true},
		"bad chunk":     {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n", close: true},
		"no HTTP":       {answer: "SSH-2.0-OpenSSH_9\r\n", close: true},
		"a TLS alert":   {answer: "\x15\x03\x01\x00\x02\x02\x28", close: true},
		"nothing":       {answer: "", close: true},
		"two lengths":   {answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", close: true},
	} {
		serve := func(_ int, c net.Conn, r *bufio.Reader) {
			for {
				if _, ok := heard(r); !ok {
					return
				}
				io.WriteString(c, one.answer)
				if one.close {
					c.Close()
					return
				}
			}
		}
		ours, theirs := own(t), http.DefaultTransport.(*http.Transport).Clone()
		to, dialled := raw(t, serve)
		reference, redialled := raw(t, serve)
		for i := range 3 {
			status, text, err := say(ours, post(t.Context(), to, "q"))
			wantStatus, wantText, wantErr := say(theirs, post(t.Context(), reference, "q"))
			if status != wantStatus || text != wantText || (err == nil) != (wantErr == nil) {
				t.Errorf("%s, %d: %d %q %v, of net/http %d %q %v", name, i, status, text, err, wantStatus, wantText, wantErr)
			}
		}
		if dialled.Load() != redialled.Load() {
			t.Errorf("%s: %d connections, of net/http %d", name, dialled.Load(), redialled.Load())
		}
		theirs.CloseIdleConnections()
	}
}

// A connection that was closed while it was idle is not asked, and no request is
// sent twice, whenever the endpoint goes.
func TestNeverTwice(t *testing.T) {
	var mu sync.Mutex
	times := map[string]int{}
	to, _ := raw(t, func(n int, c net.Conn, r *bufio.Reader) {
		defer c.Close()
		for i := 0; ; i++ {
			text, read := heard(r)
			if !read {
				return
			}
			mu.Lock()
			times[text]++
			mu.Unlock()
			if i == n%3 { // it goes with the request heard, or
				return
			}
			io.WriteString(c, ok)
			if i+1 == n%4 { // when it has answered
				return
			}
		}
	})
	p, failed := own(t), 0
	for i := range 300 {
		if _, _, err := say(p, post(t.Context(), to, fmt.Sprint(i))); err != nil {
			failed++
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for text, n := range times {
		if n > 1 {
			t.Errorf("%s was heard %d times", text, n)
		}
	}
	if len(times) < 250 || failed == 0 || failed > 200 {
		t.Errorf("%d of 300 were heard, %d failed", len(times), failed)
	}
}

// What an endpoint says unasked is not taken for the next answer.
func TestUnasked(t *testing.T) {
	behind := make(chan bool)
	to, dialled := raw(t, func(n int, c net.Conn, r *bufio.Reader) {
		for {
			text, read := heard(r)
			if !read {
				return
			}
			answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
			if text == "at once" {
				answer += "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"
			}
			io.WriteString(c, answer)
			if text == "later" {
				<-behind
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad")
				behind <- true
			}
		}
	})
	p := own(t)
	for _, text := range []string{"first", "at once", "second", "later", "third", "fourth"} {
		if _, got, err := say(p, post(t.Context(), to, text)); got != text || err != nil {
			t.Errorf("%s: %q, %v", text, got, err)
		}
		if text == "later" {
			behind <- true
			<-behind
		}
	}
	if n := dialled.Load(); n != 3 {
		t.Errorf("%d connections", n)
	}
}

// A context ends whatever is under way, and says why; the connection serves nobody
// afterwards.
func TestEnded(t *testing.T) {
	why := errors.New("enough")
	reached := make(chan bool, 1)
	var late atomic.Bool
	to, _ := raw(t, func(_ int, c net.Conn, r *bufio.Reader) {
		text, _ := heard(r)
		for text == "well" {
			io.WriteString(c, ok)
			text, _ = heard(r)
		}
		switch text {
		case "":
			return
		case "late":
			late.Store(true)
		case "head":
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-")
		case "body":
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok")
		}
		reached <- true
		io.Copy(io.Discard, c)
	})
	p := own(t)
	for _, at := range []string{"silence", "head", "body"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { <-reached; cancel(why) }()
		if _, _, err := say(p, post(ctx, to, at)); !errors.Is(err, why) {
			t.Errorf("%s: %v", at, err)
		}
		if _, text, err := say(p, post(t.Context(), to, "well")); text != "ok" || err != nil {
			t.Errorf("after %s: %q, %v", at, text, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, _, err := say(p, post(ctx, to, "silence")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	gone, end := context.WithCancelCause(t.Context())
	end(why)
	for range 20 {
		if _, _, err := say(p, post(t.Context(), to, "well")); err != nil { // there is one that is idle
			t.Fatal(err)
		}
		if _, _, err := say(p, post(gone, to, "late")); !errors.Is(err, why) {
			t.Errorf("%v", err)
		}
	}
	if late.Load() {
		t.Error("it was sent when its context was over")
	}

	// One that ends when all has come, and nothing has been read.
	ctx, end = context.WithCancelCause(t.Context())
	resp, err := p.RoundTrip(post(ctx, to, "well"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan bool)
	context.AfterFunc(ctx, func() { close(ended) })
	end(why)
	<-ended
	time.Sleep(time.Millisecond) // for the connection to hear it too
	_, _ = io.ReadAll(resp.Body)
	if _, text, err := say(p, post(t.Context(), to, "well")); text != "ok" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// A body that fails fails the request, at once.
func TestBodyFails(t *testing.T) {
	to, _ := raw(t, func(_ int, _ net.Conn, r *bufio.Reader) { heard(r) })
	r := post(t.Context(), to, "a question")
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader("a "), iotest.ErrReader(errors.New("no more"))))
	if _, _, err := say(own(t), r); err == nil || err.Error() != "no more" {
		t.Errorf("%v", err)
	}
}

// An endpoint that fills memory, or never comes to the point, is left.
func TestEndless(t *testing.T) {
	for name, piece := range map[string]string{"lines": "X: y\r\n", "one line": "yyyyyyyyyyyyyyyy", "infos": "\r\nHTTP/1.1 100 Continue\r\n"} {
		to, _ := raw(t, func(_ int, c net.Conn, r *bufio.Reader) {
			heard(r)
			io.WriteString(c, "HTTP/1.1 100 Continue\r\n")
			for {
				if _, err := io.WriteString(c, strings.Repeat(piece, 1000)); err != nil {
					return
				}
			}
		})
		if _, _, err := say(own(t), post(t.Context(), to, "q")); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// An endpoint may refuse a request before it has read it, and close.
func TestRefusedEarly(t *testing.T) {
	to, _ := raw(t, func(_ int, c net.Conn, r *bufio.Reader) {
		r.ReadString('\n')
		io.WriteString(c, "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig")
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, c)
		c.Close()
	})
	status, text, err := say(own(t), post(t.Context(), to, strings.Repeat("x", longest)))
	if status != http.StatusRequestEntityTooLarge || text != "big" || err != nil {
		t.Errorf("%d %q %v", status, text, err)
	}
}

// Idle connections are as many as may be, and go when their time has come.
func TestIdle(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }))
	var open atomic.Int64
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	server.Start()
	defer server.Close()
	p := own(t)
	p.behind.IdleConnTimeout = 50 * time.Millisecond
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			for k := range 20 {
				want := fmt.Sprintf("%d of %d", k, i)
				if _, text, err := say(p, post(t.Context(), server.URL, want)); text != want || err != nil {
					t.Errorf("%q for %q, %v", text, want, err)
				}
			}
		})
	}
	all.Wait()
	p.mu.Lock()
	n := len(p.idle[strings.TrimPrefix(server.URL, "http://")])
	p.mu.Unlock()
	if n > 8 {
		t.Errorf("%d are idle", n)
	}
	for open.Load() > 0 { // until the test's own time is over
		time.Sleep(time.Millisecond)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) != 0 || p.waking != nil {
		t.Errorf("%d hosts are remembered", len(p.idle))
	}
}

// What cannot be said over a connection of our own goes over net/http.
func TestBehind(t *testing.T) {
	p := own(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
	defer server.Close()
	p.behind.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	if _, text, err := say(p, post(t.Context(), server.URL, "q")); !strings.HasPrefix(text, "HTTP/") || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	proxied, n := raw(t, func(_ int, c net.Conn, r *bufio.Reader) {
		heard(r)
		io.WriteString(c, ok)
	})
	proxy, err := url.Parse(proxied)
	if err != nil {
		t.Fatal(err)
	}
	p.behind.Proxy = http.ProxyURL(proxy)
	if _, text, err := say(p, post(t.Context(), "http://nowhere.invalid/", "q")); text != "ok" || err != nil || n.Load() != 1 {
		t.Errorf("%q, %v: %d over the proxy", text, err, n.Load())
	}
	for name, change := range map[string]func(*http.Request){
		"HEAD":    func(r *http.Request) { r.Method = http.MethodHead },
		"expects": func(r *http.Request) { r.Header.Set("Expect", "100-continue") },
		"long":    func(r *http.Request) { r.ContentLength = longest + 1 },
		"unknown": func(r *http.Request) { r.ContentLength = -1 },
		"abroad":  func(r *http.Request) { r.URL.Host = "bücher.example" },
	} {
		r := post(t.Context(), "http://127.0.0.1/", "q")
		change(r)
		p.behind.Proxy = nil
		if p.speaks(r) {
			t.Errorf("%s: it would be sent", name)
		}
	}
}

// An answer that nobody reads to its end takes its connection with it.
func TestUnread(t *testing.T) {
	to, dialled := raw(t, func(_ int, c net.Conn, r *bufio.Reader) {
		for {
			if _, ok := heard(r); !ok {
				return
			}
			io.WriteString(c, ok)
		}
	})
	p := own(t)
	for range 2 {
		resp, err := p.RoundTrip(post(t.Context(), to, "q"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if n, err := resp.Body.Read(make([]byte, 1)); n > 0 || err == nil {
			t.Errorf("%d, %v of what was closed", n, err)
		}
		resp.Body.Close()
	}
	if dialled.Load() != 2 {
		t.Errorf("%d connections", dialled.Load())
	}
}

// BenchmarkRoundTrip holds a question of a kilobyte over a connection of ours
// against one over net/http's.
func BenchmarkRoundTrip(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, "ok")
	}))
	defer server.Close()
	behind := http.DefaultTransport.(*http.Transport).Clone()
	for name, rt := range map[string]http.RoundTripper{"own": New(behind), "net/http": behind} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := say(rt, post(context.Background(), server.URL, strings.Repeat("q", 1000))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
