package capy

import (
	"bytes"
	"slices"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// owed tells the entries over tables in which the number that they would have is one of
// placeholders, in its column, in its row or beside each of the joint states: the other
// numbers there are of something else. A label may have one of its own beside it.
func (r *run) owed(m Mention, entries []reading.Entry) func(reading.Entry) bool {
	var waiting []reading.Entry
	for _, e := range entries {
		if m.Wants == wantsNumber && awaits(r.doc, e) {
			waiting = append(waiting, e)
		}
	}
	states := m.Wants == wantsNumber && reading.MetricOf(m.Metric) == reading.JPD && r.statesAwaited()
	return func(e reading.Entry) bool {
		switch e.Form {
		case reading.Prose, reading.Item:
			return false
		case reading.Label:
			if hasNumber(r.doc.Rest(e)) {
				return false
			}
		case reading.Cell, reading.JSON:
			return states
		}
		return states || slices.ContainsFunc(waiting, func(w reading.Entry) bool { return r.doc.Covers(e, w) })
	}
}

// statesAwaited says that the text lists joint states and gives a probability to none.
func (r *run) statesAwaited() bool {
	awaited := func(t reading.Tally) bool { return t.Awaited > 0 }
	stated := func(t reading.Tally) bool { return t.N > 0 }
	return slices.ContainsFunc(r.doc.Tallies, awaited) && !slices.ContainsFunc(r.doc.Tallies, stated)
}

// beside are the cells of a piece of a row, parted by bars, tags or spaces.
func beside(t []byte) (list [][]byte) {
	switch {
	case bytes.IndexByte(t, '|') >= 0:
		return bytes.Split(t, []byte{'|'})
	case bytes.IndexByte(t, '<') < 0:
		return bytes.Split(t, []byte("  "))
	}
	for len(t) > 0 {
		cell, rest, _ := bytes.Cut(t, []byte{'<'})
		list = append(list, cell)
		_, t, _ = bytes.Cut(rest, []byte{'>'})
	}
	return list
}

// awaits says that what stands in the cell behind an entry's is a placeholder, whatever
// those behind it say: SSE | TBD | model 4. Of a table's head all in its column are.
func awaits(d *reading.Document, e reading.Entry) bool {
	if e.Form != reading.Cell {
		return false
	}
	if e.Head {
		column := d.Column(e)
		return len(column) > 0 && !slices.ContainsFunc(column, func(cell []byte) bool { return !unmade(trimmed(cell)) })
	}
	list := beside(limited(d.Rest(e)))
	for i, cell := range list {
		if i == 0 {
			if said, linked := reading.Said(cell); linked && len(said) > 0 {
				return false
			}
		} else if cell = trimmed(cell); len(cell) > 0 {
			return unmade(cell)
		}
	}
	return false
}

// filled says that of what a label or the head of a column covers, or stands behind the
// label up to the next, something is no placeholder.
func filled(d *reading.Document, e reading.Entry) bool {
	t := body(d, e)
	switch {
	case e.Head:
		line := d.Line(e)
		_, rows, _ := bytes.Cut(t, []byte{'\n'})
		t = slices.Concat(line, []byte{'\n'}, rows)
		if bytes.IndexByte(line, '|') < 0 && bytes.IndexByte(line, '<') < 0 {
			t = slices.Concat([]byte("```\n"), t)
		}
	case e.Form != reading.Label:
		return true
	}
	lines, _ := told(t)
	if lines == 0 && !e.Head {
		lines, _ = told(slices.Concat(t, d.Following(e)))
	}
	return lines > 0
}
