package openai

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// The limits of an answer.
type bounds struct {
	answer int64 // in bytes
	event  int   // of one event of a stream, in bytes
	events int
}

const (
	// patience limits the time in which a stream has only keep-alives. It is a
	// multiple of the
	// timeout.
	patience = 4

	// lateSilence is the timeout after the finish reason, for the usage and the
	// end of the stream.
	lateSilence = 10 * time.Second
)

// events reads server-sent events. Lines end in CR, LF or both, as in the
// standard.
type events struct {
	t     *try
	in    *bufio.Reader
	size  int64
	count int
	data  []byte // of the current event
	lines int    // the number of data lines in the current event
	name  string
	cr    bool // reports whether the last line ended in CR
	until time.Time
	ready []event // complete events that were not returned yet
	err   error   // the error after them
	done  bool    // reports whether the stream has ended
	late  bool    // reports whether the answer is complete without further events
}

// An event has a name, which may be "", and data.
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

// line reads a line. A line that is cut by an error is ignored. The last line
// needs no end.
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

// byteOrder is the byte order mark at the beginning of a stream.
var byteOrder = []byte("\ufeff")

// wait sets the timeout for the next line, and limits the time with only
// keep-alives. The time of
// the listener does not count.
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

// readLine returns a line without its end. It is valid until the next call.
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
	_, _ = e.in.Discard(n) // the buffer has n bytes
}

// field adds a line to the event. An empty line ends the event.
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
	case string(name) == "error": // llama.cpp reports errors in this field
		return protocol.Reported(protocol.ParseComplaint(value), value)
	case string(name) != "data":
		return nil
	}
	ends := string(value) == doneEvent
	if ends || e.lines == 1 && e.complete() { // some endpoints omit the empty line
		if err := e.dispatch(); err != nil {
			return err
		}
	}
	if len(e.data)+len(value) > e.t.c.most.event {
		return e.t.c.most.tooBig()
	}
	if e.lines++; e.lines > 1 {
		e.data = append(e.data, ' ') // a line break is white space in JSON
	}
	e.data = append(e.data, value...)
	if ends {
		return e.dispatch()
	}
	return nil
}

// complete reports whether the data is a complete JSON value.
func (e *events) complete() bool {
	_, err := jsontree.Parse(e.t.ctx, e.data, jsontree.Options{InvalidUTF8: true})
	return err == nil
}

// dispatch appends the current event to the complete ones, unless it is empty.
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

// tooBig returns the failure of an answer that exceeds the limits.
func (b bounds) tooBig() error {
	return &model.Failure{Class: model.Unusable, Message: fmt.Sprintf(
		"the answer is longer than %d bytes, or a streamed one than %d events or has one of more than %d bytes", b.answer, b.events, b.event)}
}

// close reads the rest of the stream without waiting for it, so that the
// connection can be reused.
func (e *events) close() {
	if e.done && e.err == nil {
		e.t.silence.Reset(50 * time.Millisecond)
		_, _ = io.CopyN(io.Discard, e.in, maxRest)
		e.t.silence.Stop()
	}
}
