package capy

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// minCharacters is how many characters an output must have more than.
const minCharacters = 500

// structureCheck is check 1: long enough, a heading, whole, and an output.
func (r *run) structureCheck(f *findings) {
	text := r.doc.Sources[0]
	if len(bytes.TrimSpace(text)) == 0 {
		f.fail(reading.Top, "The output is empty: want more than %d characters", minCharacters)
		return
	}
	// what is longer than this holds more characters, of however many bytes
	if n := utf8.RuneCount(text[:min(len(text), (minCharacters+1)*utf8.UTFMax)]); n <= minCharacters {
		f.fail(r.doc.Last, "The output has %d characters: want more than %d", n, minCharacters)
	}
	if r.doc.Whole {
		r.wholeJSON(f)
		return
	}
	if r.doc.Headings == 0 {
		if r.onlyJSON() {
			f.note = "one JSON document, without a heading"
		} else {
			f.fail(reading.Top, "There is no Markdown heading: want at least one line that begins with # or ##")
		}
	}
	if at := r.doc.Open; at.Line > 0 {
		f.fail(at, "The fence of line %d is never closed", at.Line)
		return
	}
	if why := (ending{&r.doc.Ending}).broken(); why != "" {
		f.fail(r.doc.Last, "The output breaks off: %s", why)
		return
	}
	r.mannerCheck(f)
}

// What share of the lines, one in so many, makes a text a program or a list of
// orders, and how many there must be.
const (
	programShare = 3
	programLines = 6
	orderShare   = 8
	orderLines   = 5
)

// mannerCheck finds texts that are no outputs: the source of a program, and a
// prompt that tells its reader what to do. Research questions are orders.
func (r *run) mannerCheck(f *findings) {
	m := r.doc.Manner
	switch {
	case m.Declares > 0 && m.Program >= programLines && m.Program*programShare >= m.Lines:
		f.fail(reading.Top, "The text is the source of a program: %d of its %d lines are statements", m.Program, m.Lines)
	case r.stage.Questions == nil && m.Addresses >= orderLines && (m.Addresses+m.Orders)*orderShare >= m.Lines:
		f.fail(reading.Top, "The text tells its reader what to do, as a prompt does, and is no output: %d of its %d lines are instructions", m.Addresses+m.Orders, m.Lines)
	}
}

// wholeJSON judges an output that is one JSON document.
func (r *run) wholeJSON(f *findings) {
	for _, b := range r.doc.Blocks {
		if b.At.Source == 0 && len(b.Errors) > 0 && (b.Errors[0].Kind == "unclosed" || b.Errors[0].Kind == "unclosed string" && b.Errors[0].Line >= r.doc.Last.Line) {
			f.fail(r.doc.Last, "The output breaks off in its JSON: %s", b.Errors[0].Message)
			return
		}
	}
	f.note = "one JSON document, without a heading"
}

// onlyJSON says that the text is a JSON fence and nothing else.
func (r *run) onlyJSON() bool {
	t := bytes.TrimSpace(r.doc.Sources[0])
	e := &r.doc.Ending
	return e.Fences <= 2 && e.Others == 0 && (bytes.HasPrefix(t, []byte("```json")) || bytes.HasPrefix(t, []byte("```\n{")))
}

// validityCheck is check 3: every JSON block parses.
func (r *run) validityCheck(f *findings) {
	for _, b := range r.doc.Blocks {
		for _, t := range b.Twice {
			f.warn(t.At, "The key %q is there twice in one object: the first value is lost", t.Key)
		}
		if len(b.Errors) == 0 {
			continue
		}
		e := b.Errors[0]
		at := b.At
		at.Line = e.Line
		f.fail(at, "The JSON block that begins on line %d breaks on line %d, column %d: %s%s", b.At.Line, e.Line, e.Column, e.Message, again(b.Errors))
	}
	if n := len(f.fails); n == 1 {
		f.note = "1 of the JSON blocks does not parse"
	} else if n > 1 {
		f.note = fmt.Sprintf("%d of the JSON blocks do not parse", n)
	}
}

// again lists the lines that repeat a block's first error.
func again(errors []reading.JSONError) string {
	var lines []string
	last := errors[0].Line
	for _, e := range errors[1:] {
		if e.Line != last {
			lines = append(lines, fmt.Sprint(e.Line))
		}
		last = e.Line
	}
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return "; the same on line " + lines[0]
	}
	return "; the same on lines " + strings.Join(lines, ", ")
}
