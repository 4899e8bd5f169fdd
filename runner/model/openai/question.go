package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/seed61713e19/capstan/runner/model"
)

// A question is a request as it goes out, the same for every try but for what
// the endpoint turns out to lack.
type question struct {
	name     string // the model's
	head     []byte // up to the messages
	messages []byte // shared with the thread
	tools    []byte // shared with the thread
	format   []byte // of the answer; nil if any will do
	lacks    []lack // what was given up

	count  int // of messages
	stream bool
	onText func(string)
	heard  bool // whether onText got text of the try under way
}

func (c *Client) question(r model.Request) (*question, error) {
	name, err := json.Marshal(r.Model)
	if err != nil {
		return nil, fmt.Errorf("model name: %w", err)
	}
	q := &question{name: r.Model, count: len(r.Messages), stream: c.stream || r.OnText != nil, onText: r.OnText}
	q.head = append(append([]byte(`{"model":`), name...), `,"messages":[`...)
	if q.messages, err = r.Wire(c.provider); err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	if q.tools, err = r.WireTools(); err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	if len(r.Schema) > 0 {
		if q.format, err = c.formats.of(r); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
	}
	q.lacks = c.lacking.of(q)
	return q, nil
}

// body is the question's bytes, in parts that are shared by all its tries.
func (q *question) body() *body {
	b := &body{parts: [][]byte{q.head, q.messages}}
	if len(q.tools) > 0 {
		b.parts = append(b.parts, []byte(`],"tools":[`), q.tools)
	}
	tail := []byte("]")
	if q.format != nil && !q.without(formatField) {
		tail = append(append(tail, `,"response_format":`...), q.format...)
	}
	if q.stream {
		tail = append(tail, `,"stream":true`...)
		if !q.without(usageField) {
			tail = append(tail, `,"stream_options":{"include_usage":true}`...)
		}
	}
	b.parts = append(b.parts, append(tail, '}'))
	for _, p := range b.parts {
		b.size += int64(len(p))
	}
	return b
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

// smallBody is up to how many bytes a body is sent in one piece. The transport
// then knows that it need not send the head first, which saves a packet.
const smallBody = 32 << 10

// send makes b the body of a request.
func (b *body) send(r *http.Request) {
	r.ContentLength = b.size
	if b.size <= smallBody {
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
