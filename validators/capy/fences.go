package capy

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
	i := 0
	for i < len(t) && (t[i] == ' ' || t[i] == '\t') {
		i++
	}
	if i == len(t) || t[i] != '`' && t[i] != '~' {
		return mark{}, false
	}
	m := mark{char: t[i]}
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
	at    place // the line that opens it
	start int   // where its content begins
}

// open says that the content is Markdown as outside.
func (f *fenceFrame) open() bool { return f.use == wrapping }

// shown says that lines of the content are shown one by one.
func (f *fenceFrame) shown() bool { return f.use == plain }

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
func (w *walker) fence(m mark, start int) bool {
	f := w.fences.top()
	if f != nil {
		closes := m.char == f.char && m.size >= f.size
		switch {
		case closes && len(m.info) == 0:
			w.close(f, start)
			return true
		case f.use != wrapping && (m.char != f.char || m.size < f.size || len(m.info) == 0):
			return false
		case f.use == isJSON || f.use == mayBeJSON:
			w.abandon(f) // JSON holds no fence: this one was never closed
			w.fences.n--
		}
	}
	if w.fences.n == len(w.fences.frames) {
		return false
	}
	w.push(m)
	return true
}

func (w *walker) push(m mark) {
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
	case tag != "text" && tag != "txt" && tag != "plaintext" && tag != "log" && tag != "math" && tag != "latex" && tag != "yaml":
		f.use = hidden
	}
	w.fences.frames[w.fences.n] = f
	w.fences.n++
}

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

func (w *walker) close(f *fenceFrame, end int) {
	w.fences.n--
	if f.use != isJSON && f.use != mayBeJSON {
		return
	}
	content := w.text[f.start:end]
	at := place{line: f.at.line + 1, under: f.at.under}
	if f.use == isJSON || looksLikeJSON(content) {
		w.json(content, at)
	} else {
		w.replay(content, at)
	}
}

// abandon notes a fence that is never closed, the first of them.
func (w *walker) abandon(f *fenceFrame) {
	if w.doc.open.line == 0 {
		w.doc.open = f.at
	}
}

// startsJSON says whether a text begins as a JSON object or array might.
func startsJSON(t []byte) bool {
	if len(t) == 0 || t[0] != '{' && t[0] != '[' {
		return false
	}
	c := firstByte(t[1:])
	if t[0] == '{' {
		return c == 0 || c == '"' || c == '}' || c == '\'' || c == '{'
	}
	return c == 0 || bytes.IndexByte([]byte(`{["']`), c) >= 0
}

// looksLikeJSON says whether a fence without a tag is meant as JSON: outside
// its strings there is no prose, no arrow and no elision, and nothing but
// JSON stands behind its end.
func looksLikeJSON(t []byte) bool {
	t = bytes.TrimSpace(t)
	if len(t) == 0 || t[0] != '{' && t[0] != '[' {
		return false
	}
	var p proseCheck
	for i := 0; i < len(t); {
		if t[i] == '"' || t[i] == '\'' && p.opens() {
			i = skipString(t, i)
			p.last, p.words, p.gap = '"', 0, false
			continue
		}
		if isLetter(t[i]) {
			end := i
			for end < len(t) && (isWord(t[end]) || t[end] == '_' || t[end] == '.') {
				end++
			}
			if !p.word(t[i:end]) || !isKnownWord(t[i:end]) && firstByte(t[end:]) != ':' {
				return false
			}
			i = end
			continue
		}
		if !p.mark(t, i) {
			return false
		}
		i++
	}
	return true
}

// A proseCheck watches the words outside of strings.
type proseCheck struct {
	last  byte // the last byte that is no space
	words int  // in a row
	gap   bool // a space since the last one
	depth int
	ended bool // the first value is complete
}

// opens says that a quote here would begin a string.
func (p *proseCheck) opens() bool { return bytes.IndexByte([]byte("{[,:"), p.last) >= 0 }

func (p *proseCheck) word(w []byte) bool {
	if w[0] >= 0x80 && !bytes.ContainsAny(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return false // an arrow, a sign
	}
	if bytes.ContainsAny(w, "→←⇒↔") || p.ended {
		return false
	}
	if p.words > 0 {
		return false
	}
	p.words++
	p.last = 'w'
	return true
}

func (p *proseCheck) mark(t []byte, i int) bool {
	c := t[i]
	if c == ' ' || c == '\t' {
		return true
	}
	if c == '\n' || c == '\r' {
		p.words = 0
		return true
	}
	two := string(t[i:min(len(t), i+2)])
	if two == "->" || two == "=>" || two == "<-" || two == "//" || two == "/*" || two == ".." {
		return false
	}
	if p.ended && isDigit(c) || bytes.IndexByte([]byte("|=#;()*/<>"), c) >= 0 || c == '+' && (i+1 == len(t) || !isDigit(t[i+1])) {
		return false
	}
	switch c {
	case '{', '[':
		p.depth++
	case '}', ']':
		p.depth--
		p.ended = p.ended || p.depth <= 0
	}
	p.last, p.words = c, 0
	return true
}

// isKnownWord is a word that JSON has, or that people write where it has
// another.
func isKnownWord(w []byte) bool {
	switch string(w) {
	case "true", "false", "null", "True", "False", "None", "NaN", "Infinity", "undefined", "e", "E":
		return true
	}
	return false
}

// skipString gives the offset behind the string at t[i], which ends at its
// line's end at the latest.
func skipString(t []byte, i int) int {
	q := t[i]
	for i++; i < len(t); i++ {
		switch t[i] {
		case '\\':
			i++
		case q:
			return i + 1
		case '\n':
			return i
		}
	}
	return len(t)
}
