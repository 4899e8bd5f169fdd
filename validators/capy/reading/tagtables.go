package reading

import "bytes"

// A tagTable is a table that is written in tags of HTML, row by row as they end, or a
// list of terms, each a row with what is said of it.
type tagTable struct {
	in     bool
	begins int // where the open row does
	cell   int // where the text of the open cell does, 0 without one
	heads  int // cells of the row that are heads
	n      int
	cells  [maxCells][]byte
	header [maxCells][]byte
	named  int // cells of the header, 0 without
	rows   int
}

// tagged takes a line in a table of tags, or one that begins one; false means
// that it is no such line. A blank line ends what Markdown takes for HTML.
func (r *reader) tagged(t, trimmed []byte) bool {
	w := &r.walker
	s := &w.tags
	name, _ := tagAt(trimmed, 0)
	switch name {
	case "table", "dl":
		r.untag()
		*s = tagTable{in: true}
		r.index.endTables(int32(w.start))
	case "tr", "thead", "tbody", "td", "th", "dt", "dd":
		s.in = true
	}
	if !s.in || trimmed[0] != '<' && s.cell == 0 {
		return false
	}
	l := line{kind: html, text: trimmed, raw: t}
	l.seen = r.glance(&l)
	r.doc.Ending.see(&l, w.at.Line)
	r.doc.Manner.see(&l)
	w.before, w.running = nil, 0
	for i := bytes.IndexByte(t, '<'); i >= 0 && s.in; {
		name, end := tagAt(t, i)
		s.tag(r, name, w.start+i, w.start+end)
		n := bytes.IndexByte(t[end:], '<')
		if n < 0 {
			break
		}
		i = end + n
	}
	return true
}

// untag ends what is open of a table of tags: what it states counts.
func (r *reader) untag() {
	if w := &r.walker; w.tags.in {
		w.tags.tag(r, "/table", w.start, w.start)
	}
}

// tag goes on at a tag that stands in the text from up to to.
func (s *tagTable) tag(r *reader, name string, from, to int) {
	switch name {
	case "dt":
		s.tag(r, "tr", from, from)
		name = "td"
	case "dd":
		name = "td"
	case "/dt", "/dd":
		name = "/td"
	case "/dl":
		name = "/table"
	}
	switch name {
	case "td", "th", "/td", "/th", "tr", "/tr", "/table":
		if s.cell > 0 && s.n < maxCells {
			s.cells[s.n] = bytes.TrimSpace(r.walker.text[s.cell:from])
			s.n++
		}
		s.cell = 0
	}
	switch name {
	case "th":
		s.heads++
		s.cell = to
	case "td":
		s.cell = to
	case "tr", "/tr", "/table":
		s.row(r, from)
		s.begins = from
		s.in = name != "/table"
	}
}

// row shows the row that ends at an offset.
func (s *tagTable) row(r *reader, end int) {
	if s.n == 0 {
		return
	}
	t := r.walker.text[s.begins:end]
	l := line{kind: row, text: t, raw: t, cells: s.cells[:s.n], header: s.header[:s.named]}
	if s.rows == 0 && s.heads == s.n {
		l.head, l.header = true, nil
		s.named = copy(s.header[:], l.cells)
	}
	s.rows++
	s.n, s.heads = 0, 0
	r.show(l)
}

// tagAt reads the name of the tag at t[i:] in lower case, with the / of one
// that closes, and where the tag ends.
func tagAt(t []byte, i int) (name string, end int) {
	if i >= len(t) || t[i] != '<' {
		return "", i
	}
	j := i + 1
	if j < len(t) && t[j] == '/' {
		j++
	}
	for j < len(t) && j-i < 10 && isASCIIWord(t[j]) {
		j++
	}
	end = len(t)
	if n := bytes.IndexByte(t[j:], '>'); n >= 0 {
		end = j + n + 1
	}
	var buf wordBuffer
	return string(buf.fold(t[i+1 : j])), end
}

// tagHeading reads a heading in tags, <h3>Title</h3>.
func tagHeading(t []byte) (level int, title []byte, ok bool) {
	name, from := tagAt(t, 0)
	if len(name) != 2 || name[0] != 'h' || name[1] < '1' || name[1] > '6' {
		return 0, nil, false
	}
	title = t[from:]
	if end := bytes.LastIndexByte(title, '<'); end >= 0 {
		title = title[:end]
	}
	return int(name[1] - '0'), bytes.TrimSpace(title), true
}
