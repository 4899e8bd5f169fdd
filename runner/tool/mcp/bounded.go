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

	"go.opentelemetry.io/otel/propagation"

	"github.com/seed61713e19/capstan/runner/process"
)

var errTooLarge = errors.New("the reply is too large")

// A fault is the error for which a session has stopped reading. The SDK replaces it
// with an error of its own.
type fault struct{ atomic.Pointer[error] }

func (f *fault) set(err error) error {
	f.Store(&err)
	return err
}

// bounded is an HTTP transport that sends a server's headers, and whose replies
// end with an error behind so many bytes.
type bounded struct {
	headers http.Header
	max     int64
	fault   *fault
}

func newBounded(s Server, most int64, fault *fault) (bounded, error) {
	b := bounded{headers: http.Header{}, max: most, fault: fault}
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

// sessionHeader tells which session a request belongs to.
const sessionHeader = "Mcp-Session-Id"

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	maps.Copy(r.Header, b.headers)
	propagation.TraceContext{}.Inject(r.Context(), propagation.HeaderCarrier(r.Header))
	resp, err := http.DefaultTransport.RoundTrip(r)
	heard, _ := r.Context().Value(heardKey{}).(*heard)
	var network *net.OpError
	switch {
	case err != nil:
		heard.refused(r, 0, "", errors.As(err, &network) && network.Op == "dial")
		return nil, err
	case resp.StatusCode < 400:
		heard.taken(r)
	default:
		said, _ := io.ReadAll(io.LimitReader(resp.Body, maxTail))
		heard.refused(r, resp.StatusCode, string(said), r.Header.Get(sessionHeader) != "" && unknown(resp.StatusCode, said))
		resp.Body = readCloser{io.MultiReader(bytes.NewReader(said), resp.Body), resp.Body}
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	resp.Body = newExact(&boundedBody{ReadCloser: resp.Body, left: b.max, fault: b.fault}, b.max, kind == "application/json", b.fault)
	return resp, nil
}

// unknown tells whether an answer means that there is no such session: 404 as
// the protocol has it, 400 as many servers have it.
func unknown(status int, said []byte) bool {
	return status == http.StatusNotFound || status == http.StatusBadRequest && bytes.Contains(bytes.ToLower(said), []byte("session"))
}

type readCloser struct {
	io.Reader
	io.Closer
}

// heard is what a server said over HTTP where it refused a request. The SDK's
// error does not tell: one session's end is the error of all calls on it, also
// of those that the server has begun.
type heard struct {
	mu     sync.Mutex
	status int    // 0: it was not reached
	said   string // the beginning of the body
	seen   bool   // a request was taken: what came after it is no answer to it
	unseen bool   // the request did not get to the session it is of
}

type heardKey struct{}

// listen gives a context whose requests are noted.
func listen(ctx context.Context) (context.Context, *heard) {
	h := &heard{}
	return context.WithValue(ctx, heardKey{}, h), h
}

// refused notes a request that the server refused. Nobody may be listening.
func (h *heard) refused(r *http.Request, status int, said string, unseen bool) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status, h.said = status, said
	h.unseen = unseen && !h.seen && r.Method == http.MethodPost
}

// taken notes a request that the server took.
func (h *heard) taken(r *http.Request) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = h.seen || r.Method == http.MethodPost
}

// explain adds to an error what the server said, and marks that of a request
// which its session has not seen.
func (h *heard) explain(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var answer struct{ Error struct{ Message string } }
	_ = json.Unmarshal([]byte(h.said), &answer) // the SDK tells of an error of JSON-RPC
	if told := answer.Error.Message; h.status != 0 && (told == "" || !strings.Contains(err.Error(), told)) {
		err = fmt.Errorf("%w (status %d: %s)", err, h.status, strings.Join(strings.Fields(strings.ToValidUTF8(h.said, "")), " "))
	}
	if h.unseen {
		err = unseen{err}
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

// sameHost follows redirects within a host alone: what a server is sent is not
// for others.
func sameHost(r *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("too many redirects")
	}
	if r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
		return fmt.Errorf("it redirects to another host, %s", r.URL.Host)
	}
	return nil
}
