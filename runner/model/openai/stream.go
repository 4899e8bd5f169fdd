package openai

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// listen returns the response of a streamed answer. One that ends before the endpoint
// gave a reason to finish, or said that this is all, is cut; once it has, only a
// complaint counts against it.
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

// next reads the next event of a stream.
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

// undecoded returns err with what it is about, unless err is a failure.
func undecoded(what string, err error) error {
	if err == nil || errors.As(err, new(*model.Failure)) {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// begun returns what is known of an answer that broke off: its usage.
func (t *try) begun(s protocol.Stream) model.Response {
	_, d := s.Finish()
	resp := model.Response{Model: d.Model, ID: d.ID, Finish: d.Finish}
	if d.Answered {
		resp.Usage = t.usage(d)
	}
	return resp
}

// say passes a piece of text on.
func (q *question) say(piece string) {
	if q.r.OnText != nil && piece != "" {
		q.heard = true
		q.r.OnText(piece)
	}
}

// void reports that the text of a try that failed does not count.
func (q *question) void() {
	if q.heard {
		q.heard = false
		q.r.OnText("")
	}
}
