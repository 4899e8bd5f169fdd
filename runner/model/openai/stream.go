package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed61713e19/capstan/runner/model"
)

// lateSilence is how long is waited for what may follow a finished answer: its
// usage, and that this is all.
const lateSilence = 10 * time.Second

// events is the body of a streamed answer with nothing in it but lines of
// data, which is what go-openai's reader takes right: it loses a last line
// without an end, cannot tell a cut stream from a finished one, and takes
// comments for parts of errors.
type events struct {
	t    *try
	body io.ReadCloser
	in   *bufio.Reader
	size int64
	line []byte // what is still to be handed out
	err  error  // what comes after it
	done bool   // whether the endpoint said that this is all
	late bool   // whether it has nothing to say that is needed
}

func newEvents(t *try, body io.ReadCloser) *events {
	return &events{t: t, body: body, in: bufio.NewReader(body)}
}

func (e *events) Read(p []byte) (int, error) {
	for len(e.line) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.next()
	}
	n := copy(p, e.line)
	e.line = e.line[n:]
	return n, nil
}

// next reads a line. The silence before it is bounded; the time that whoever
// listens takes is not counted.
func (e *events) next() {
	silence := e.t.c.timeout
	if e.late {
		silence = min(silence, lateSilence)
	}
	e.t.silence.Reset(silence)
	text, err := e.in.ReadSlice('\n')
	var long []byte
	for err == bufio.ErrBufferFull && e.size < maxAnswer {
		long = append(long, text...)
		e.size += int64(len(text))
		text, err = e.in.ReadSlice('\n')
	}
	e.t.silence.Stop()
	e.size += int64(len(text))
	if long != nil {
		text = append(long, text...)
	}
	if e.err = err; e.size > maxAnswer {
		e.err = errTooBig
		return
	}
	if err != nil && err != io.EOF { // a line that is cut
		return
	}
	data, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte("data:"))
	if data = bytes.TrimSpace(data); !ok || len(data) == 0 {
		return
	}
	if bytes.Contains(data, []byte(`"error"`)) { // within a text the quotes would be escaped
		if f := failureOf(0, data); f != nil {
			e.err = f
			return
		}
	}
	e.done = e.done || string(data) == "[DONE]"
	if e.line = append(e.line[:0], "data: "...); data[0] == '{' {
		e.line, data = append(e.line, "{ "...), data[1:] // go-openai takes {"error": for an error even where it is null
	}
	e.line = append(append(e.line, data...), '\n')
}

// Close reads what little may come after the end, so that the connection
// serves again, but does not wait for it.
func (e *events) Close() error {
	if e.done && e.err == nil {
		e.t.silence.Reset(50 * time.Millisecond)
		_, _ = io.CopyN(io.Discard, e.in, maxRest)
		e.t.silence.Stop()
	}
	return e.body.Close()
}

// listen makes a response of a streamed answer. One that ends before the
// endpoint gave a reason to finish, or said that this is all, is cut.
func (t *try) listen(stream *api.ChatCompletionStream) (model.Response, error) {
	defer stream.Close()
	var a assembly
	for {
		chunk, err := stream.Recv()
		if field := (*json.UnmarshalTypeError)(nil); errors.As(err, &field) && len(chunk.Choices) > 0 {
			err = nil // a field that we do not need is not as go-openai has it; the others are there
		}
		switch {
		case err == nil:
			t.q.say(a.add(chunk))
			t.events.late = a.finish != ""
			continue
		case a.finish == "" && !t.events.done:
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("the answer was cut after %d bytes", t.events.size)
			}
			return model.Response{}, err
		}
		return t.finish(a.draft())
	}
}

// say hands on a piece of text.
func (q *question) say(piece string) {
	if q.onText != nil && piece != "" {
		q.heard = true
		q.onText(piece)
	}
}

// void says that what was heard of a try that failed does not count.
func (q *question) void() {
	if q.heard {
		q.heard = false
		q.onText("")
	}
}

// An assembly puts the chunks of a stream together.
type assembly struct {
	model         string
	text, refusal strings.Builder
	calls         []*callParts
	numbered      map[int]*callParts
	finish        api.FinishReason
	usage         *api.Usage
}

type callParts struct {
	id, name  string
	arguments strings.Builder
}

// add takes a chunk and gives the text in it.
func (a *assembly) add(chunk api.ChatCompletionStreamResponse) string {
	if chunk.Model != "" {
		a.model = chunk.Model
	}
	if chunk.Usage != nil {
		a.usage = chunk.Usage
	}
	if len(chunk.Choices) == 0 || chunk.Choices[0].Index != 0 {
		return ""
	}
	c := chunk.Choices[0]
	a.text.WriteString(c.Delta.Content)
	a.refusal.WriteString(c.Delta.Refusal)
	for _, d := range c.Delta.ToolCalls {
		a.call(d).add(d)
	}
	if c.FinishReason != "" && c.FinishReason != api.FinishReasonNull {
		a.finish = c.FinishReason
	}
	return c.Delta.Content
}

// call is the tool call that a delta belongs to. Where an endpoint does not
// number them, a new id begins a new one.
func (a *assembly) call(d api.ToolCall) *callParts {
	if d.Index != nil && a.numbered[*d.Index] != nil {
		return a.numbered[*d.Index]
	}
	if n := len(a.calls); d.Index == nil && n > 0 && (d.ID == "" || d.ID == a.calls[n-1].id) {
		return a.calls[n-1]
	}
	c := new(callParts)
	a.calls = append(a.calls, c)
	if d.Index != nil {
		if a.numbered == nil {
			a.numbered = map[int]*callParts{}
		}
		a.numbered[*d.Index] = c
	}
	return c
}

func (c *callParts) add(d api.ToolCall) {
	if c.id == "" {
		c.id = d.ID
	}
	if c.name == "" {
		c.name = d.Function.Name
	}
	c.arguments.WriteString(d.Function.Arguments)
}

func (a *assembly) draft() draft {
	d := draft{model: a.model, text: a.text.String(), refusal: a.refusal.String(), finish: a.finish, usage: a.usage}
	for _, c := range a.calls {
		d.calls = append(d.calls, model.ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments.String()})
	}
	return d
}
