package otlp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	traces "go.opentelemetry.io/proto/otlp/trace/v1"
)

// A receiver answers the n-th request, from 1, and records its time.
type receiver struct {
	answer func(n int, req *http.Request) (*http.Response, error)
	bodies []string
	at     []time.Duration
	begun  time.Time
}

// RoundTrip implements [http.RoundTripper].
func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	r.bodies, r.at = append(r.bodies, string(body)), append(r.at, time.Since(r.begun))
	if err != nil {
		return nil, err
	}
	return r.answer(len(r.bodies), req)
}

func says(status int, header, body string) (*http.Response, error) {
	res := &http.Response{StatusCode: status, Status: fmt.Sprint(status), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	if name, value, found := strings.Cut(header, ": "); found {
		res.Header.Set(name, value)
	}
	return res, nil
}

func silent(_ int, req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

var message = &traces.TracesData{ResourceSpans: []*traces.ResourceSpans{{SchemaUrl: "told"}}}

// TestTries checks when a request is repeated.
func TestTries(t *testing.T) {
	status := func(codes ...int) func(int, *http.Request) (*http.Response, error) {
		return func(n int, _ *http.Request) (*http.Response, error) {
			return says(codes[min(n, len(codes))-1], "", " why\n")
		}
	}
	later := func(header string) func(int, *http.Request) (*http.Response, error) {
		return func(n int, _ *http.Request) (*http.Response, error) {
			if n > 1 {
				return says(200, "", "")
			}
			return says(429, header, "")
		}
	}
	for name, c := range map[string]struct {
		answer      func(int, *http.Request) (*http.Response, error)
		tries       [2]int // from, to
		first, last time.Duration
		err         string
	}{
		"takes it":              {status(204), [2]int{1, 1}, 0, 0, ""},
		"is busy":               {status(503, 502, 504, 429, 200), [2]int{5, 5}, 250 * time.Millisecond, 12 * time.Second, ""},
		"stays busy":            {status(503), [2]int{6, 14}, 250 * time.Millisecond, maxTime, "given up: the receiver answers 503: why"},
		"wants it later":        {later("Retry-After: 7"), [2]int{2, 2}, 7 * time.Second, 7 * time.Second, ""},
		"wants it at a time":    {later("Retry-After: Sat, 01 Jan 2000 00:00:09 GMT"), [2]int{2, 2}, 9 * time.Second, 9 * time.Second, ""},
		"wanted it before":      {later("Retry-After: Fri, 31 Dec 1999 00:00:00 GMT"), [2]int{2, 2}, 250 * time.Millisecond, time.Second, ""},
		"wants it much later":   {later("Retry-After: 60"), [2]int{1, 1}, 0, 0, "given up: the receiver answers 429"},
		"says nothing sensible": {later("Retry-After: -1"), [2]int{2, 2}, 250 * time.Millisecond, time.Second, ""},
		"refuses":               {status(400), [2]int{1, 1}, 0, 0, "the receiver answers 400: why"},
		"breaks":                {status(500), [2]int{1, 1}, 0, 0, "the receiver answers 500: why"},
		"is elsewhere": {func(int, *http.Request) (*http.Response, error) {
			return says(308, "Location: http://other.example/", "")
		}, [2]int{1, 1}, 0, 0, "answers 308"},
		"is another page": {func(int, *http.Request) (*http.Response, error) { return says(302, "Location: /login", "") }, [2]int{1, 1}, 0, 0, "answers 302"},
		"is silent":       {silent, [2]int{3, 3}, 10 * time.Second, maxTime, "given up: Post"},
		"hangs up":        {func(int, *http.Request) (*http.Response, error) { return nil, io.EOF }, [2]int{6, 14}, 250 * time.Millisecond, maxTime, "given up: Post"},
		"is not there":    {func(int, *http.Request) (*http.Response, error) { return nil, errors.New("refused") }, [2]int{1, 1}, 0, 0, "refused"},
		"does not stop to talk": {func(int, *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(endless{})}, nil
		}, [2]int{1, 1}, 0, 0, ""},
		"does not stop refusing": {func(int, *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 403, Body: io.NopCloser(endless{})}, nil
		}, [2]int{1, 1}, 0, 0, "answers"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &receiver{answer: c.answer, begun: time.Now()}
				err := to(t, r, "").send(t.Context(), message)
				if (err == nil) != (c.err == "") || err != nil && (!strings.Contains(err.Error(), c.err) || len(err.Error()) > 1100) {
					t.Errorf("got %v, want %q", err, c.err)
				}
				n := len(r.at)
				if n < c.tries[0] || n > c.tries[1] || n > 1 && r.at[1] < c.first || r.at[n-1] > c.last || r.bodies[n-1] != r.bodies[0] || r.bodies[0] == "" {
					t.Errorf("asked at %v with %q", r.at, r.bodies)
				}
			})
		})
	}
}

// to returns a client of a receiver for variables "NAME=value".
func to(t *testing.T, r http.RoundTripper, variable string) *client {
	t.Helper()
	name, value, _ := strings.Cut(variable, "=")
	s, err := Read(func(asked string) string {
		if asked == "OTEL_EXPORTER_OTLP_"+name {
			return value
		}
		return ""
	}, "TRACES")
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(s, "spans")
	c.http.Transport = r
	return c
}

// TestGivenUp checks that a cancelled request ends at once.
func TestGivenUp(t *testing.T) {
	for name, answer := range map[string]func(int, *http.Request) (*http.Response, error){
		"silent": silent,
		"later":  func(int, *http.Request) (*http.Response, error) { return says(503, "Retry-After: 20", "") },
	} {
		for _, by := range []string{"caller", "end"} {
			t.Run(name+"/"+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					c := to(t, &receiver{answer: answer, begun: time.Now()}, "TIMEOUT=0")
					give := map[string]func(){"caller": cancel, "end": c.stop}[by]
					defer cancel()
					time.AfterFunc(time.Second, give)
					begun := time.Now()
					if err := c.send(ctx, message); !errors.Is(err, context.Canceled) || time.Since(begun) != time.Second {
						t.Errorf("%v after %s", err, time.Since(begun))
					}
				})
			})
		}
	}
}

// TestPartly checks the error of a partly rejected message.
func TestPartly(t *testing.T) {
	inside := protowire.AppendTag(nil, 3, protowire.Fixed32Type) // a field of later versions
	inside = protowire.AppendFixed32(inside, 9)
	inside = protowire.AppendVarint(protowire.AppendTag(inside, 1, protowire.VarintType), 3)
	inside = protowire.AppendString(protowire.AppendTag(inside, 2, protowire.BytesType), "too old")
	part := string(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inside))
	const binary = "application/x-protobuf"
	for _, c := range []struct{ kind, body, want string }{
		{binary, part, "OTLP partial success: too old (3 spans rejected)"},
		{binary, part[:len(part)-1], ""},
		{binary, "", ""},
		{binary, "\x08", ""},
		{binary, "\xff\xff\xff", ""},
		{"text/html", part, ""},
		{"", part, ""},
	} {
		c.kind = "Content-Type: " + c.kind
		r := &receiver{answer: func(int, *http.Request) (*http.Response, error) { return says(200, c.kind, c.body) }}
		got := ""
		if err := to(t, r, "").send(t.Context(), message); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %q: %q, want %q", c.kind, c.body, got, c.want)
		}
	}
}
