package openai

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// listen returns the response of a stream. A stream that ends before a finish
// reason or its last
// event is cut. After that, only an error event is a failure.
func (t *try) listen(in *bufio.Reader) (model.Response, error) {
	e := &events{t: t, in: in}
	defer e.close()
	s := t.c.protocol.Stream()
	for {
		err := t.next(e, s)
		var f *model.Failure
		switch {
		case err == nil:
			e.late = s.Ended()
			continue
		case errors.As(err, &f), !s.Ended() && !e.done:
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("the answer was cut after %d bytes", e.size)
			}
			return t.begun(s), err
		}
		rest, d := s.Finish()
		t.q.say(rest)
		return t.finish(d)
	}
}

// next adds the next event of a stream.
func (t *try) next(e *events, s protocol.Stream) error {
	event, err := e.next()
	if err != nil {
		return err
	}
	if event.name == "error" {
		return protocol.Reported(protocol.ParseComplaint(event.data), event.data)
	}
	text, err := s.Add(t.ctx, event.name, event.data)
	t.q.say(text)
	if errors.Is(err, io.EOF) {
		e.done = true
		return err
	}
	return undecoded("an event does not decode", err)
}

// undecoded adds a description to err, unless err is a failure.
func undecoded(what string, err error) error {
	if err == nil || errors.As(err, new(*model.Failure)) {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// begun returns the known usage of an answer that was cut.
func (t *try) begun(s protocol.Stream) model.Response {
	_, d := s.Finish()
	resp := model.Response{Model: d.Model, ID: d.ID, Finish: d.Finish}
	if d.Answered {
		resp.Usage = t.usage(d)
	}
	return resp
}

// say passes a piece of text to the listener.
func (q *question) say(piece string) {
	if q.r.OnText != nil && piece != "" {
		q.emitted = true
		q.r.OnText(piece)
	}
}

// void makes the listener discard the text of a failed try.
func (q *question) void() {
	if q.emitted {
		q.emitted = false
		q.r.OnText("")
	}
}
