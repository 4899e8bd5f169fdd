package openai

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed61713e19/capstan/runner/internal/fences"
	"github.com/seed61713e19/capstan/runner/model"
)

// How much of an answer is read, in bytes.
const (
	maxComplaint = 1 << 20
	maxRest      = 64 << 10 // what may come after a streamed answer's end
)

var errSilent = errors.New("the endpoint stays silent")

// A try is one exchange with the endpoint, and the doer under go-openai.
type try struct {
	c       *Client
	q       *question
	ctx     context.Context
	silence *time.Timer   // ends the try when it fires; nil where the answer comes whole
	reached bool          // whether the endpoint got the request, for all we know
	sent    int64         // bytes of the body
	answer  *bytes.Buffer // where it comes whole
	events  *events       // where it is streamed
}

// try asks once. The usage of its response counts in any case.
func (c *Client) try(ctx context.Context, q *question) (model.Response, error) {
	lowered, err := c.enter(ctx)
	if err != nil {
		return model.Response{}, err
	}
	defer c.gate.leave()
	if err := fences.Check(ctx); err != nil {
		return model.Response{}, err
	}
	t := &try{c: c, q: q}
	defer t.close()
	ctx, cancel := t.bounded(ctx)
	defer cancel()
	t.ctx = ctx
	resp, err := t.ask(ctx)
	resp.Provider, resp.Server = c.provider.Name, c.url.Host
	if t.reached {
		resp.Usage.Calls = 1
	}
	if err != nil {
		q.void()
		f := t.failure(ctx, err)
		if limited(f) {
			c.gate.lower(lowered)
		}
		return resp, f
	}
	c.gate.raise(lowered)
	return resp, nil
}

// bounded is a context that is over when the endpoint was silent for too long:
// till the end of an answer that comes whole, or before a part of a streamed
// one, which sets the time anew.
func (t *try) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if !t.q.stream {
		return context.WithTimeoutCause(ctx, t.c.timeout, errSilent)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	t.silence = time.AfterFunc(t.c.timeout, func() { cancel(errSilent) })
	return ctx, func() { cancel(nil) }
}

// ask asks for a whole answer, or has go-openai ask for a streamed one.
func (t *try) ask(ctx context.Context) (model.Response, error) {
	if t.q.stream {
		return t.stream(ctx, t)
	}
	resp, err := t.Do((&http.Request{Method: http.MethodPost}).WithContext(ctx))
	if err != nil {
		return model.Response{}, err
	}
	if t.events != nil { // it is streamed all the same
		return t.stream(ctx, answered{resp})
	}
	resp.Body.Close()
	return t.read()
}

// An answered request needs not be sent.
type answered struct{ with *http.Response }

func (a answered) Do(*http.Request) (*http.Response, error) { return a.with, nil }

// stream has go-openai read a streamed answer; what it would send is replaced in Do.
func (t *try) stream(ctx context.Context, from api.HTTPDoer) (model.Response, error) {
	config := api.DefaultConfig("")
	config.BaseURL, config.HTTPClient = "http://replaced", from
	config.EmptyMessagesLimit = uint(t.c.most.answer) // the answer's length is the limit
	stream, err := api.NewClientWithConfig(config).CreateChatCompletionStream(ctx, api.ChatCompletionRequest{})
	if err == nil {
		return t.listen(stream)
	}
	if !errors.Is(err, errWhole) {
		return model.Response{}, err
	}
	resp, err := t.read()
	if err == nil {
		t.q.say(resp.Text)
	}
	return resp, err
}

// close gives back what the try holds.
func (t *try) close() {
	if t.silence != nil {
		t.silence.Stop()
	}
	if t.answer != nil && t.answer.Cap() <= 1<<20 {
		buffers.Put(t.answer)
	}
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Do sends the question in place of r's body, to the endpoint's address. What
// it returns is a whole answer in JSON, kept in t.answer, or a stream of
// events; everything else is an error.
func (t *try) Do(r *http.Request) (*http.Response, error) {
	b := t.q.body()
	t.sent = b.size
	r.URL, r.Host = t.c.url, ""
	t.q.headers(r)
	b.send(r)
	resp, err := t.c.send(r)
	if err != nil {
		t.reached = !dialing(err)
		return nil, err
	}
	t.reached = true
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer resp.Body.Close()
		return nil, t.complaint(resp)
	}
	if !t.q.stream {
		return t.buffered(resp)
	}
	in := bufio.NewReader(resp.Body)
	if !streams(in, resp.Header.Get("Content-Type")) {
		resp.Body = readCloser{in, resp.Body}
		return t.buffered(resp)
	}
	return t.streamed(resp, in), nil
}

// streamed is an answer whose body is events.
func (t *try) streamed(resp *http.Response, in *bufio.Reader) *http.Response {
	t.events = &events{t: t, body: resp.Body, in: in}
	resp.Body = t.events
	return resp
}

type readCloser struct {
	io.Reader
	io.Closer
}

// streams says whether an answer is events, by how it begins: with a field of one, a
// comment. It skips a byte order mark. What the answer says of itself counts where it begins
// with an empty line: not every endpoint, or what stands before it, is right there.
func streams(in *bufio.Reader, kind string) bool {
	first, err := in.Peek(1)
	if err == nil && first[0] == byteOrder[0] {
		if mark, _ := in.Peek(len(byteOrder)); bytes.Equal(mark, byteOrder) {
			_, _ = in.Discard(len(mark))
			first, err = in.Peek(1)
		}
	}
	switch {
	case err != nil:
		return true // and is cut
	case first[0] == '\r' || first[0] == '\n':
		kind, _, _ = mime.ParseMediaType(kind)
		return kind != "application/json"
	}
	return strings.IndexByte(":deir", first[0]) >= 0
}

// dialing says whether err came before anything was sent.
func dialing(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// buffered reads an answer to its end, so that its connection serves again.
func (t *try) buffered(resp *http.Response) (*http.Response, error) {
	defer resp.Body.Close()
	t.answer = buffers.Get().(*bytes.Buffer)
	t.answer.Reset()
	n, err := t.answer.ReadFrom(io.LimitReader(resp.Body, t.c.most.answer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer was cut after %d bytes: %w", n, err)
	case n > t.c.most.answer:
		return nil, t.c.most.tooBig()
	}
	return t.arrived(resp)
}

// arrived says what an answer is that is in t.answer.
func (t *try) arrived(resp *http.Response) (*http.Response, error) {
	if bytes.HasPrefix(t.answer.Bytes(), byteOrder) {
		t.answer.Next(len(byteOrder))
	}
	text, kind := bytes.TrimSpace(t.answer.Bytes()), resp.Header.Get("Content-Type")
	switch {
	case len(text) == 0:
		return nil, errors.New("the answer has no body")
	case text[0] == '{' && t.q.stream:
		return nil, errWhole
	case text[0] == '{':
		return resp, nil
	}
	if in := bufio.NewReader(bytes.NewReader(text)); streams(in, kind) {
		t.silence = time.NewTimer(t.c.timeout) // all of it is here
		return t.streamed(resp, in), nil
	}
	if f := failureOf(0, text); f != nil {
		return nil, f
	}
	return nil, fmt.Errorf("the answer is no JSON object (Content-Type: %s): %s", cmp.Or(kind, "none"), text[:min(len(text), maxComplaint)])
}

// errWhole says that an answer that was to be streamed came whole.
var errWhole = errors.New("not streamed")

// complaint is the failure that an answer with an error's status is.
func (t *try) complaint(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxComplaint)) // what came is better than nothing
	f := failureOf(resp.StatusCode, text)
	if resp.StatusCode < 400 {
		f.Message = "sends on to " + resp.Header.Get("Location")
	}
	f.Message = t.c.advice(resp.StatusCode, t.q.name) + f.Message + t.q.suspects(resp.StatusCode, f.Message)
	if id := resp.Header.Get("X-Request-Id"); id != "" {
		f.Message += " (request " + id + ")"
	}
	f.RetryAfter = cmp.Or(retryAfter(resp.Header, time.Now()), f.RetryAfter)
	return f
}

// failure makes of what went wrong a failure with its class.
func (t *try) failure(ctx context.Context, err error) *model.Failure {
	var f *model.Failure
	var timeout net.Error
	var asking *url.Error
	var untrusted x509.UnknownAuthorityError
	switch {
	case errors.As(err, &f):
	case context.Cause(ctx) == errSilent, errors.As(err, &timeout) && timeout.Timeout():
		f = &model.Failure{Class: model.TimedOut, Message: fmt.Sprintf("%s stays silent for %s", t.c.url.Host, t.c.timeout)}
	case errors.As(err, &untrusted):
		f = &model.Failure{Class: model.Unavailable, Message: fmt.Sprintf("%s has a certificate of an unknown authority: add the authority's certificate to the "+
			"system's store, or on Linux set SSL_CERT_FILE to a PEM file with it", t.c.url.Host)}
	case errors.As(err, &asking):
		f = &model.Failure{Class: model.Unavailable, Message: t.c.unreachable(t.reached) + asking.Err.Error()}
	default:
		f = &model.Failure{Class: model.Unavailable, Message: t.c.url.Host + ": " + err.Error()}
	}
	return t.c.tidy(f)
}
