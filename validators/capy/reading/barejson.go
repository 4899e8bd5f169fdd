package reading

import (
	"bytes"
	"encoding/json"
)

// bare takes a line with which JSON begins that stands in no fence, and is good: it is read
// as that of a fence is, and its lines as nothing else. What is not good stays prose.
func (r *reader) bare(l *line) bool {
	w := &r.walker
	if c := l.raw[l.indent]; c != '{' && c != '[' || !startsJSON(l.text) || w.start < w.json {
		return false
	}
	start := w.start + l.indent
	n, closed := closing(w.text[start:])
	w.json = start + n
	behind := w.text[w.json:]
	if end := bytes.IndexByte(behind, '\n'); end >= 0 {
		behind = behind[:end]
	}
	if !closed || len(bytes.TrimSpace(behind)) > 0 || !json.Valid(w.text[start:w.json]) {
		return false
	}
	w.bare, w.running = w.json, 0
	r.block(w.text[start:w.json], w.at)
	r.inside(l.raw)
	return true
}

// inside takes a line of JSON that was read where it begins.
func (r *reader) inside(t []byte) {
	l := line{kind: html, text: trimLeft(t, &blanks), raw: t}
	if len(l.text) == 0 {
		return
	}
	r.doc.Last = r.walker.at
	r.doc.Ending.see(&l, r.walker.at.Line)
	r.index.endTables(int32(r.walker.start))
	r.follow(&l)
}
