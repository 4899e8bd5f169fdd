// Package otlp sends spans to an OpenTelemetry receiver: OTLP over HTTP, in
// protobuf or JSON. It is small on purpose: the exporter that comes with
// OpenTelemetry brings the whole of protobuf and gRPC into every binary,
// whether or not anything is ever sent.
package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// Options say where spans go.
type Options struct {
	URL      string            // the whole address, with its path: http://localhost:4318/v1/traces
	JSON     bool              // JSON in place of protobuf
	Gzip     bool              // compressed
	Headers  map[string]string // sent with every request
	Timeout  time.Duration     // for one request; 10 seconds where it is 0
	TLS      *tls.Config       // nil: the system's
	MaxBytes int               // of one request before compression; 4 MiB where it is 0. A larger batch goes in parts
}

// An Exporter sends spans. It is safe for concurrent use.
type Exporter struct {
	options Options
	client  *http.Client
}

// New makes an exporter. Nothing is sent or resolved before there are spans.
func New(o Options) *Exporter {
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 4 << 20
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = o.TLS
	return &Exporter{o, &http.Client{
		Transport: transport,
		// A redirect would carry the headers, and so a key, to another place.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// ExportSpans sends spans and gives an error that says how many the receiver
// did not take: a [*Refused] where it took the others. What a receiver says may
// pass is sent again, four times in all.
func (x *Exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	body, err := x.encode(spans)
	if err != nil {
		return err
	}
	if len(body) <= x.options.MaxBytes || len(spans) == 1 {
		return x.send(ctx, body)
	}
	half := len(spans) / 2
	first := lost(x.ExportSpans(ctx, spans[:half]), half)
	second := lost(x.ExportSpans(ctx, spans[half:]), len(spans)-half)
	return first.and(second)
}

// Shutdown drops idle connections. The exporter has nothing to flush.
func (x *Exporter) Shutdown(context.Context) error {
	x.client.CloseIdleConnections()
	return nil
}

func (x *Exporter) encode(spans []sdk.ReadOnlySpan) ([]byte, error) {
	m := messageOf(spans)
	if x.options.JSON {
		return json.Marshal(m)
	}
	return m.append(nil), nil
}

// A Refused is an error of an export that some spans survived.
type Refused struct {
	Spans int // that were not taken
	Err   error
}

// Error says how many and why.
func (r *Refused) Error() string { return fmt.Sprintf("%d spans: %v", r.Spans, r.Err) }

// Unwrap gives the reason.
func (r *Refused) Unwrap() error { return r.Err }

// lost makes an error of sending n spans tell how many of them it cost.
func lost(err error, n int) *Refused {
	var some *Refused
	if err == nil || errors.As(err, &some) {
		return some
	}
	return &Refused{n, err}
}

func (r *Refused) and(s *Refused) error {
	switch {
	case r == nil && s == nil:
		return nil
	case r == nil:
		return s
	case s == nil:
		return r
	}
	return &Refused{r.Spans + s.Spans, r.Err}
}

// tries is how often one request is sent in all.
const tries = 4

const firstPause = 500 * time.Millisecond

func (x *Exporter) send(ctx context.Context, body []byte) error {
	if x.options.Gzip {
		body = compressed(body)
	}
	pause := firstPause
	for try := 1; ; try++ {
		wait, err := x.post(ctx, body)
		if wait == nil || try == tries {
			return err
		}
		if *wait < 0 {
			*wait = pause
			pause *= 2
		}
		if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) < *wait {
			return err
		}
		select {
		case <-time.After(*wait):
		case <-ctx.Done():
			return err
		}
	}
}

// post sends a body once. Wait is not nil where it is worth another try: after
// that time, or where it is negative after a time of the caller's.
func (x *Exporter) post(ctx context.Context, body []byte) (wait *time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, x.options.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.options.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", x.contentType())
	if x.options.Gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	for name, v := range x.options.Headers {
		r.Header.Set(name, v)
	}
	resp, err := x.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case resp.StatusCode/100 == 2 && err == nil:
		return nil, partial(said, resp.Header.Get("Content-Type"))
	case resp.StatusCode/100 == 2:
		return nil, nil // taken, whatever it wanted to say
	}
	err = fmt.Errorf("%s answers %s", x.options.URL, resp.Status)
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retryAfter(resp.Header.Get("Retry-After")), err
	}
	return nil, err
}

// maxAnswer bounds what is read of a receiver's answer, in bytes.
const maxAnswer = 64 << 10

func (x *Exporter) contentType() string {
	if x.options.JSON {
		return "application/json"
	}
	return "application/x-protobuf"
}

func retryAfter(header string) *time.Duration {
	wait := time.Duration(-1)
	if seconds, err := strconv.ParseUint(header, 10, 16); err == nil {
		wait = time.Duration(seconds) * time.Second
	}
	return &wait
}

func compressed(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(body) // a buffer takes everything
	w.Close()
	return b.Bytes()
}
