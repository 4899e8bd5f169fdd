package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
)

var errTooLarge = errors.New("the reply is too large")

// bounded is an HTTP transport whose replies end with an error behind so many
// bytes.
type bounded struct {
	max   int64
	large *atomic.Bool
}

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if missing, ok := r.Context().Value(missingKey{}).(*atomic.Bool); ok && resp.StatusCode == http.StatusNotFound {
		missing.Store(true)
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: b.max, large: b.large}
	return resp, nil
}

type missingKey struct{}

// watchMissing gives a context whose request tells whether the server answered
// that there is no such session. The SDK's error does not: one session's end
// is the error of all calls on it, also of those that the server has begun.
func watchMissing(ctx context.Context) (context.Context, *atomic.Bool) {
	missing := &atomic.Bool{}
	return context.WithValue(ctx, missingKey{}, missing), missing
}

type boundedBody struct {
	io.ReadCloser
	left  int64
	large *atomic.Bool
}

// Read implements [io.Reader].
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.large.Store(true)
		return 0, errTooLarge
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
