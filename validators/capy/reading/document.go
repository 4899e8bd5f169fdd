package reading

import (
	"bytes"
	"fmt"
)

// A Place is a line of one of the texts and the heading above it.
type Place struct {
	Line   int32 // counted from 1
	under  int32 // where the heading's line begins, -1 without one
	Source int16 // 0 is the text itself, n its n-th sidecar
}

// Top is the first line of the text.
var Top = Place{Line: 1, under: -1}

// A Form is how a text says something.
type Form uint8

// The forms. Code is a line of a fence that is not JSON; Label the bold or
// first words of a line, up to its colon.
const (
	Prose Form = iota
	Item
	Heading
	Cell
	JSON
	Code
	Label
)

// A Document is what one reading of a text and its sidecars found.
type Document struct {
	Sources    [][]byte // the text and its sidecars
	Statements []Statement
	Entries    []Entry
	Tallies    []Tally
	Keys       []Key                    // of JSON, near its top
	Scenarios  [ScenarioCount + 1]Place // where each scenario is first named; line 0 where it is not
	Blocks     []Block
	Last       Place // the last line that is not blank
	Headings   int
	Whole      bool  // the text is one JSON document
	Open       Place // a fence that is never closed; line 0 without one
	Ending     Ending
	Manner     Manner
}

// A Block is a JSON block that has errors or keys that appear twice.
type Block struct {
	At     Place // its first line
	Errors []JSONError
	Twice  []Twice
}

// Location says where a place is: its line and the nearest heading.
func (d *Document) Location(p Place) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "line %d", p.Line)
	if p.Source > 0 {
		fmt.Fprintf(&b, " of sidecar %d", p.Source)
	}
	if title := d.titleAt(p); title != "" {
		fmt.Fprintf(&b, ", under %q", title)
	}
	return b.String()
}

func (d *Document) titleAt(p Place) string {
	if p.under < 0 || int(p.Source) >= len(d.Sources) {
		return ""
	}
	t := d.Sources[p.Source][p.under:]
	if end := bytes.IndexAny(t[:min(len(t), 1000)], "\r\n"); end >= 0 {
		t = t[:end]
	}
	t = bytes.Trim(t, " \t\r#")
	return Clip(string(trimMarks(t[:min(len(t), 300)])), 80)
}

// Quote shows what a statement was read from.
func (d *Document) Quote(s Statement) string {
	t := d.Sources[s.At.Source]
	from := min(int(s.from), len(t))
	quote := t[from:min(max(int(s.to), from), len(t), from+120)]
	if s.Form != JSON {
		quote = trimMarks(quote)
	} else if from > 0 && t[from-1] == '"' {
		quote = t[from-1 : from+len(quote)]
	}
	return Clip(string(quote), 100)
}

// Title is the name that an entry gives, as it is written.
func (d *Document) Title(e Entry) []byte { return d.part(e, e.from, e.to) }

// Body is the stretch of text that an entry covers: what stands behind a
// label, under a heading, in the rest of a row, in the value of a key.
func (d *Document) Body(e Entry) []byte { return d.part(e, e.body, e.end) }

// Rest is what the line of an entry says behind its name.
func (d *Document) Rest(e Entry) []byte { return d.part(e, e.to, e.rest) }

func (d *Document) part(e Entry, from, to int32) []byte {
	if int(e.At.Source) >= len(d.Sources) {
		return nil
	}
	t := d.Sources[e.At.Source]
	from = min(max(from, 0), int32(len(t)))
	return t[from:min(max(to, from), int32(len(t)))]
}

// Line is the line that an entry's name stands on.
func (d *Document) Line(e Entry) []byte {
	t := d.Sources[e.At.Source]
	from := max(0, int(e.from)-maxPiece)
	if i := bytes.LastIndexByte(t[from:min(int(e.from), len(t))], '\n'); i >= 0 {
		from += i + 1
	}
	return d.part(e, int32(from), max(e.rest, e.to))
}

// Covers says whether the body of one entry holds the name of another.
func (d *Document) Covers(outer, inner Entry) bool {
	return outer.At.Source == inner.At.Source && inner.from >= outer.body && inner.from < outer.end
}

// Column is the cells under that of a table's head.
func (d *Document) Column(e Entry) (cells [][]byte) {
	line, body := d.Line(e), d.Body(e)
	body = body[:min(len(body), maxColumn)]
	head := line[:max(0, len(line)-int(max(e.rest, e.to)-e.from))]
	table := tableState{spaced: bytes.IndexByte(line, '|') < 0}
	if table.spaced && bytes.IndexByte(body, '<') >= 0 {
		return d.tagColumn(e, body)
	}
	var room [maxCells][]byte
	n := len(table.split(append(bytes.Clone(trimLeft(head, &quoting)), '.'), room[:0])) - 1
	_, body, _ = bytes.Cut(body, []byte{'\n'})
	for row := range bytes.Lines(body) {
		if row = trimLeft(bytes.TrimSpace(row), &quoting); isRuler(row) || isSpacedRuler(row) {
			continue
		}
		if !table.spaced && bytes.IndexByte(row, '|') < 0 {
			break
		}
		if l := table.split(row, room[:0]); n < len(l) {
			cells = append(cells, l[n])
		}
	}
	return cells
}

// tagColumn is Column of a table of tags; all of it is one where its rows are not told
// apart.
func (d *Document) tagColumn(e Entry, body []byte) (cells [][]byte) {
	head := d.Sources[e.At.Source][max(0, int(e.from)-maxPiece):e.from]
	head = head[max(0, bytes.LastIndex(head, []byte("<tr"))):]
	n := bytes.Count(head, []byte("<th")) + bytes.Count(head, []byte("<td"))
	for i, row := range bytes.Split(body, []byte("<tr")) {
		if l := bytes.Split(row, []byte("<td")); i > 0 && n < len(l) {
			_, cell, _ := bytes.Cut(l[n], []byte{'>'})
			cell, _, _ = bytes.Cut(cell, []byte("</t"))
			cells = append(cells, cell)
		}
	}
	if len(cells) == 0 {
		return [][]byte{body}
	}
	return cells
}

// maxColumn is how much of a table is looked at for one of its columns.
const maxColumn = 1 << 14

// Next is the next line behind an entry's that is not blank.
func (d *Document) Next(e Entry) []byte {
	t := d.Sources[e.At.Source]
	t = bytes.TrimLeft(t[min(int(max(e.rest, e.end)), len(t)):], " \t\r\n")
	t = t[:min(len(t), maxPiece)]
	if end := bytes.IndexByte(t, '\n'); end >= 0 {
		t = t[:end]
	}
	return t
}

// Following is the text behind an entry's line up to the next line that looks
// like a heading.
func (d *Document) Following(e Entry) []byte {
	t := d.Sources[e.At.Source]
	t = t[min(int(max(e.rest, e.end)), len(t)):]
	t = t[:min(len(t), 1<<14)]
	for _, mark := range []string{"\n#", "\n**", "\n==", "\n<!--"} {
		if i := bytes.Index(t, []byte(mark)); i >= 0 {
			t = t[:i]
		}
	}
	return t
}
