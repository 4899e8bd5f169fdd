package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed61713e19/capstan/runner/model"
)

// A question is a request as it goes out, the same for every try but for what
// the endpoint turns out to lack.
type question struct {
	c        *Client
	r        model.Request
	name     string // the model's
	head     []byte // up to the messages
	messages []byte // shared with the thread
	tools    []byte // shared with the thread
	params   []byte // each followed by a comma
	format   format // of the answer; without wire if any will do
	lacks    []lack // what was given up
	onTrial  bool   // the last of them may not be to blame
	tried    bool   // one was, in vain
	failed   int    // how often the endpoint said 500

	count  int // of messages
	stream bool
	onText func(string)
	heard  bool // whether onText got text of the try under way
}

func (c *Client) question(r model.Request) (*question, error) {
	for _, asked := range r.Params.Asks() {
		if slices.Contains(c.provider.Ignores, asked) {
			return nil, fmt.Errorf("%s takes %s and does nothing with it: leave it out", c.provider.Name, asked)
		}
	}
	q := &question{c: c, r: r, name: r.Model, count: len(r.Messages), stream: c.stream || r.OnText != nil, onText: r.OnText}
	q.head = append(model.AppendText([]byte(`{"model":`), r.Model), `,"messages":[`...)
	var err error
	if q.tools, err = r.WireTools(); err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	if len(q.tools) > 0 && q.has("tools") {
		return nil, errors.New("extra: tools cannot be set there, where the model has tools")
	}
	if len(r.Schema) > 0 && (r.Params == nil || !r.Params.NoFormat) && !q.has(formatField) {
		if q.format, err = c.formats.of(r); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
	}
	q.lacks = c.lacking.of(q)
	return q, nil
}

// encode makes the parts of the body that depend on what the endpoint lacks, before
// each try.
func (q *question) encode() (err error) {
	to := q.c.provider
	if q.without(extrasField) {
		to = model.Provider{}
	}
	if q.messages, err = q.asked().Wire(to); err != nil {
		return fmt.Errorf("messages: %w", err)
	}
	if q.params, err = q.r.Params.Body(q.limit()); err != nil {
		return fmt.Errorf("parameters: %w", err)
	}
	return nil
}

// has says whether the cascade's own extra has a member.
func (q *question) has(name string) bool { return q.r.Params != nil && q.r.Params.Extra.Has(name) }

// body is the question's bytes, in parts that are shared by all its tries.
func (q *question) body() *body {
	b := &body{parts: [][]byte{q.head, q.messages}}
	if len(q.tools) > 0 {
		b.parts = append(b.parts, []byte(`],"tools":[`), q.tools)
	}
	tail := []byte("],")
	tail = append(tail, q.params...)
	if format := q.responseFormat(); format != "" {
		tail = append(append(append(tail, `"response_format":`...), format...), ',')
	}
	if q.caches() {
		tail = fmt.Appendf(tail, `%q:"%s",`, q.c.provider.CacheField, q.cacheKey())
	}
	if q.stream {
		tail = append(tail, `"stream":true,`...)
		if !q.without(usageField) && !q.has(usageField) {
			tail = append(tail, `"stream_options":{"include_usage":true},`...)
		}
	}
	tail[len(tail)-1] = '}'
	b.parts = append(b.parts, tail)
	for _, p := range b.parts {
		b.size += int64(len(p))
	}
	return b
}

// caches says whether the body names the run for the endpoint's prompt cache.
func (q *question) caches() bool {
	field := q.c.provider.CacheField
	return field != "" && q.r.Run != "" && !q.without(field) && !q.has(field)
}

// cacheKey names the run without telling its name, in as few characters as
// endpoints take.
func (q *question) cacheKey() string {
	sum := sha256.Sum256([]byte(q.r.Run))
	return "capstan-" + hex.EncodeToString(sum[:16])
}

// headers sets a request's headers. One that has nothing of its own shares those
// of all, which nobody changes.
func (q *question) headers(r *http.Request) {
	field := q.c.provider.CacheHeader
	named := field != "" && q.r.Run != "" && q.c.header.Get(field) == ""
	traced := trace.SpanContextFromContext(r.Context()).IsValid()
	switch {
	case q.stream:
		maps.Copy(r.Header, q.c.header)
	case q.c.own != nil && !named && !traced:
		r.Header = q.c.whole
		return
	default:
		r.Header = q.c.whole.Clone()
	}
	if named {
		r.Header.Set(field, q.cacheKey())
	}
	propagation.TraceContext{}.Inject(r.Context(), propagation.HeaderCarrier(r.Header)) // whose work the call is
}

// forWhole are the headers of a request for an answer that comes whole.
func forWhole(h http.Header) http.Header {
	whole := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	maps.Copy(whole, h)
	return whole
}

// A body reads parts one after the other, without copying them together.
type body struct {
	parts [][]byte
	at    int
	size  int64 // of all parts
}

func (b *body) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(b.parts) == 0 {
			if n == 0 {
				err = io.EOF
			}
			return n, err
		}
		k := copy(p[n:], b.parts[0][b.at:])
		n, b.at = n+k, b.at+k
		if b.at == len(b.parts[0]) {
			b.parts, b.at = b.parts[1:], 0
		}
	}
	return n, nil
}

func (b *body) Close() error { return nil }

// send makes b the body of a request. A short one is sent in one piece: the
// transport then knows that it need not send the head first, which saves a packet.
func (b *body) send(r *http.Request) {
	r.ContentLength = b.size
	if b.size <= sendBuffer {
		text := bytes.Join(b.parts, nil)
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
		r.Body, _ = r.GetBody()
		return
	}
	whole := *b
	r.Body = b
	r.GetBody = func() (io.ReadCloser, error) {
		again := whole
		return &again, nil
	}
}
