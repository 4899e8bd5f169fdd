package capy

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// minCharacters is how many characters an output must have more than.
const minCharacters = 500

// structureCheck is check 1: long enough, a heading, and whole.
func (r *run) structureCheck(f *findings) {
	text := r.doc.sources[0]
	if len(bytes.TrimSpace(text)) == 0 {
		f.fail(place{line: 1, under: -1}, "The output is empty: want more than %d characters", minCharacters)
		return
	}
	if n := utf8.RuneCount(text); n <= minCharacters {
		f.fail(r.doc.last, "The output has %d characters: want more than %d", n, minCharacters)
	}
	if r.doc.whole {
		r.wholeJSON(f)
		return
	}
	if r.doc.headings == 0 {
		if r.onlyJSON() {
			f.note = "one JSON document, without a heading"
		} else {
			f.fail(place{line: 1, under: -1}, "There is no Markdown heading: want at least one line that begins with # or ##")
		}
	}
	if at := r.doc.open; at.line > 0 {
		f.fail(at, "The fence of line %d is never closed", at.line)
		return
	}
	if why := r.ending.broken(); why != "" {
		f.fail(r.doc.last, "The output breaks off: %s", why)
	}
}

// wholeJSON judges an output that is one JSON document.
func (r *run) wholeJSON(f *findings) {
	for _, b := range r.doc.blocks {
		if b.at.source == 0 && len(b.errors) > 0 && (b.errors[0].kind == "unclosed" || b.errors[0].kind == "unclosed string" && b.errors[0].line >= r.doc.last.line) {
			f.fail(r.doc.last, "The output breaks off in its JSON: %s", b.errors[0].message)
			return
		}
	}
	f.note = "one JSON document, without a heading"
}

// onlyJSON says that the text is a JSON fence and nothing else.
func (r *run) onlyJSON() bool {
	t := bytes.TrimSpace(r.doc.sources[0])
	return r.ending.blocks == 1 && r.ending.others == 0 && (bytes.HasPrefix(t, []byte("```json")) || bytes.HasPrefix(t, []byte("```\n{")))
}

// An ending remembers how a text ends: its last paragraph.
type ending struct {
	last   kind
	text   []byte // of the last line
	raw    []byte
	first  kind   // of the line that the paragraph begins with
	head   []byte // that line
	words  int    // of the paragraph, as far as they are counted
	lines  int
	number int32 // of the last line
	table  tableEnd
	fences int
	blocks int
	others int // lines that are not in fences
}

func (e *ending) line(l *line) {
	if l.kind == code {
		return
	}
	if l.kind == fence {
		if e.fences++; e.fences%2 == 1 {
			e.blocks++
		}
	} else {
		e.others++
	}
	continues := (l.kind == prose || l.kind == html && e.first == prose) && (e.first == prose || e.first == item || e.first == html) && l.at.line == e.number+1
	e.table.see(l, e.last)
	e.last, e.text, e.raw, e.number = l.kind, l.text, l.raw, l.at.line
	if !continues {
		e.first, e.head, e.words, e.lines = l.kind, l.text, 0, 0
		if l.kind == prose && len(l.raw) > 3 && (l.raw[0] == '\t' || bytes.HasPrefix(l.raw, []byte("    "))) {
			e.first = item // goes on an item, or is code
		}
	}
	e.lines++
	if e.words < manyWords {
		e.words += countWords(l.text[:min(len(l.text), 600)])
	}
}

func (e *ending) json(*event) {}

// A tableEnd remembers how the rows of a table end.
type tableEnd struct {
	bare bool // the table has a head and a ruler, and no row yet
	bar  bool // the last row ends with a bar
	open bool // rows of this table need no bar at their end
}

func (e *tableEnd) see(l *line, before kind) {
	e.bare = l.kind == rule && before == row && bytes.IndexByte(l.raw, '|') >= 0
	e.bar = bytes.HasSuffix(bytes.TrimRight(l.raw, " \t"), []byte{'|'})
	if l.head {
		e.open = !e.bar
	} else if len(l.header) == 0 && l.kind == row {
		e.open = l.text[0] != '|'
	}
}

// How many words make a line prose, and a label's text a sentence.
const (
	fewWords  = 4
	manyWords = 20
)

// broken says how the text breaks off, or "".
func (e *ending) broken() string {
	t := bytes.TrimRight(e.text, " \t\r")
	t = t[max(0, len(t)-2000):]
	switch e.last {
	case row:
		if !e.table.bar && !e.table.open {
			return fmt.Sprintf("its last line is a table's row without its end: %q", tail(t))
		}
		return ""
	case rule:
		if e.table.bare {
			return "its last table has no rows"
		}
		return ""
	case blank, fence, heading, html, code:
		return ""
	}
	if len(bytes.Trim(t, "*`")) == 0 {
		return "its last line has nothing in it: " + fmt.Sprintf("%q", tail(e.raw))
	}
	if marker(t) {
		return ""
	}
	if why := e.strong(t); why != "" {
		return why
	}
	if e.first != prose || closed(t) || e.label() || e.signOff() || e.words < fewWords && e.lines == 1 {
		return ""
	}
	return fmt.Sprintf("its last sentence has no end: %q", tail(t))
}

// strong are the signs that a line is cut wherever it stands.
func (e *ending) strong(t []byte) string {
	last := t[len(t)-1]
	bare := bytes.TrimRight(t, "*_` ")
	switch {
	case last == ',':
		return fmt.Sprintf("its last line ends in a comma: %q", tail(t))
	case last == '(' || last == '[' || last == '{':
		return fmt.Sprintf("its last line ends in an open bracket: %q", tail(t))
	case bytes.Count(t, []byte("**"))%2 == 1, t[0] == '*' && bytes.Count(t, []byte{'*'})%2 == 1:
		return fmt.Sprintf("its last line ends inside emphasis: %q", tail(t))
	case t[0] == '"' && bytes.Contains(t, []byte(`":`)) && e.first == prose:
		return fmt.Sprintf("its last line is a piece of JSON: %q", tail(t))
	}
	if len(bare) < len(t) {
		return ""
	}
	start := len(t)
	for start > 0 && isASCIIWord(t[start-1]) {
		start--
	}
	if start > 0 && start < len(t) && t[start-1] == ' ' {
		if w := t[start:]; always[string(w)] || e.first == prose && connecting[string(w)] {
			return fmt.Sprintf("its last line ends in a connecting word: %q", tail(t))
		}
	}
	return ""
}

var (
	always     = set("the", "an", "and", "or", "because", "which", "whose", "than", "although", "while", "whereas", "a")
	connecting = set("of", "to", "in", "on", "for", "with", "by", "from", "at", "as", "that", "is", "are", "was", "were", "will", "would", "should", "could", "can", "may", "might", "must", "has", "have", "had",
		"be", "been", "but", "if", "when", "where", "into", "its", "their", "this", "these", "our", "not", "between", "through", "via", "per", "both", "such", "also", "more", "very", "over", "under", "about", "against", "during")
)

// marker is a line that says that the text ends here.
func marker(t []byte) bool {
	t = bytes.Trim(t, " *_`~=-—–#<>/!")
	if len(t) == 0 {
		return true
	}
	t = bytes.TrimLeft(t, "[( ")
	for _, s := range []string{"end of", "end", "fin", "eof", "### end"} {
		if n, ok := hasFold(t, s); ok && (n == len(t) || !isASCIIWord(t[n])) && t[len(t)-1] != ',' && len(t) < 160 {
			return true
		}
	}
	return false
}

// closed says that a line ends as sentences do, or as what needs no end.
func closed(t []byte) bool {
	t = bytes.TrimRight(t, " \t")
	if bare := bytes.TrimRight(t, "*_"); len(bare) < len(t) {
		if t[0] == '*' || t[0] == '_' {
			return true // all of it is emphasised
		}
		t = bare
	}
	end := bytes.TrimRight(t, "*_`\"')]}>»”’")
	if bytes.HasSuffix(end, []byte("...")) || bytes.HasSuffix(end, []byte("…")) || len(t) == 0 {
		return false
	}
	if len(end) < len(t) {
		return true // code, a link, a quotation or parenthesis ends here
	}
	switch t[len(t)-1] {
	case '.', '!', '?', '|', '$', '\\':
		return true
	}
	if r, size := utf8.DecodeLastRune(t); size > 1 {
		return closingRune(r)
	}
	start := bytes.LastIndexByte(t, ' ') + 1
	return bytes.Contains(t[start:], []byte("://")) || bytes.HasPrefix(t, []byte("[^"))
}

// closingRune are full stops of other scripts, and signs: a tick, a flag, a box.
func closingRune(r rune) bool {
	switch r {
	case '。', '！', '？', '．', '」', '』', '）':
		return true
	}
	return r >= 0x2190 && r <= 0x2BFF && r != '→' || r >= 0x1F000
}

// label says that the paragraph is a label and a short value: Next stage:
// BASE_T2.
func (e *ending) label() bool {
	if e.lines > 1 && !bytes.HasPrefix(e.text, []byte("**")) {
		return false
	}
	t := e.text
	colon := bytes.IndexByte(t[:min(len(t), 60)], ':')
	if colon <= 0 || colon == len(t)-1 {
		return false
	}
	words := countWords(t[colon+1 : min(len(t), colon+600)])
	if bytes.HasPrefix(t, []byte("**")) {
		return words < manyWords
	}
	return countWords(t[:colon]) <= 4 && words <= 8
}

// signOff says that the paragraph is a line such as "Generated by …".
func (e *ending) signOff() bool {
	if e.lines > 1 || e.words > 10 {
		return false
	}
	var buf wordBuffer
	switch string(buf.fold(wordAt(e.text, 0))) {
	case "generated", "prepared", "completed", "report", "version", "document", "output", "copyright", "signed", "disclaimer":
		return true
	case "analysis":
		return bytes.Contains(e.text, []byte("complete"))
	}
	for _, c := range e.text[:min(len(e.text), 400)] {
		if isLower(c) {
			return false
		}
	}
	return isASCIIWord(e.text[0])
}

// countWords counts what spaces part.
func countWords(t []byte) int {
	n, within := 0, false
	for _, c := range t {
		if !isSpace(c) && !within {
			n++
		}
		within = !isSpace(c)
	}
	return n
}

func tail(t []byte) string {
	if len(t) <= 60 {
		return clip(string(t), 80)
	}
	return "…" + clip(strings.ToValidUTF8(string(t[len(t)-60:]), ""), 80)
}
