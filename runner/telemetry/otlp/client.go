package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Pauses before another try are shorter than usual: a command wants to end.
const (
	firstPause  = 500 * time.Millisecond
	longPause   = 5 * time.Second
	longestTime = 30 * time.Second // of all tries
)

// maxAnswer is how much is read of what a receiver says, in bytes.
const maxAnswer = 64 << 10

// A client sends messages of one signal until it is stopped.
type client struct {
	Settings
	http    *http.Client
	what    string // is rejected in part: spans, data points
	stopped context.Context
	stop    context.CancelFunc
}

// newClient follows no redirect: what the headers have is for one receiver, and
// another method would lose what is sent.
func newClient(s Settings, what string) *client {
	c := &client{Settings: s, what: what, http: &http.Client{
		Timeout:       s.timeout,
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: s.tls, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	c.stopped, c.stop = context.WithCancel(context.Background())
	return c
}

// send posts a message until it is taken, for [longestTime] at most.
func (c *client) send(ctx context.Context, m proto.Message) error {
	body, err := c.encoded(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.stopped, cancel)()
	begun, pause := time.Now(), firstPause
	for {
		err := c.post(ctx, body)
		var later *again
		if !errors.As(err, &later) {
			return err
		}
		wait := max(later.after, pause/2+rand.N(pause))
		if time.Since(begun)+wait > longestTime {
			return fmt.Errorf("given up: %w", later.err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), later.err)
		}
		pause = min(2*pause, longPause)
	}
}

func (c *client) encoded(m proto.Message) ([]byte, error) {
	text, err := proto.Marshal(m)
	if c.json {
		text, err = protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(m)
	}
	if err != nil || !c.gzip {
		return text, err
	}
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	_, err = zip.Write(text)
	err = errors.Join(err, zip.Close())
	return b.Bytes(), err
}

// An again is why a request may be taken later.
type again struct {
	err   error
	after time.Duration // at least
}

func (a *again) Error() string { return a.err.Error() }

// post asks once.
func (c *client) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = c.header.Clone()
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "capstan")
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	if c.json {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	res, err := c.http.Do(req)
	var broken *url.Error
	if errors.As(err, &broken) && ctx.Err() == nil && (broken.Timeout() || errors.Is(err, io.EOF)) {
		return &again{err: err}
	}
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &again{refusal(res, text), retryAfter(res.Header.Get("Retry-After"))}
	}
	if res.StatusCode/100 != 2 {
		return refusal(res, text)
	}
	if err != nil {
		return err
	}
	return c.rejected(res.Header.Get("Content-Type"), text)
}

func refusal(res *http.Response, text []byte) error {
	said := strings.ToValidUTF8(strings.TrimSpace(string(text[:min(len(text), 1000)])), "")
	if said == "" {
		return fmt.Errorf("the receiver answers %s", res.Status)
	}
	return fmt.Errorf("the receiver answers %s: %s", res.Status, said)
}

// retryAfter reads seconds or a time; what is neither is no wish.
func retryAfter(header string) time.Duration {
	if n, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return time.Until(at)
}
