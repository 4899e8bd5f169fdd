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

	"github.com/seed61713e19/capstan/runner/internal/fences"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// maxRest is how many bytes are read after a streamed answer's end.
const maxRest = 64 << 10

var errSilent = errors.New("the endpoint stays silent")

// A try is one exchange with the endpoint.
type try struct {
	c       *Client
	q       *question
	ctx     context.Context
	silence *time.Timer // ends the try when it fires
	reached bool        // whether the endpoint got the request, for all we know
	sent    int         // bytes of the body
}

// try asks once. The usage of its response counts in any case.
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
	// The time of silence ends with an answer that comes whole, and begins anew with each
	// line of a streamed one.
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

// ask sends the request and reads the answer, streamed or whole.
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

// whole reads an answer to its end, so that its connection serves again.
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
	if in := bufio.NewReader(bytes.NewReader(text)); streams(in, kind) { // although it was not asked for
		return t.listen(in)
	}
	if f := protocol.FailureOf(0, text); f != nil {
		return model.Response{}, f
	}
	shown := text[:min(len(text), protocol.MaxComplaint)]
	return model.Response{}, fmt.Errorf("the answer is no JSON object (Content-Type: %s): %s", cmp.Or(kind, "none"), shown)
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

// complaint is the failure that an answer with an error's status is.
func (t *try) complaint(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, protocol.MaxComplaint)) // what came is better than nothing
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
