package openai

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/seed61713e19/capstan/runner/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// Bounds are how long an answer may be.
type bounds struct {
	answer int64 // bytes
	event  int   // bytes of one event of a stream
	events int
}

const (
	// patience is for how many times the longest silence keep-alives hold an
	// answer open in which nothing else comes.
	patience = 4

	// lateSilence is how long is waited for what may follow a finished answer:
	// its usage, and that this is all.
	lateSilence = 10 * time.Second
)

// events reads the events of a stream. Lines end as the standard of server-sent events
// says: in CR, LF or both.
type events struct {
	t     *try
	in    *bufio.Reader
	size  int64
	count int
	data  []byte // of the event under way
	lines int    // that it has
	name  string
	cr    bool // the last line ended in CR
	until time.Time
	ready []event // not returned yet
	err   error   // what comes after them
	done  bool    // no event may follow
	late  bool    // what may follow is not needed
}

// An event is a name, which may be "", and data.
type event struct {
	name string
	data []byte
}

// next returns the next event.
func (e *events) next() (event, error) {
	for len(e.ready) == 0 {
		if e.err != nil {
			return event{}, e.err
		}
		e.err = e.line()
	}
	first := e.ready[0]
	e.ready = e.ready[1:]
	return first, nil
}

// line reads a line. One that is cut by an error is none, but the last one needs no
// end.
func (e *events) line() error {
	if err := e.wait(); err != nil {
		return err
	}
	line, err := e.readLine()
	e.t.silence.Stop()
	if err != nil && err != io.EOF {
		return err
	}
	if wrong := e.field(bytes.TrimSpace(bytes.TrimPrefix(line, byteOrder))); wrong != nil {
		return wrong
	}
	if err == io.EOF {
		if wrong := e.dispatch(); wrong != nil {
			return wrong
		}
	}
	return err
}

// byteOrder is a mark that a stream may begin with.
var byteOrder = []byte("\ufeff")

// wait bounds the silence before a line, and the time in which only keep-alives
// come. The time that whoever listens takes is not counted.
func (e *events) wait() error {
	silence := e.t.c.timeout
	if e.late {
		silence = min(silence, lateSilence)
	}
	if e.until.IsZero() {
		e.until = time.Now().Add(patience * silence)
	}
	switch over := time.Now().After(e.until); {
	case over && e.late:
		return io.EOF
	case over:
		return &model.Failure{Class: model.TimedOut, Message: fmt.Sprintf("%s sends keep-alives and nothing else for %s", e.t.c.url.Host, patience*silence)}
	}
	e.t.silence.Reset(silence)
	return nil
}

// readLine reads a line without its end. It is valid until the next one is
// read.
func (e *events) readLine() (line []byte, err error) {
	for {
		if _, err := e.in.Peek(1); err != nil {
			return line, err
		}
		ready, _ := e.in.Peek(e.in.Buffered())
		if e.cr && ready[0] == '\n' {
			e.cr = false
			e.skip(1)
			continue
		}
		n := bytes.IndexAny(ready, "\r\n")
		if n >= 0 {
			e.cr = ready[n] == '\r'
			e.skip(n + 1)
			ready = ready[:n]
		} else {
			e.cr = false
			e.skip(len(ready))
		}
		if e.size > e.t.c.most.answer || len(line)+len(ready) > e.t.c.most.event {
			return nil, e.t.c.most.tooBig()
		}
		if n >= 0 && line == nil {
			return ready, nil
		}
		if line = append(line, ready...); n >= 0 {
			return line, nil
		}
	}
}

func (e *events) skip(n int) {
	e.size += int64(n)
	_, _ = e.in.Discard(n) // they are there
}

// field takes a line of an event; an empty one is its end.
func (e *events) field(line []byte) error {
	if len(line) == 0 {
		return e.dispatch()
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case len(value) == 0:
		return nil
	case string(name) == "event":
		e.name = string(value)
		return nil
	case string(name) == "error": // as llama.cpp has it
		return protocol.Reported(protocol.ParseComplaint(value), value)
	case string(name) != "data":
		return nil
	}
	ends := string(value) == doneEvent
	if ends || e.lines == 1 && e.complete() { // some endpoints leave out the empty line
		if err := e.dispatch(); err != nil {
			return err
		}
	}
	if len(e.data)+len(value) > e.t.c.most.event {
		return e.t.c.most.tooBig()
	}
	if e.lines++; e.lines > 1 {
		e.data = append(e.data, ' ') // the line's end is white space of JSON too
	}
	e.data = append(e.data, value...)
	if ends {
		return e.dispatch()
	}
	return nil
}

// complete reports whether the data of the event is a JSON value.
func (e *events) complete() bool {
	_, err := jsontree.Parse(e.t.ctx, e.data, jsontree.Options{InvalidUTF8: true})
	return err == nil
}

// dispatch makes the event that is complete ready, if there is any.
func (e *events) dispatch() error {
	complete := event{e.name, e.data}
	e.data, e.name, e.lines = nil, "", 0
	if len(complete.data) == 0 {
		return nil
	}
	e.until = time.Time{}
	if e.count++; e.count > e.t.c.most.events {
		return e.t.c.most.tooBig()
	}
	e.ready = append(e.ready, complete)
	return nil
}

// tooBig is the failure of an answer that is longer than any; the next would be
// too.
func (b bounds) tooBig() error {
	return &model.Failure{Class: model.Unusable, Message: fmt.Sprintf(
		"the answer is longer than %d bytes, or a streamed one than %d events or has one of more than %d bytes", b.answer, b.events, b.event)}
}

// close reads what little may come after the end, so that the connection serves again,
// but does not wait for it.
func (e *events) close() {
	if e.done && e.err == nil {
		e.t.silence.Reset(50 * time.Millisecond)
		_, _ = io.CopyN(io.Discard, e.in, maxRest)
		e.t.silence.Stop()
	}
}
