package otlp

import (
	"bytes"
	"cmp"
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

	common "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/seed61713e19/capstan/internal/reports"
)

// The pauses between requests are shorter than usual: a command wants to end.
const (
	firstPause = 500 * time.Millisecond
	maxPause   = 5 * time.Second
	maxTime    = 30 * time.Second // of all requests for a message
	maxAnswer  = 64 << 10         // bytes that are read of an answer
)

// A client sends the messages of one signal.
type client struct {
	Settings
	http    *http.Client
	noun    string // spans or data points
	stopped context.Context
	stop    context.CancelFunc
}

// newClient returns a client that follows no redirect: the headers are only for the
// configured receiver.
func newClient(s Settings, noun string) *client {
	c := &client{Settings: s, noun: noun, http: &http.Client{
		Timeout:       s.timeout,
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: s.tls, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	c.stopped, c.stop = context.WithCancel(context.Background())
	return c
}

// send posts a message. It repeats the request after temporary failures, for maxTime.
func (c *client) send(ctx context.Context, m proto.Message) error {
	body, err := c.encode(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.stopped, cancel)()
	began, pause := time.Now(), firstPause
	for {
		temporary, after, err := c.post(ctx, body)
		if !temporary {
			return err
		}
		wait := max(after, pause/2+rand.N(pause))
		if time.Since(began)+wait > maxTime {
			return fmt.Errorf("given up: %w", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		pause = min(2*pause, maxPause)
	}
}

func (c *client) encode(m proto.Message) ([]byte, error) {
	text, err := proto.Marshal(m)
	if err != nil || !c.gzip {
		return text, err
	}
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	_, err = zip.Write(text)
	err = errors.Join(err, zip.Close())
	return b.Bytes(), err
}

// post sends one request. After a temporary error, it may be repeated after a pause.
func (c *client) post(ctx context.Context, body []byte) (temporary bool, after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), bytes.NewReader(body))
	if err != nil {
		return false, 0, err
	}
	req.Header = c.header.Clone()
	req.Header.Set("User-Agent", cmp.Or(req.Header.Get("User-Agent"), "capstan"))
	req.Header.Set("Content-Type", contentType)
	if c.gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	res, err := c.http.Do(req)
	if err != nil {
		broken, ok := errors.AsType[*url.Error](err)
		return ok && ctx.Err() == nil && (broken.Timeout() || errors.Is(err, io.EOF)), 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, retryAfter(res.Header.Get("Retry-After")), statusError(res, text)
	}
	if res.StatusCode/100 != 2 {
		return false, 0, statusError(res, text)
	}
	if err == nil && res.Header.Get("Content-Type") == contentType {
		err = c.rejected(text)
	}
	return false, 0, err
}

const contentType = "application/x-protobuf"

func statusError(res *http.Response, text []byte) error {
	message := "the receiver answers " + res.Status + ": " + reports.Fit(string(text), 1000)
	return errors.New(strings.TrimSuffix(message, ": "))
}

// retryAfter returns the pause of a header with seconds or a time, 0 for other values.
func retryAfter(header string) time.Duration {
	if n, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	at, _ := http.ParseTime(header)
	return time.Until(at) // long ago for the zero time
}

// rejected returns an error if a receiver rejected a part of a message. The type of the
// answer would link gRPC; the types here have fields of the same numbers and kinds.
func (c *client) rejected(text []byte) error {
	var partial wrapperspb.BytesValue
	var count wrapperspb.Int64Value
	var reason common.InstrumentationScope // Version is the text with the number 2
	err := errors.Join(proto.Unmarshal(text, &partial), proto.Unmarshal(partial.Value, &count), proto.Unmarshal(partial.Value, &reason))
	if err != nil || count.Value == 0 && reason.Version == "" {
		return nil
	}
	return fmt.Errorf("OTLP partial success: %s (%d %s rejected)", reason.Version, count.Value, c.noun)
}
