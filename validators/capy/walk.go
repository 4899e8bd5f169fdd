package capy

import (
	"bytes"
	"math"
)

// A walker goes through one text line by line, once, and shows what it meets
// to the readers. Its state is bounded; it keeps none of the text.
type walker struct {
	doc     *document
	readers []reader
	text    []byte
	pos     int   // where the next line begins
	at      place // the present line
	above   section
	before  []byte // the line before, where it was running text
	beforeP int    // and where it begins
	fences  fenceStack
	table   tableState
	scan    jsonScanner
	l       line
}

// read walks through a text and its sidecars.
func read(text []byte, sidecars [][]byte, readers ...reader) *document {
	doc := &document{sources: append([][]byte{text}, sidecars...)}
	w := &walker{doc: doc, readers: readers, text: text, at: place{under: -1}}
	w.scan.readers = readers
	if isJSONDocument(text) {
		doc.whole = true
		doc.last = place{line: int32(bytes.Count(bytes.TrimRight(text, " \t\r\n"), []byte{'\n'})) + 1, under: -1}
		w.json(text, place{line: 1, under: -1})
	} else {
		w.lines()
	}
	for i, s := range sidecars {
		w.json(s, place{line: 1, under: -1, source: int16(min(i+1, math.MaxInt16))})
	}
	return doc
}

// isJSONDocument says whether a text is meant as one JSON document: it begins
// as one, and has neither a heading nor a fence.
func isJSONDocument(t []byte) bool {
	t = bytes.TrimLeft(t, " \t\r\n")
	if !startsJSON(t) {
		return false
	}
	for _, mark := range []string{"\n#", "\n```", "\n~~~"} {
		if bytes.Contains(t, []byte(mark)) {
			return false
		}
	}
	return true
}

func (w *walker) lines() {
	w.fences.unwrap(w.text)
	for w.pos < len(w.text) {
		start := w.pos
		end := bytes.IndexByte(w.text[start:], '\n')
		if end < 0 {
			end = len(w.text)
			w.pos = end
		} else {
			end += start
			w.pos = end + 1
		}
		w.at.line++
		w.line(start, bytes.TrimSuffix(w.text[start:end], []byte{'\r'}))
	}
	if f := w.fences.top(); f != nil {
		w.abandon(f)
	}
}

// line sorts one line.
func (w *walker) line(start int, t []byte) {
	if f, ok := fenceMark(t); ok && !w.fences.wrapper(start) {
		w.table.end()
		w.doc.last = w.at
		if w.fence(f, start) {
			w.show(line{kind: fence, text: t, raw: t})
			w.before = nil
			return
		}
	} else if ok {
		return
	}
	trimmed := bytes.TrimLeft(t, " \t")
	if len(bytes.TrimRight(trimmed, " \t")) == 0 {
		w.table.end()
		w.before = nil
		return
	}
	w.doc.last = w.at
	if f := w.fences.top(); f != nil && !f.open() {
		if f.shown() {
			w.show(line{kind: code, text: trimmed, raw: t})
		}
		return
	}
	w.markdown(start, t, trimmed)
}

// markdown sorts a line that is not in a fence.
func (w *walker) markdown(start int, t, trimmed []byte) {
	l := line{kind: prose, text: trimmed, raw: t}
	level, title, isHead := isHeading(t)
	marker := 0
	switch {
	case isHead:
		w.table.end()
		w.heading(start, level, title)
		return
	case w.before != nil && isUnderline(t):
		w.heading(w.beforeP, 1, w.before)
		return
	case w.table.row(&l, trimmed, w.next()):
	case isRule(t):
		l.kind = rule
	case trimmed[0] == '<' && len(trimmed) > 1 && (isLetter(trimmed[1]) || trimmed[1] == '!' || trimmed[1] == '/'):
		l.kind = html
	default:
		if marker = listMarker(t); marker > 0 {
			l.kind, l.text = item, t[marker:]
		} else if trimmed[0] == '>' {
			l.text = bytes.TrimLeft(trimmed, "> ")
		}
	}
	w.before = nil
	if l.kind == prose {
		w.before, w.beforeP = trimmed, start
	}
	w.show(l)
}

func (w *walker) heading(start, level int, title []byte) {
	w.at.under = int32(start)
	w.doc.headings++
	w.above = section{title: title}
	w.above.quals.heading(title, level)
	w.before = nil
	w.show(line{kind: heading, level: level, text: title, raw: title})
}

func (w *walker) show(l line) {
	w.l = l
	w.l.at, w.l.under = w.at, w.above
	for _, r := range w.readers {
		r.line(&w.l)
	}
}

// next is the line behind the present one, cut to what a table's ruler needs.
func (w *walker) next() []byte {
	t := w.text[w.pos:min(len(w.text), w.pos+2000)]
	if end := bytes.IndexByte(t, '\n'); end >= 0 {
		t = t[:end]
	}
	return t
}

// json reads a JSON block.
func (w *walker) json(t []byte, at place) {
	if b := w.scan.read(t, at); len(b.errors) > 0 || len(b.twice) > 0 {
		w.doc.blocks = append(w.doc.blocks, b)
	}
}

// replay shows the lines of a fence that turned out not to be JSON.
func (w *walker) replay(t []byte, at place) {
	keep := w.at
	w.at = at
	for len(t) > 0 {
		end := bytes.IndexByte(t, '\n')
		l := t
		if end >= 0 {
			l, t = t[:end], t[end+1:]
		} else {
			t = nil
		}
		if l = bytes.TrimSpace(l); len(l) > 0 {
			w.show(line{kind: code, text: l, raw: l})
		}
		w.at.line++
	}
	w.at = keep
}
