package reading

import "bytes"

// An Entry is a name that a text gives to a stretch of itself: a heading, a
// label, a cell of a table, a JSON key. What it covers is its body.
type Entry struct {
	Topics   Mask   // that the name speaks of
	ID       string // of an item: a finding, a question
	Artifact int8   // n of an A.n in the name, 0 without
	Level    int8   // of a heading
	Form     Form
	Numbered bool // a heading in a Section A, whose parts are numbered A.1, A.2
	Head     bool // a cell of a table's head: the body is the table
	At       Place
	from, to int32 // the name
	rest     int32 // where its line ends
	body     int32
	end      int32
}

// A Mask has a bit for each topic.
type Mask uint64

// Topics are what entries are looked for: phrases by their number.
type Topics struct {
	phrases phrases
	keys    []keyPhrase
	count   int
	glancer glancer // for the phrases, and what all texts are looked through for
}

type keyPhrase struct {
	words tokenList
	topic int
}

// maxTopics is how many topics there may be.
const maxTopics = 64

// NewTopics makes topics of lists of phrases, the first with number 0. A
// phrase of capitals is matched as it is written.
func NewTopics(lists [][]string) *Topics {
	t := &Topics{count: min(len(lists), maxTopics)}
	for n, list := range lists[:t.count] {
		for _, text := range list {
			if text == "" {
				continue
			}
			t.phrases.add(text, n)
			t.keys = append(t.keys, keyPhrase{tokens([]byte(text)), n})
		}
	}
	t.glancer.take(scenarioStart(), scenarioList)
	t.glancer.take(&addresses.p().beginnings, addressList)
	t.glancer.take(&t.phrases.beginnings, topicList)
	return t
}

// in finds the topics of a part of a line, and where the first of its phrases stands.
func (t *Topics) in(l *line, part []byte) (m Mask, from, to int) {
	if l.seen.has(topicList) {
		m, from, to = t.phrases.all(part)
	}
	return m, from, to
}

// key finds the topics of a JSON key.
func (t *Topics) key(l *tokenList) (m Mask) {
	for i := range t.keys {
		if l.contains(&t.keys[i].words) {
			m |= 1 << t.keys[i].topic
		}
	}
	return m
}

// maxEntries bounds the entries of each topic, artifact and kind of item.
const maxEntries = 300

// An index finds the entries of a document.
type index struct {
	topics  *Topics
	strings Mask // the topics that strings of JSON are searched for
	item    func(t []byte, i int) (id string, end int)
	list    []Entry
	kept    [maxTopics + 2]int16
	arts    [maxArtifact + 1]int16
	heads   []int32   // headings whose bodies go on
	label   int32     // a label whose items follow, -1 without
	lead    int32     // the last line of what it covers
	tables  []int32   // cells of a head whose table goes on
	keys    []openKey // JSON keys whose values go on
	parts   [7]bool   // by level: the heading is Section A
	status  int       // depth of a JSON container that lists artifacts, 0 without
}

type openKey struct {
	entry int32
	depth int
}

func (x *index) init(q Request) {
	x.topics, x.strings, x.item, x.label = q.Topics, q.Strings, q.Item, -1
	if x.topics == nil {
		x.topics = NewTopics(nil)
	}
}

// add keeps an entry, unless there are very many of its kind already, and
// gives its number or -1.
func (x *index) add(e Entry) int32 {
	full := true
	limit := int16(maxEntries)
	if e.Form == Prose {
		limit /= 2 // headings and labels say more
	}
	for n := 0; n < x.topics.count; n++ {
		if e.Topics&(1<<n) != 0 && x.kept[n] < limit {
			x.kept[n]++
			full = false
		}
	}
	if e.Artifact > 0 && x.arts[e.Artifact] < maxEntries {
		x.arts[e.Artifact]++
		full = false
	}
	if e.ID != "" && x.kept[maxTopics] < 2*maxEntries {
		x.kept[maxTopics]++
		full = false
	}
	if full {
		return -1
	}
	x.list = append(x.list, e)
	return int32(len(x.list) - 1)
}

// entry takes in a line.
func (r *reader) entry(l *line) {
	x := &r.index
	start := int32(r.walker.start)
	if l.kind != row && l.kind != rule { // the ruler under a head is one
		x.endTables(start)
	}
	switch l.kind {
	case heading:
		r.headingEntry(l)
	case row:
		r.rowEntries(l)
	case fence, rule:
	default:
		r.labelEntry(l)
	}
	r.follow(l)
}

// endTables ends the tables whose heads go on at an offset.
func (x *index) endTables(at int32) {
	for _, i := range x.tables {
		x.list[i].end = at
	}
	x.tables = x.tables[:0]
}

// follow lets the label above cover a line that belongs to it: the next one,
// and behind a gap items and code.
func (r *reader) follow(l *line) {
	x, at := &r.index, r.walker.at.Line
	if x.label < 0 {
		return
	}
	if l.kind == heading || l.kind == prose && at > x.lead+1 {
		x.label = -1
		return
	}
	x.lead = at
	x.list[x.label].end = int32(r.walker.start + len(l.raw))
}

// spot makes an entry of a part of the present line.
func (r *reader) spot(l *line, name []byte, from, to int) Entry {
	base := r.ledger.offset(name, 0)
	e := Entry{At: r.walker.at, from: int32(base + from), to: int32(base + to)}
	e.rest = int32(r.ledger.offset(l.raw, 0) + len(l.raw))
	if l.kind == heading && r.walker.at.under >= 0 {
		e.rest = int32(base + len(name))
	}
	e.body, e.end = e.rest, e.rest
	return e
}

func (r *reader) headingEntry(l *line) {
	x := &r.index
	start := r.walker.at.under
	for len(x.heads) > 0 {
		top := &x.list[x.heads[len(x.heads)-1]]
		if int(top.Level) < l.level {
			break
		}
		top.end = start
		x.heads = x.heads[:len(x.heads)-1]
	}
	x.label = -1
	for level := l.level; level < len(x.parts); level++ {
		x.parts[level] = level == l.level && sectionA(l.text)
	}
	numbered := false
	for level := range l.level {
		numbered = numbered || x.parts[level]
	}
	open := func(e Entry) {
		e.Form, e.Level, e.Numbered = Heading, int8(l.level), numbered
		if i := x.add(e); i >= 0 {
			x.heads = append(x.heads, i)
		}
	}
	r.artifactsIn(l, l.text, open)
	if m, from, to := x.topics.in(l, l.text); m != 0 {
		e := r.spot(l, l.text, from, to)
		e.Topics = m
		open(e)
	}
	if x.item != nil {
		for i := range l.text[:min(len(l.text), 200)] {
			if i > 0 && isASCIIWord(l.text[i-1]) {
				continue
			}
			if id, end := x.item(l.text, i); id != "" {
				e := r.spot(l, l.text, i, end)
				e.ID = id
				open(e)
				break
			}
		}
	}
}

// artifactsIn makes an entry of each A.n of a heading or bold line.
func (r *reader) artifactsIn(l *line, t []byte, open func(Entry)) {
	t = t[:min(len(t), 300)]
	for i := 0; i+1 < len(t); i++ {
		if t[i]|0x20 != 'a' {
			continue
		}
		if n, end, _ := ArtifactAt(t, i); n > 0 {
			e := r.spot(l, t, i, end)
			e.Artifact = int8(n)
			e.from, e.to = int32(r.ledger.offset(t, 0)), int32(r.ledger.offset(t, 0)+len(t))
			open(e)
			i = end - 1
		}
	}
}

// labelEntry looks at a line that is neither a heading nor a row: a label with
// something behind it, a name with a link, a bold line.
func (r *reader) labelEntry(l *line) {
	x := &r.index
	if t := setOff(l); len(t) > 0 && (l.kind != item || r.walker.goesOn()) {
		r.artifactsIn(l, t, func(e Entry) {
			e.Form = Label
			e.body = int32(r.walker.pos)
			e.end = int32(min(len(r.walker.text), r.walker.pos+maxColumn))
			x.add(e)
		})
	}
	r.looseKey(l)
	head := l.text[:min(len(l.text), 240)]
	if x.item != nil {
		t := bytes.TrimLeft(head, " *_`[(#")
		if len(t) > 0 {
			if id, end := x.item(t, 0); id != "" {
				e := r.spot(l, t, 0, end)
				e.ID, e.Form, e.body = id, Item, e.to
				if len(t) < len(head) || behindID(t[end:]) || l.kind == item && isUpper(firstByte(t[end:])) {
					x.open(x.add(e))
				}
			}
		}
	}
	m, from, to := x.topics.in(l, head)
	if m == 0 {
		return
	}
	e := r.spot(l, head, from, to)
	e.Topics, e.Form = m, Prose
	rest, linked := Said(head[to:])
	switch {
	case isLabel(head, from):
		e.Form = Label
		e.body = e.to
		if i := x.add(e); len(rest) == 0 || !linked {
			x.open(i)
		}
	case linked:
		e.body = e.to
		x.add(e)
	default:
		x.add(e)
	}
}

// open lets a label cover the lines that follow.
func (x *index) open(i int32) {
	if i >= 0 {
		x.label, x.lead = i, x.list[i].At.Line
	}
}

// behindID says that what follows an identifier parts it from what it is the
// name of.
func behindID(t []byte) bool {
	return bytes.IndexByte([]byte("\x00:.)(-*[|\xe2"), firstByte(t)) >= 0
}

// boldLine is a line that is all bold.
func boldLine(l *line) bool {
	t := bytes.TrimSpace(l.text)
	return l.kind == prose && len(t) >= 6 && len(t) <= 200 && bytes.HasPrefix(t, []byte("**")) && bytes.HasSuffix(bytes.TrimRight(t, ":"), []byte("**"))
}

// looseKey reads "A.7_NAME": { outside of a fence.
func (r *reader) looseKey(l *line) {
	t := l.text
	if l.kind != prose || len(t) < 6 || t[0] != '"' || t[1]|0x20 != 'a' {
		return
	}
	end := bytes.IndexByte(t[1:], '"')
	if end < 0 {
		return
	}
	rest := bytes.TrimLeft(t[end+2:], " ")
	n := KeyArtifact(t[1 : end+1])
	if n == 0 || len(rest) == 0 || rest[0] != ':' || firstByte(rest[1:]) != '{' && firstByte(rest[1:]) != '[' {
		return
	}
	e := r.spot(l, t, 1, end+1)
	e.Artifact, e.Form, e.body = int8(n), JSON, e.to
	r.index.add(e)
}

func (r *reader) rowEntries(l *line) {
	x := &r.index
	for i, cell := range l.cells {
		if x.item != nil && i < 3 && !l.head {
			t := trimMarks(cell)
			if len(t) > 0 {
				if id, end := x.item(t, 0); id != "" && (i == 0 || end == len(t)) {
					e := r.spot(l, t, 0, end)
					e.ID, e.Form, e.body = id, Cell, int32(r.ledger.offset(l.raw, 0))
					x.add(e)
				}
			}
		}
		m, from, to := x.topics.in(l, cell[:min(len(cell), 400)])
		if m == 0 {
			continue
		}
		e := r.spot(l, cell, from, to)
		e.Topics, e.Form, e.Head, e.body = m, Cell, l.head, e.to
		if n := x.add(e); n >= 0 && l.head {
			x.tables = append(x.tables, n)
		}
	}
}
