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
	"time"

	"github.com/seed61713e19/capstan/internal/fences"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// maxRest is the maximum number of bytes that are read after the end of a
// stream.
const maxRest = 64 << 10

var errSilent = errors.New("the endpoint stays silent")

// A try is one request to the endpoint.
type try struct {
	c       *Client
	q       *question
	ctx     context.Context
	silence *time.Timer // ends the try when it fires
	reached bool        // reports whether the endpoint may have received the request
	sent    int         // the size of the body in bytes
}

// try sends the request once. The response has the usage even with an error.
func (c *Client) try(ctx context.Context, q *question, body []byte) (model.Response, error) {
	lowered, err := c.enter(ctx)
	if err != nil {
		return model.Response{}, err
	}
	defer c.gate.leave()
	if err := fences.Check(ctx); err != nil {
		return model.Response{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := &try{c: c, q: q, ctx: ctx, sent: len(body)}
	// The timer ends with the last byte of a reply, and restarts with each line
	// of a stream.
	t.silence = time.AfterFunc(c.timeout, func() { cancel(errSilent) })
	defer t.silence.Stop()
	resp, err := t.ask(body)
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

// ask sends the request and reads the reply.
func (t *try) ask(body []byte) (model.Response, error) {
	r, err := http.NewRequestWithContext(t.ctx, http.MethodPost, t.c.url.String(), bytes.NewReader(body))
	if err != nil {
		return model.Response{}, err
	}
	t.q.setHeader(r)
	answer, err := t.c.http.Do(r)
	if err != nil {
		t.reached = !dialing(err)
		return model.Response{}, err
	}
	defer answer.Body.Close()
	t.reached = true
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return model.Response{}, t.complaint(answer)
	}
	in, kind := bufio.NewReader(answer.Body), answer.Header.Get("Content-Type")
	if t.q.stream && streams(in, kind) {
		return t.listen(in)
	}
	return t.whole(in, kind)
}

// whole reads a reply without a stream to its end, so that the connection can
// be reused.
func (t *try) whole(in *bufio.Reader, kind string) (model.Response, error) {
	text, err := io.ReadAll(io.LimitReader(in, t.c.most.answer+1))
	switch {
	case err != nil:
		return model.Response{}, fmt.Errorf("the answer was cut after %d bytes: %w", len(text), err)
	case int64(len(text)) > t.c.most.answer:
		return model.Response{}, t.c.most.tooBig()
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, byteOrder))
	if len(text) == 0 {
		return model.Response{}, errors.New("the answer has no body")
	}
	if text[0] == '{' {
		resp, err := t.decode(text)
		if err == nil {
			t.q.say(resp.Text)
		}
		return resp, err
	}
	if in := bufio.NewReader(bytes.NewReader(text)); streams(in, kind) { // a stream that was not requested
		return t.listen(in)
	}
	if f := protocol.FailureOf(0, text); f != nil {
		return model.Response{}, f
	}
	shown := text[:min(len(text), protocol.MaxComplaint)]
	return model.Response{}, fmt.Errorf("the answer is no JSON object (Content-Type: %s): %s", cmp.Or(kind, "none"), shown)
}

// streams reports whether a reply is a stream, by its first byte: the beginning
// of a field or of a
// comment. It skips a byte order mark. The Content-Type decides only if the
// reply begins with an
// empty line, because some endpoints send a wrong one.
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
		return true // a stream that is cut
	case first[0] == '\r' || first[0] == '\n':
		kind, _, _ = mime.ParseMediaType(kind)
		return kind != "application/json"
	}
	return strings.IndexByte(":deir", first[0]) >= 0
}

// dialing reports whether the connection failed before any data was sent.
func dialing(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// complaint returns the failure of a reply with an error status.
func (t *try) complaint(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, protocol.MaxComplaint)) // a part of the body is enough
	f := protocol.FailureOf(resp.StatusCode, text)
	if resp.StatusCode < 400 {
		f.Message = "sends on to " + resp.Header.Get("Location")
	}
	f.Message = t.c.advice(resp.StatusCode, t.q.r.Model) + f.Message + t.q.suspects(resp.StatusCode, f.Message)
	if id := cmp.Or(resp.Header.Get("X-Request-Id"), resp.Header.Get("Request-Id")); id != "" {
		f.Message += " (request " + id + ")"
	}
	f.RetryAfter = cmp.Or(retryAfter(resp.Header, time.Now()), f.RetryAfter)
	return f
}

// failure returns the failure for an error of a try.
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
