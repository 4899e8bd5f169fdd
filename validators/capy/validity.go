package capy

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

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
