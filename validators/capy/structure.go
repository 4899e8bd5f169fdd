package capy

import (
	"bytes"
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
