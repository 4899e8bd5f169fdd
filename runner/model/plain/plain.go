// Package plain is HTTP/1.1 without TLS, spoken in the goroutine that asks. It is
// an [http.RoundTripper] for models on one's own machine or network, whose answers
// take no longer than the machinery around them does.
//
// [http.Transport] has two goroutines for each connection, and hands every request
// to the one and every answer from the other: that is what lets it read while it
// writes, and see at once that an idle connection was closed. Here a request is
// written and its answer read by whoever asks, and an idle connection is looked at
// when it is taken. What this cannot do goes to the http.Transport behind it: TLS,
// and with it HTTP/2, proxies, traces, and requests that are too long to be written
// while nobody reads.
package plain

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	longest   = 64 << 10  // of a body: about what a socket takes in before anybody reads
	mostHead  = 256 << 10 // of an answer, with those that only say that it will come
	readSize  = 4 << 10   // held by each connection
	writeSize = 16 << 10  // held while a request is written: what is shorter goes out in one piece
)

// A Transport keeps connections to the hosts that it was asked for. It is safe for
// concurrent use. A request is never sent twice.
type Transport struct {
	behind *http.Transport

	mu     sync.Mutex
	idle   map[string][]*conn // by address; the one used last is last
	waking *time.Timer        // closes what was idle for long; nil while nothing is idle
}

// New makes a transport. The one behind it says how to dial, which requests go over
// a proxy, how many connections are kept idle for each host, and for how long.
func New(behind *http.Transport) *Transport {
	return &Transport{behind: behind, idle: map[string][]*conn{}}
}

// RoundTrip asks. The error is the context's cause where that is over.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !t.speaks(r) {
		return t.behind.RoundTrip(r)
	}
	ctx := r.Context()
	if err := ctx.Err(); err != nil {
		closeBody(r)
		return nil, context.Cause(ctx)
	}
	c, err := t.take(ctx, address(r))
	if err != nil {
		closeBody(r)
		return nil, over(ctx, err)
	}
	c.heed(ctx)
	resp, err := c.exchange(r)
	if err != nil {
		c.drop()
		return nil, over(ctx, err)
	}
	return resp, nil
}

// CloseIdleConnections closes those that nobody uses.
func (t *Transport) CloseIdleConnections() {
	t.sweep(0)
	t.behind.CloseIdleConnections()
}

// speaks says whether a request can go over a connection of our own.
func (t *Transport) speaks(r *http.Request) bool {
	switch {
	case !watches || r.URL.Scheme != "http" || r.Method == http.MethodConnect || r.Method == http.MethodHead || r.Trailer != nil:
		return false
	case r.ContentLength < 0 || r.ContentLength > longest || r.ContentLength == 0 && r.Body != nil && r.Body != http.NoBody:
		return false
	case strings.ContainsFunc(r.URL.Host, func(c rune) bool { return c >= utf8.RuneSelf }):
		return false // a name that is asked for in another spelling
	case r.Header.Get("Expect") != "" || r.Header.Get("Upgrade") != "" || httptrace.ContextClientTrace(r.Context()) != nil:
		return false
	case t.behind.Proxy == nil:
		return true
	}
	proxy, err := t.behind.Proxy(r)
	return err == nil && proxy == nil
}

// address is where a request goes.
func address(r *http.Request) string {
	if r.URL.Port() == "" {
		return net.JoinHostPort(r.URL.Hostname(), "80")
	}
	return r.URL.Host
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		r.Body.Close()
	}
}

// over is the error of a request: of its context where that is over, for then the
// connection was ended by us.
func over(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// take gives the connection that was used last and is still open, or a new one.
func (t *Transport) take(ctx context.Context, to string) (*conn, error) {
	for {
		c := t.pop(to)
		if c == nil {
			break
		}
		if c.quiet() {
			return c, nil
		}
		c.Close()
	}
	dial := t.behind.DialContext
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	raw, err := dial(ctx, "tcp", to)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, t: t, to: to}
	c.r = bufio.NewReaderSize(c, readSize)
	return c, nil
}

func (t *Transport) pop(to string) *conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.idle[to]
	if len(list) == 0 {
		return nil
	}
	c := list[len(list)-1]
	list[len(list)-1] = nil
	t.idle[to] = list[:len(list)-1]
	return c
}

// keep has a connection serve again.
func (t *Transport) keep(c *conn) {
	most := cmp.Or(t.behind.MaxIdleConnsPerHost, http.DefaultMaxIdleConnsPerHost)
	c.since = time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.behind.DisableKeepAlives || len(t.idle[c.to]) >= most {
		c.Close()
		return
	}
	t.idle[c.to] = append(t.idle[c.to], c)
	if after := t.behind.IdleConnTimeout; t.waking == nil && after > 0 {
		t.waking = time.AfterFunc(after, func() { t.sweep(after) })
	}
}

// sweep closes what was idle for so long. Connections are put to the end of a list and
// taken from there, so that those at its beginning have been idle for longest.
func (t *Transport) sweep(after time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := 0
	for to, list := range t.idle {
		n := 0
		for n < len(list) && time.Since(list[n].since) >= after {
			list[n].Close()
			n++
		}
		t.idle[to] = append(list[:0], list[n:]...)
		clear(list[len(list)-n:])
		if left += len(list) - n; len(list) == n {
			delete(t.idle, to)
		}
	}
	switch {
	case left == 0 && t.waking != nil:
		t.waking.Stop()
		t.waking = nil
	case left > 0 && after > 0:
		t.waking.Reset(after / 2)
	}
}

// A conn is a connection, and the answer that is read from it.
type conn struct {
	net.Conn
	t     *Transport
	to    string
	since time.Time // it is idle
	r     *bufio.Reader
	left  int             // how many bytes a head may still have, while one is read
	head  bool            // one is
	ctx   context.Context // of the request
	stop  func() bool     // ends heeding it
}

var errLongHead = errors.New("the head of the answer is too long")

// Read reads from the connection for c.r.
func (c *conn) Read(p []byte) (int, error) {
	if c.head {
		if c.left <= 0 {
			return 0, errLongHead
		}
		p = p[:min(len(p), c.left)]
	}
	n, err := c.Conn.Read(p)
	c.left -= n
	return n, err
}

// past is a time that has come for any clock.
var past = time.Unix(1, 0)

// heed has the connection end when the context does.
func (c *conn) heed(ctx context.Context) {
	c.ctx = ctx
	c.stop = context.AfterFunc(ctx, func() { _ = c.SetDeadline(past) })
}

// exchange sends a request and reads the head of the answer, which has the
// connection until its body ends.
func (c *conn) exchange(r *http.Request) (*http.Response, error) {
	werr := c.ask(r)
	if op := (*net.OpError)(nil); werr != nil && !errors.As(werr, &op) {
		return nil, werr // of the request's body: no answer will come
	}
	// An endpoint that refuses a request may say so and close while it is written.
	resp, err := c.answer(r)
	switch {
	case err != nil && werr != nil:
		return nil, werr
	case err != nil:
		return nil, err
	}
	resp.Close = resp.Close || r.Close || werr != nil
	resp.Body = &body{ReadCloser: resp.Body, c: c, keep: !resp.Close}
	return resp, nil
}

var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, writeSize) }}

// ask sends a request.
func (c *conn) ask(r *http.Request) error {
	w := writers.Get().(*bufio.Writer)
	defer writers.Put(w)
	w.Reset(c)
	defer w.Reset(nil)
	if err := r.Write(w); err != nil {
		return err
	}
	return w.Flush()
}

// answer reads a head, after those that only say that one will come.
func (c *conn) answer(r *http.Request) (*http.Response, error) {
	c.head, c.left = true, mostHead
	defer func() { c.head = false }()
	for {
		resp, err := http.ReadResponse(c.r, r)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("the connection was closed before an answer: %w", io.EOF)
		case err != nil:
			return nil, err
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, errors.New("the endpoint switches protocols unasked")
		case resp.StatusCode >= 200:
			return resp, nil
		}
	}
}

// drop ends the connection.
func (c *conn) drop() {
	c.stop()
	c.Close()
}

// A body is an answer's. Its connection serves again when it was read to its end
// without a fault.
type body struct {
	io.ReadCloser
	c    *conn
	keep bool
	err  error
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.err = b.end(err)
	}
	return n, b.err
}

// Close ends the connection of an answer that was not read to its end.
func (b *body) Close() error {
	if b.err == nil {
		b.err = b.end(http.ErrBodyReadAfterClose)
	}
	return nil
}

// end lets go of the connection.
func (b *body) end(err error) error {
	c := b.c
	b.c = nil
	switch {
	case !c.stop(): // the context is over: its deadline is set, or will be at any time
		c.Close()
		if err != io.EOF && err != http.ErrBodyReadAfterClose {
			err = over(c.ctx, err)
		}
	case err == io.EOF && b.keep && c.r.Buffered() == 0:
		c.ctx = nil
		c.t.keep(c)
	default:
		c.Close()
	}
	return err
}
