package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/internal/tracecontext"
)

var errTooLarge = errors.New("the reply is too large")

// A fault is the error that ended the reading of a session. The SDK replaces the error
// with its own.
type fault struct{ atomic.Pointer[error] }

func (f *fault) set(err error) error {
	f.Store(&err)
	return err
}

// A bounded is an HTTP transport that adds the headers of a server. Its response bodies
// end with an error after max bytes.
type bounded struct {
	headers http.Header
	max     int64
	fault   *fault
}

func newBounded(s Server, limit int64, fault *fault) (bounded, error) {
	b := bounded{headers: http.Header{}, max: limit, fault: fault}
	if missing := process.Missing(s.lent()); len(missing) > 0 {
		return b, fmt.Errorf("not reached: the environment has no %s", strings.Join(missing, " and no "))
	}
	for name, text := range s.Headers {
		value, err := process.Expand(text)
		if err != nil {
			return b, err
		}
		b.headers.Set(name, strings.TrimSpace(value))
	}
	return b, nil
}

// sessionHeader is the header with the id of the session.
const sessionHeader = "Mcp-Session-Id"

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	maps.Copy(r.Header, b.headers)
	tracecontext.Inject(r.Context(), r.Header.Set)
	resp, err := http.DefaultTransport.RoundTrip(r)
	log, _ := r.Context().Value(requestLogKey{}).(*requestLog)
	var network *net.OpError
	switch {
	case err != nil:
		log.refused(r, 0, "", errors.As(err, &network) && network.Op == "dial")
		return nil, err
	case resp.StatusCode < 400:
		log.accepted(r)
	default:
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxTail))
		log.refused(r, resp.StatusCode, string(body), r.Header.Get(sessionHeader) != "" && isUnknownSession(resp.StatusCode, body))
		resp.Body = readCloser{io.MultiReader(bytes.NewReader(body), resp.Body), resp.Body}
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	resp.Body = newExact(&boundedBody{ReadCloser: resp.Body, left: b.max, fault: b.fault}, b.max, kind == "application/json", b.fault)
	return resp, nil
}

// isUnknownSession reports whether a response means that the session does not exist.
// The protocol uses status 404, and many servers use 400.
func isUnknownSession(status int, body []byte) bool {
	return status == http.StatusNotFound || status == http.StatusBadRequest && bytes.Contains(bytes.ToLower(body), []byte("session"))
}

type readCloser struct {
	io.Reader
	io.Closer
}

// A requestLog has the HTTP error of a server. The SDK returns the error of a closed
// session for all its calls, also for calls that the server received.
type requestLog struct {
	mu       sync.Mutex
	status   int    // 0 for no connection
	body     string // the beginning of the body
	received bool   // the server received a request, so a later error does not belong to that request
	unseen   bool   // the session did not receive the request
}

type requestLogKey struct{}

// logRequests returns a context that logs its requests.
func logRequests(ctx context.Context) (context.Context, *requestLog) {
	h := &requestLog{}
	return context.WithValue(ctx, requestLogKey{}, h), h
}

// refused logs a request that failed. The log may be nil.
func (h *requestLog) refused(r *http.Request, status int, body string, unseen bool) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status, h.body = status, body
	h.unseen = unseen && !h.received && r.Method == http.MethodPost
}

// accepted logs a request that the server received.
func (h *requestLog) accepted(r *http.Request) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.received = h.received || r.Method == http.MethodPost
}

// explain adds the response of the server to an error. The error matches errUnseen if
// the session did not receive the request.
func (h *requestLog) explain(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var answer struct{ Error struct{ Message string } }
	_ = json.Unmarshal([]byte(h.body), &answer) // the SDK already reports an error of JSON-RPC
	if message := answer.Error.Message; h.status != 0 && (message == "" || !strings.Contains(err.Error(), message)) {
		err = fmt.Errorf("%w (status %d: %s)", err, h.status, strings.Join(strings.Fields(strings.ToValidUTF8(h.body, "")), " "))
	}
	if h.unseen {
		err = unseenError{err}
	}
	return err
}

type boundedBody struct {
	io.ReadCloser
	left  int64
	fault *fault
}

// Read implements [io.Reader].
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, b.fault.set(errTooLarge)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// sameHost allows only redirects to the same host, so that other hosts do not
// get the headers.
func sameHost(r *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("too many redirects")
	}
	if r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
		return fmt.Errorf("it redirects to another host, %s", r.URL.Host)
	}
	return nil
}
