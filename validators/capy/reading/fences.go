package reading

import "bytes"

// A mark is a line of three or more backticks or tildes.
type mark struct {
	char byte
	size int
	info []byte // what stands behind: json
}

// fenceMark reads a line as a fence. Any indent will do: models indent fences
// in lists as they like.
func fenceMark(t []byte) (mark, bool) {
	t = trimLeft(t, &blanks)
	if len(t) == 0 || t[0] != '`' && t[0] != '~' {
		return mark{}, false
	}
	i, m := 0, mark{char: t[0]}
	for i < len(t) && t[i] == m.char {
		m.size++
		i++
	}
	m.info = bytes.TrimSpace(t[i:])
	if m.size < 3 || m.char == '`' && bytes.IndexByte(m.info, '`') >= 0 {
		return mark{}, false
	}
	return m, true
}

// tag is the language of a fence in lower case.
func (m mark) tag() string {
	t := m.info
	if i := bytes.IndexAny(t, " \t,;:="); i >= 0 {
		t = t[:i]
	}
	return string(bytes.ToLower(bytes.Trim(t[:min(len(t), 40)], "{}.")))
}

type fenceUse uint8

const (
	plain     fenceUse = iota // shown to the readers as code
	isJSON                    // tagged json
	mayBeJSON                 // without a tag, begins with { or [
	untagged                  // without a tag, nothing seen of it yet
	hidden                    // a program: its numbers state nothing
	wrapping                  // Markdown in a fence: read as if there were none
)

type fenceFrame struct {
	mark
	use   fenceUse
	at    Place // the line that opens it
	start int   // where its content begins
}

// A fenceStack holds the fences that are open. A fence that opens with a tag
// inside another is either an example in it, which both close, or the proof
// that the other was never closed.
type fenceStack struct {
	frames [16]fenceFrame
	n      int
	first  int // where the wrapper of the whole text begins and ends, -1 without
	last   int
}

func (s *fenceStack) top() *fenceFrame {
	if s.n == 0 {
		return nil
	}
	return &s.frames[s.n-1]
}

// unwrap finds a Markdown fence around the whole text, which some models put
// there.
func (s *fenceStack) unwrap(t []byte) {
	s.first, s.last = -1, -1
	body := bytes.TrimRight(t, " \t\r\n")
	start := len(t) - len(bytes.TrimLeft(t, " \t\r\n"))
	end := bytes.IndexByte(t[start:], '\n')
	last := bytes.LastIndexByte(body, '\n') + 1
	if end < 0 || last <= start {
		return
	}
	head, ok := fenceMark(bytes.TrimSuffix(t[start:start+end], []byte{'\r'}))
	tail, closes := fenceMark(body[last:])
	if ok && closes && len(tail.info) == 0 && head.char == tail.char && head.size == tail.size && wraps(head.tag()) {
		s.first, s.last = start, last
	}
}

func wraps(tag string) bool { return tag == "markdown" || tag == "md" }

// wrapper says that the fence at an offset is the wrapper of the whole text.
func (s *fenceStack) wrapper(start int) bool { return start == s.first || start == s.last }

// fence takes a fence line; false means that it is content.
func (r *reader) fence(m mark) bool {
	stack := &r.walker.fences
	if f := stack.top(); f != nil {
		closes := m.char == f.char && m.size >= f.size
		switch {
		case closes && len(m.info) == 0:
			r.close(f)
			return true
		case f.use != wrapping && (m.char != f.char || m.size < f.size || len(m.info) == 0):
			return false
		case f.use == isJSON || f.use == mayBeJSON:
			r.abandon(f) // JSON holds no fence: this one was never closed
			stack.n--
		}
	}
	if stack.n == len(stack.frames) {
		return false
	}
	r.push(m)
	return true
}

func (r *reader) push(m mark) {
	w := &r.walker
	f := fenceFrame{mark: m, at: w.at, start: w.pos}
	switch tag := m.tag(); {
	case tag == "json":
		f.use = isJSON
	case wraps(tag):
		f.use = wrapping
	case len(m.info) == 0:
		f.use = plain
		if c := firstByte(w.text[w.pos:]); c == '{' || c == '[' {
			f.use = mayBeJSON
		}
	case !shown[tag]:
		f.use = hidden
	}
	w.fences.frames[w.fences.n] = f
	w.fences.n++
}

// shown are the languages of fences that are no programs: what stands there is said to the
// reader.
var shown = set("text", "txt", "plaintext", "plain", "none", "log", "logs", "output", "console", "stdout", "result", "results", "ascii", "table", "csv", "tsv", "math", "latex", "tex", "katex", "yaml", "yml", "toml", "ini",
	"properties", "asciidoc", "rst", "org", "quote", "note", "summary")

// firstByte is the first byte of the next line that is not blank, looking at
// no more than a few of them.
func firstByte(t []byte) byte {
	for _, c := range t[:min(len(t), 400)] {
		if !isSpace(c) {
			return c
		}
	}
	return 0
}

func (r *reader) close(f *fenceFrame) {
	w := &r.walker
	w.fences.n--
	if f.use != isJSON && f.use != mayBeJSON {
		return
	}
	content := w.text[f.start:w.start]
	at := Place{Line: f.at.Line + 1, under: f.at.under}
	if f.use == isJSON || looksLikeJSON(content) {
		r.block(content, at)
	} else {
		r.replay(content, at)
	}
}

// abandon notes a fence that is never closed, the first of them.
func (r *reader) abandon(f *fenceFrame) {
	if r.doc.Open.Line == 0 {
		r.doc.Open = f.at
	}
}
