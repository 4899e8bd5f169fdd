package capy

import (
	"fmt"
	"strings"
)

// validityCheck is check 3: every JSON block parses.
func (r *run) validityCheck(f *findings) {
	for _, b := range r.doc.blocks {
		for _, t := range b.twice {
			f.warn(t.at, "The key %q is there twice in one object: the first value is lost", t.key)
		}
		if len(b.errors) == 0 {
			continue
		}
		e := b.errors[0]
		at := b.at
		at.line = e.line
		f.fail(at, "The JSON block that begins on line %d breaks on line %d, column %d: %s%s", b.at.line, e.line, e.column, e.message, again(b.errors))
	}
	if len(f.fails) > 0 {
		f.note = fmt.Sprintf("%d of the JSON blocks %s not parse", len(f.fails), doVerb(len(f.fails)))
	}
}

func doVerb(n int) string {
	if n == 1 {
		return "does"
	}
	return "do"
}

// again lists the lines that repeat a block's first error.
func again(errors []jsonError) string {
	var lines []string
	last := errors[0].line
	for _, e := range errors[1:] {
		if e.line != last {
			lines = append(lines, fmt.Sprint(e.line))
		}
		last = e.line
	}
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return "; the same on line " + lines[0]
	}
	return "; the same on lines " + strings.Join(lines, ", ")
}
