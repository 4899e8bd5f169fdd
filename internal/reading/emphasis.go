package reading

import (
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"
)

// Emphasis finds the marks of emphasis while a block is written, as CommonMark has it,
// in linear time.
type emphasis struct {
	stack   []mark // marks that may open emphasis
	outer   int    // the marks below this index belong to the text around a link or a cell
	bottoms map[bottom]int
	removed []Span // of the text: marks of emphasis
}

// A mark is a run of stars, underscores or tildes.
type mark struct {
	at, source   int // in the text and in the source
	size, length int // now, and as it was written
	char         byte
	opens, ends  bool
}

// A bottom is a kind of closing mark. The stack has no opening mark for it below an index.
type bottom struct {
	char  byte
	opens bool
	rest  int
}

// run handles the run of marks that ends the text and is at start in the source.
func (w *writer) run(start, end int) {
	before, _ := utf8.DecodeLastRune(w.source[:start])
	after, _ := utf8.DecodeRune(w.source[end:])
	size := end - start
	m := mark{at: len(w.text) - size, source: start, size: size, length: size, char: w.source[start]}
	left := !space(after) && (!punctuation(after) || space(before) || punctuation(before))
	right := !space(before) && (!punctuation(before) || space(after) || punctuation(after))
	m.opens, m.ends = left, right
	switch m.char {
	case '_':
		m.opens = left && (!right || punctuation(before))
		m.ends = right && (!left || punctuation(after))
	case '~':
		if m.size != 2 {
			return
		}
	}
	for m.ends && m.size > 0 && w.pair(&m) {
	}
	if m.opens && m.size > 0 {
		w.stack = append(w.stack, m)
	}
}

// pair matches a closing mark with the nearest opening one and reports whether there was one.
func (w *writer) pair(m *mark) bool {
	kind := bottom{m.char, m.opens, m.length % 3}
	i := len(w.stack) - 1
	for lowest := max(w.outer, w.bottoms[kind]); ; i-- {
		if i < lowest {
			w.lower(kind)
			return false
		}
		o := w.stack[i]
		odd := (o.ends || m.opens) && (o.length+m.length)%3 == 0 && (o.length%3 != 0 || m.length%3 != 0)
		if o.char == m.char && (!odd || m.char == '~') {
			break
		}
	}
	o := &w.stack[i]
	use, as := 1, Emphasis
	if o.size > 1 && m.size > 1 {
		use, as = 2, Strong
	}
	if m.char == '~' {
		as = Strikethrough
	}
	o.size -= use
	open, end := o.at+o.size, m.at
	w.removed = append(w.removed, Span{open, open + use}, Span{end, end + use})
	w.inlines = append(w.inlines, Inline{Kind: as, Text: Span{open + use, end}, Span: Span{o.source + o.size, m.source + use}})
	m.at, m.source, m.size = m.at+use, m.source+use, m.size-use
	if o.size == 0 {
		i--
	}
	w.cut(i + 1)
	return true
}

// lower notes that the stack has no opening mark of a kind.
func (w *writer) lower(kind bottom) {
	if w.bottoms == nil {
		w.bottoms = map[bottom]int{}
	}
	w.bottoms[kind] = len(w.stack)
}

func (w *writer) cut(size int) {
	w.stack = w.stack[:size]
	for kind, at := range w.bottoms {
		w.bottoms[kind] = min(at, size)
	}
}

// within writes the words of a link or a cell: emphasis does not cross their borders.
func (w *writer) within(write func()) {
	outer, bottoms := w.outer, w.bottoms
	w.outer, w.bottoms = len(w.stack), nil
	write()
	w.stack = w.stack[:w.outer]
	w.outer, w.bottoms = outer, bottoms
}

// finish removes the marks of emphasis from the text.
func (w *writer) finish() {
	w.stack = nil
	if len(w.removed) > 0 {
		w.remove()
	}
	for i, l := range w.links {
		if l.words.End > 0 {
			w.links[i].Text, w.links[i].words = string(w.text[l.words.Start:l.words.End]), Span{}
		}
	}
	slices.SortStableFunc(w.inlines, func(a, b Inline) int { return a.Start - b.Start })
}

func (w *writer) remove() {
	slices.SortFunc(w.removed, func(a, b Span) int { return a.Start - b.Start })
	removed := make([]int, len(w.removed)) // how much is removed up to and with each
	sum := 0
	for i, r := range w.removed {
		sum += r.End - r.Start
		removed[i] = sum
	}
	move := func(at int) int {
		n := sort.Search(len(w.removed), func(i int) bool { return w.removed[i].Start >= at })
		if n == 0 {
			return at
		}
		return at - removed[n-1] + max(0, w.removed[n-1].End-at)
	}
	var text []byte
	var offsets []alignment
	from := 0
	old := w.offsets
	for _, r := range append(w.removed, Span{len(w.text), len(w.text)}) {
		if from < r.Start {
			offsets = append(offsets, alignment{len(text), offsetOf(old, from, 0)})
			for _, a := range between(old, from+1, r.Start) {
				offsets = append(offsets, alignment{len(text) + a.text - from, a.source})
			}
		}
		text = append(text, w.text[from:r.Start]...)
		from = r.End
	}
	for i := range w.inlines {
		w.inlines[i].Text = Span{move(w.inlines[i].Text.Start), move(w.inlines[i].Text.End)}
	}
	for i := range w.links {
		w.links[i].words = Span{move(w.links[i].words.Start), move(w.links[i].words.End)}
	}
	for i := range w.cells {
		w.cells[i] = Span{move(w.cells[i].Start), move(w.cells[i].End)}
	}
	w.text, w.offsets, w.removed = text, offsets, nil
}

// between returns the alignments of the bytes from start to end.
func between(list []alignment, start, end int) []alignment {
	at := func(offset int) int {
		return sort.Search(len(list), func(i int) bool { return list[i].text >= offset })
	}
	return list[at(start):max(at(start), at(end))]
}

func space(r rune) bool {
	return r == utf8.RuneError || unicode.IsSpace(r)
}

func punctuation(r rune) bool {
	return unicode.IsPunct(r) || unicode.IsSymbol(r)
}
