package capy

import (
	"bytes"
	"fmt"
)

// wants are the tests of what stands behind a mention.
var wants = map[string]func(t []byte) bool{
	"present":     func([]byte) bool { return true },
	"value":       func(t []byte) bool { return !placeholder(t) },
	"grade":       func(t []byte) bool { return !placeholder(t) },
	"number":      func(t []byte) bool { return hasDigit(t) && !placeholder(t) },
	"disposition": hasDisposition,
}

// A seeker looks for a mention: by its phrase in a heading, a label, a table's
// head or a JSON key, and what it wants behind that.
type seeker struct {
	what    Mention
	phrases *phrases
	keys    []tokenList // the phrases as keys write them
	is      func([]byte) bool
	done    bool
	seen    place // where it was named, with nothing yet behind it
	level   int   // of the heading that named it, 0 outside
	label   int32 // the last line of what a label began, 0 outside
	columns [maxCells]bool
	table   bool // the head named it
	depth   int  // of the JSON container that its key opened, 0 outside
}

func newSeeker(m Mention) *seeker {
	k := &seeker{what: m, is: wants[m.Wants], phrases: newPhrases(m.Phrases...)}
	for _, p := range m.Phrases {
		k.keys = append(k.keys, tokens([]byte(p)))
	}
	return k
}

func (k *seeker) see(at place) {
	if k.seen.line == 0 {
		k.seen = at
	}
	k.done = k.done || k.what.Wants == "present"
}

func (k *seeker) line(l *line) {
	if k.done {
		return
	}
	switch l.kind {
	case heading:
		k.heading(l)
	case row:
		k.row(l)
	case fence, rule:
	default:
		k.prose(l)
	}
}

func (k *seeker) heading(l *line) {
	k.label, k.table = 0, false
	if k.level > 0 && l.level <= k.level {
		k.level = 0
	}
	_, end, ok := k.phrases.in(l.text)
	if !ok || disclaims(l.text) {
		return
	}
	k.see(l.at)
	if k.level == 0 {
		k.level = l.level
	}
	if rest, ok := said(l.text[end:]); ok && k.is(rest) {
		k.done = true
	}
}

// prose looks at a line that is neither a heading nor a row: a label with
// something behind it, or a line under a heading or label.
func (k *seeker) prose(l *line) {
	k.table = false
	start, end, ok := k.phrases.in(l.text)
	if ok {
		rest, linked := said(l.text[end:])
		labelled := isLabel(l.text, start)
		c := firstByte(bytes.TrimLeft(l.text[end:], "*`_)] "))
		if linked && (labelled || c == ':' || c == '=' || k.what.Wants == "number" || k.what.Wants == "disposition") {
			k.see(l.at)
			k.done = k.done || len(rest) > 0 && k.is(rest)
		}
		if labelled {
			k.see(l.at)
			if k.label = l.at.line; len(rest) > 0 {
				k.label = 0 // it has said what it has to say
			}
			return
		}
	}
	if k.level > 0 || k.labels(l) {
		k.done = k.done || k.under(l.text)
	}
}

// labels says whether a line belongs to the label above: behind a gap only
// items and code do.
func (k *seeker) labels(l *line) bool {
	if k.label == 0 || l.kind == prose && l.at.line > k.label+1 {
		k.label = 0
		return false
	}
	k.label = l.at.line
	return true
}

// under says whether a line under the name holds what is wanted. A grade is
// said to be one.
func (k *seeker) under(t []byte) bool {
	if k.what.Wants != "grade" {
		return k.is(t)
	}
	if _, end, ok := gradeWords.in(t); ok {
		if rest, linked := said(t[end:]); linked && k.is(rest) || letterGrade(t[end:]) {
			return true
		}
	}
	t = trimMarks(t)
	return len(t) > 0 && len(t) <= 2 && t[0] >= 'A' && t[0] <= 'F'
}

// letterGrade finds B+ among the next few words.
func letterGrade(t []byte) bool {
	for _, w := range bytes.Fields(t[:min(len(t), 40)]) {
		w = bytes.Trim(w, "*_`().,;:\"")
		if len(w) > 0 && len(w) <= 2 && w[0] >= 'A' && w[0] <= 'F' && (len(w) == 1 || w[1] == '+' || w[1] == '-') {
			return true
		}
	}
	return false
}

var gradeWords = newPhrases("grade", "rating", "score", "overall", "verdict", "assessment", "fit")

func (k *seeker) row(l *line) {
	if l.head {
		k.table = false
		for i, cell := range l.cells {
			_, _, ok := k.phrases.in(cell)
			k.columns[i] = ok
			k.table = k.table || ok
		}
		if k.table {
			k.see(l.at)
		}
		return
	}
	for i, cell := range l.cells {
		if _, end, ok := k.phrases.in(cell); ok {
			k.see(l.at)
			if rest, linked := said(cell[end:]); linked && len(rest) > 0 && k.is(rest) {
				k.done = true
			}
			for _, other := range l.cells[i+1:] {
				k.done = k.done || len(other) > 0 && k.is(other)
			}
		} else if k.table && len(l.header) > 0 && k.columns[i] && len(cell) > 0 || k.level > 0 || k.labels(l) {
			k.done = k.done || k.under(cell)
		}
	}
}

// said gives what stands behind a phrase and a link; linked is false where
// there is no link.
func said(t []byte) (rest []byte, linked bool) {
	t = t[:min(len(t), 400)]
	for i := 0; i < len(t) && i < 60; i++ {
		switch c := t[i]; {
		case c == ':' || c == '=' || c == '|':
			return bytes.Trim(t[i+1:], " *`_"), true
		case bytes.HasPrefix(t[i:], []byte("≈")), bytes.HasPrefix(t[i:], []byte("—")), bytes.HasPrefix(t[i:], []byte("–")), bytes.HasPrefix(t[i:], []byte("→")):
			return bytes.Trim(t[i+3:], " *`_"), true
		case c == '(' && i < 3 && hasDigit(t[i:]):
			return t[i+1:], true
		case c == ' ' && (bytes.HasPrefix(t[i:], []byte(" of ")) || bytes.HasPrefix(t[i:], []byte(" is ")) || bytes.HasPrefix(t[i:], []byte(" - "))):
			return bytes.Trim(t[i+4:], " *`_"), true
		case c == '.' && i+1 < len(t) && t[i+1] == ' ':
			return nil, false
		}
	}
	return nil, false
}

// isLabel says that a phrase opens its line, or the bold part of it.
func isLabel(t []byte, start int) bool {
	if bytes.HasPrefix(t, []byte("**")) {
		if end := bytes.Index(t[2:], []byte("**")); end >= 0 && start < end+2 {
			return true
		}
	}
	head := bytes.Trim(t[:start], " *_`#\"(")
	return len(head) == 0 || len(head) < 24 && bytes.IndexByte(t[start:min(len(t), start+60)], ':') >= 0
}

func hasDigit(t []byte) bool {
	for _, c := range t {
		if isDigit(c) {
			return true
		}
	}
	return false
}

var dispositions = newPhrases("accept", "accepted", "reject", "rejected", "modify", "modified", "partial", "partially", "defer", "deferred", "uphold", "upheld", "sustain", "sustained", "overrule",
	"overruled", "dismiss", "dismissed", "adopt", "adopted", "incorporate", "incorporated", "confirm", "confirmed", "noted", "acknowledge", "acknowledged", "agree", "disagree", "resolved", "valid", "invalid",
	"override", "overridden", "concur", "implement", "implemented", "no action", "denied", "granted", "remediated", "escalate", "escalated")

func hasDisposition(t []byte) bool { return !placeholder(t) && dispositions.has(t) }

// json takes an event; named says that its key has one of the phrases.
func (k *seeker) json(e *event, named bool) {
	if k.done {
		return
	}
	if e.kind == closes {
		if k.depth > 0 && e.depth < k.depth {
			k.depth = 0
		}
		return
	}
	if named {
		k.see(e.at)
		if e.kind == opens && k.depth == 0 {
			k.depth = e.depth + 1
		}
		if e.kind == opens && (k.what.Wants == "value" || k.what.Wants == "grade") {
			k.done = k.what.Wants == "value"
			return
		}
	} else if k.depth == 0 {
		return
	}
	if e.kind == scalar && k.is(e.value) && !bytes.Equal(e.value, []byte("null")) {
		k.done = true
	}
}

// contains says that the words of another list stand in this one in a row.
func (l *tokenList) contains(words *tokenList) bool {
	for i := 0; words.n > 0 && i+words.n <= l.n; i++ {
		same := true
		for j := range words.n {
			same = same && bytes.Equal(l.word(i+j), words.word(j))
		}
		if same {
			return true
		}
	}
	return false
}

// Seekers are the mentions that a stage's row asks for, looked for together.
type seekers struct {
	list  []*seeker
	known map[string]uint64 // by key: the seekers whose phrases it has, a bit for each
}

func (s *seekers) line(l *line) {
	for _, k := range s.list {
		k.line(l)
	}
}

func (s *seekers) json(e *event) {
	named := s.named(e)
	for i, k := range s.list {
		k.json(e, named&(1<<i) != 0)
	}
}

// named finds out which of the mentions a key names.
func (s *seekers) named(e *event) (bits uint64) {
	if len(e.key) == 0 || e.kind == closes {
		return 0
	}
	if bits, known := s.known[string(e.key)]; known {
		return bits
	}
	l := tokens(e.key)
	for i, k := range s.list {
		for j := range k.keys {
			if l.contains(&k.keys[j]) {
				bits |= 1 << i
			}
		}
	}
	if len(s.known) < 4096 && len(e.key) < 200 {
		s.known[string(e.key)] = bits
	}
	return bits
}

func (s *seekers) gaps(r *run) []gap {
	var list []gap
	for _, k := range s.list {
		list = append(list, k.gaps(r)...)
	}
	return list
}

func (k *seeker) gaps(r *run) []gap {
	if k.done || k.what.Artifact != "" && r.gallery.has(artifactNumber([]byte(k.what.Artifact))) {
		return nil
	}
	if k.seen.line > 0 {
		return []gap{{k.seen, fmt.Sprintf("%s named, but without %s", k.what.Title, article(k.what.Wants))}}
	}
	return []gap{{r.doc.last, fmt.Sprintf("Missing %s: want a heading, a label, a table or a JSON key that names it, with %s", k.what.Title, article(k.what.Wants))}}
}

func article(want string) string {
	if want == "present" {
		return "its content"
	}
	return "a " + want
}
