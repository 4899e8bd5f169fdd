package reading

import (
	"bytes"
	"slices"
)

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

// A line is one line of a text. Its slices are parts of the text; cells and
// header are valid until the next line.
type line struct {
	kind   kind
	text   []byte // without indent, list marker and quote mark
	raw    []byte // the whole line
	level  int    // of a heading
	cells  [][]byte
	header [][]byte // the head of the row's table, nil for the head itself
	head   bool     // this row is the head of a table
	aside  bool     // in an HTML comment
	seen   glance   // of its text
	indent int
}

// A walker goes through one text line by line, once. Its state is bounded; it
// keeps none of the text.
type walker struct {
	text    []byte
	pos     int    // where the next line begins
	start   int    // where the present one does
	at      Place  // the present line
	before  []byte // the line before, where it was running text of one line
	beforeP int    // and where it begins
	running int    // how many lines the present paragraph has
	fences  fenceStack
	table   tableState
	tags    tagTable
	json    int  // where the last JSON outside of fences ends, or what looked like it
	bare    int  // where that ends which has been read
	comment int  // where the present HTML comment ends
	endless bool // one that was begun never ends, nor would another
}

// lines reads the text line by line.
func (r *reader) lines() {
	w := &r.walker
	w.fences.unwrap(w.text)
	for w.pos < len(w.text) {
		w.start = w.pos
		end := bytes.IndexByte(w.text[w.start:], '\n')
		if end < 0 {
			end = len(w.text)
			w.pos = end
		} else {
			end += w.start
			w.pos = end + 1
		}
		w.at.Line++
		r.sort(bytes.TrimSuffix(w.text[w.start:end], []byte{'\r'}))
	}
	w.start = len(w.text)
	r.untag()
	if f := w.fences.top(); f != nil {
		r.abandon(f)
	}
}

// unified gives a text whose line ends are \n or \r\n; one with bare \r is
// copied, each for a \n, so that offsets stay the same.
func unified(t []byte) []byte {
	bare := -1
	for i := bytes.IndexByte(t, '\r'); i >= 0 && i < len(t); {
		if i+1 == len(t) || t[i+1] != '\n' {
			bare = i
			break
		}
		n := bytes.IndexByte(t[i+1:], '\r')
		if n < 0 {
			break
		}
		i += 1 + n
	}
	if bare < 0 {
		return t
	}
	t = bytes.Clone(t)
	for i := bare; i < len(t); i++ {
		if t[i] == '\r' && (i+1 == len(t) || t[i+1] != '\n') {
			t[i] = '\n'
		}
	}
	return t
}

// sort finds out what a line is.
func (r *reader) sort(t []byte) {
	w := &r.walker
	switch {
	case w.start < w.comment:
		r.aside(t)
		return
	case w.start < w.bare:
		r.inside(t)
		return
	}
	if f, ok := fenceMark(t); ok && !w.fences.wrapper(w.start) {
		w.table.end()
		r.doc.Last = w.at
		if r.fence(f) {
			r.show(line{kind: fence, text: t, raw: t})
			w.before, w.running = nil, 0
			return
		}
	} else if ok {
		return
	}
	trimmed := trimLeft(t, &blanks)
	if len(trimmed) == 0 {
		w.table.end()
		r.untag()
		w.before, w.running = nil, 0
		return
	}
	r.doc.Last = w.at
	if f := w.fences.top(); f != nil && f.use != wrapping {
		if f.use == plain {
			r.code(t, trimmed)
		}
		return
	}
	r.markdown(t, trimmed)
}

// code shows a line of a fence that is no JSON: one of a table there is as good as
// elsewhere.
func (r *reader) code(t, trimmed []byte) {
	l := line{kind: code, text: trimmed, raw: t}
	r.walker.table.row(&l, trimmed, &r.walker)
	r.show(l)
}

// markdown sorts a line that is not in a fence.
func (r *reader) markdown(t, trimmed []byte) {
	w := &r.walker
	l := line{kind: prose, text: trimmed, raw: t, indent: len(t) - len(trimmed)}
	if trimmed[0] == '>' {
		l.text = trimLeft(trimmed, &quoting)
	}
	level, title, isHead := isHeading(t)
	if !isHead && (trimmed[0] == '<' || w.tags.in) {
		if r.tagged(t, trimmed) {
			return
		}
		level, title, isHead = tagHeading(trimmed)
	}
	switch {
	case isHead:
		w.table.end()
		r.untag()
		r.title(w.start, level, title)
		return
	case w.before != nil && underline(t) > 0:
		r.title(w.beforeP, underline(t), w.before)
		return
	case len(l.text) > 0 && w.table.row(&l, l.text, w):
	case isRule(t):
		l.kind = rule
	case trimmed[0] == '<' && len(trimmed) > 1 && (isLetter(trimmed[1]) || trimmed[1] == '!' || trimmed[1] == '/'):
		l.kind = html
		l.aside = w.comments(trimmed)
	default:
		if marker := listMarker(t); marker > 0 {
			l.kind, l.text = item, t[marker:]
		}
	}
	w.before = nil
	if l.kind == prose && r.bare(&l) {
		return
	}
	if l.kind != prose {
		w.running = 0
	} else if w.running++; w.running == 1 && titled(trimmed) {
		w.before, w.beforeP = trimmed, w.start
	}
	r.show(l)
}

// comments says whether a line begins an HTML comment that is all of it, or
// goes on behind it.
func (w *walker) comments(trimmed []byte) bool {
	if w.endless || !bytes.HasPrefix(trimmed, []byte("<!--")) {
		return false
	}
	if i := bytes.Index(trimmed, []byte("-->")); i >= 0 {
		return len(trimRight(trimmed[i:], &blanks)) == len("-->")
	}
	end := bytes.Index(w.text[w.pos:], []byte("-->"))
	if w.endless = end < 0; !w.endless {
		w.comment = w.pos + end
	}
	return !w.endless
}

// aside takes a line of a comment that began above it: nothing in it has a
// name, and what it states no reader sees.
func (r *reader) aside(t []byte) {
	if t = trimLeft(t, &blanks); len(t) > 0 {
		r.doc.Last = r.walker.at
		r.show(line{kind: html, text: t, raw: t, aside: true})
	}
}

// titled says that a line might be a heading if it is underlined: it is short
// and no sentence.
func titled(t []byte) bool {
	t = trimRight(t, &blanks)
	return len(t) <= 120 && t[len(t)-1] != '.' && t[len(t)-1] != ',' && t[len(t)-1] != ';' && t[len(t)-1] != ':'
}

// title takes a heading, whose line begins at start.
func (r *reader) title(start, level int, title []byte) {
	w := &r.walker
	w.at.under = int32(start)
	r.doc.Headings++
	w.before, w.running = nil, 0
	r.show(line{kind: heading, level: level, text: title, raw: title})
}

// next is the line behind the present one, cut to what a table's ruler needs.
func (w *walker) next() []byte {
	t := w.text[w.pos:min(len(w.text), w.pos+2000)]
	if end := bytes.IndexByte(t, '\n'); end >= 0 {
		t = t[:end]
	}
	return t
}

// replay shows the lines of a fence that turned out not to be JSON.
func (r *reader) replay(t []byte, at Place) {
	w := &r.walker
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
			r.show(line{kind: code, text: l, raw: l})
		}
		w.at.Line++
	}
	w.at = keep
}

// isJSONDocument says whether a text is meant as one JSON document: it begins
// as one, and has neither a heading nor a fence.
func isJSONDocument(t []byte) bool {
	t = bytes.TrimLeft(t, " \t\r\n")
	return startsJSON(t) && !slices.ContainsFunc([]string{"\n#", "\n```", "\n~~~"}, func(mark string) bool { return bytes.Contains(t, []byte(mark)) })
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

// underline is the level of the heading that a line of = or - makes of the one
// above, or 0.
func underline(t []byte) int {
	t = trimRight(bytes.TrimLeft(t, " "), &blanks)
	switch {
	case len(t) >= 3 && len(bytes.Trim(t, "=")) == 0:
		return 1
	case len(t) >= 3 && len(bytes.Trim(t, "-")) == 0:
		return 2
	}
	return 0
}

func isRule(t []byte) bool {
	t = trimRight(trimLeft(t, &blanks), &blanks)
	return len(t) >= 3 && (t[0] == '-' || t[0] == '*' || t[0] == '_' || t[0] == '=') &&
		!slices.ContainsFunc(t, func(c byte) bool { return c != t[0] && c != ' ' })
}

// listMarker gives the length of a list item's indent and marker: 2 of "- item", 4 of
// "12) y", 0 of -x and 10.5.
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
