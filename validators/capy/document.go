package capy

import (
	"bytes"
	"fmt"
	"strings"
)

// A place is a line of a text and the heading above it.
type place struct {
	line   int32 // counted from 1
	under  int32 // where the heading's line begins, -1 without one
	source int16 // 0 is the text itself, n its n-th sidecar
}

// A kind is what a line is in Markdown.
type kind uint8

const (
	blank kind = iota
	prose
	item // of a list
	heading
	row   // of a table
	code  // in a fence that is not JSON
	rule  // --- or ***
	fence // the line that opens or closes one
	html
)

// A line is one line of a text, as a [reader] gets it. Its slices are parts of
// the text; cells and header are valid until the next line.
type line struct {
	kind   kind
	text   []byte // without indent, list marker and quote mark
	at     place
	level  int      // of a heading
	cells  [][]byte // of a row
	header [][]byte // the head of the row's table, nil for the head itself
	head   bool     // this row is the head of a table
	under  section  // the heading above, or the line itself
	raw    []byte   // the whole line
}

// section is what the nearest heading says about what stands under it.
type section struct {
	title []byte
	quals qualifiers
}

// A reader looks at a document while it is read, once, from start to end.
type reader interface {
	line(l *line)  // every line but blank ones and those of JSON blocks
	json(e *event) // every key and value of the JSON blocks
}

// A document is a text that has been read, with what the walk found.
type document struct {
	sources  [][]byte // the text and its sidecars
	last     place    // the last line that is not blank
	headings int
	whole    bool  // the text is one JSON document
	open     place // a fence that is never closed; line 0 without one
	blocks   []block
}

// A block is a JSON block that has errors or keys that appear twice.
type block struct {
	at     place // its first line
	errors []jsonError
	twice  []twice
}

// location says where a place is: its line and the nearest heading.
func (d *document) location(p place) string {
	var b strings.Builder
	fmt.Fprintf(&b, "line %d", p.line)
	if p.source > 0 {
		fmt.Fprintf(&b, " of sidecar %d", p.source)
	}
	if title := d.titleAt(p); title != "" {
		fmt.Fprintf(&b, ", under %q", title)
	}
	return b.String()
}

func (d *document) titleAt(p place) string {
	if p.under < 0 || int(p.source) >= len(d.sources) {
		return ""
	}
	t := d.sources[p.source][p.under:]
	if end := bytes.IndexByte(t, '\n'); end >= 0 {
		t = t[:end]
	}
	t = bytes.Trim(t, " \t\r#")
	return clip(string(trimMarks(t[:min(len(t), 300)])), 80)
}

// isHeading reads an ATX heading, ## Title.
func isHeading(t []byte) (level int, title []byte, ok bool) {
	i := 0
	for i < len(t) && i < 4 && t[i] == ' ' {
		i++
	}
	if i == 4 {
		return 0, nil, false
	}
	for i < len(t) && t[i] == '#' {
		level++
		i++
	}
	if level == 0 || level > 6 || i < len(t) && t[i] != ' ' && t[i] != '\t' {
		return 0, nil, false
	}
	return level, bytes.Trim(t[i:], " \t#"), true
}

// isUnderline says that a line of = makes the one above a heading.
func isUnderline(t []byte) bool {
	t = bytes.Trim(t, " \t")
	return len(t) >= 3 && len(bytes.Trim(t, "=")) == 0
}

func isRule(t []byte) bool {
	t = bytes.Trim(t, " \t")
	if len(t) < 3 || t[0] != '-' && t[0] != '*' && t[0] != '_' && t[0] != '=' {
		return false
	}
	for _, c := range t {
		if c != t[0] && c != ' ' {
			return false
		}
	}
	return true
}

// listMarker gives the length of a list item's indent and marker.
func listMarker(t []byte) int {
	i := 0
	for i < len(t) && (t[i] == ' ' || t[i] == '\t') {
		i++
	}
	start := i
	switch {
	case i < len(t) && (t[i] == '-' || t[i] == '*' || t[i] == '+'):
		i++
	case bytes.HasPrefix(t[i:], []byte("•")) || bytes.HasPrefix(t[i:], []byte("–")):
		i += 3
	default:
		for i < len(t) && i-start < 4 && isDigit(t[i]) {
			i++
		}
		if i == start || i == len(t) || t[i] != '.' && t[i] != ')' {
			return 0
		}
		i++
	}
	if i < len(t) && t[i] != ' ' && t[i] != '\t' {
		return 0
	}
	for i < len(t) && (t[i] == ' ' || t[i] == '\t') {
		i++
	}
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		if bytes.HasPrefix(t[i:], []byte(box)) {
			i += len(box)
		}
	}
	return i
}
