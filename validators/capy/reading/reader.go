// Package reading reads the output of a CAPY stage, once, into what checks ask
// about:
//
//   - [Statement]: a number that the text gives to a metric, with what the
//     words around it say of it: whose state it is, which scenario's, whether
//     it is new, a bound, a change, one case of many, somebody else's;
//   - [Entry]: a name that the text gives to a stretch of itself, a heading, a
//     label, a cell, a JSON key, and the stretch;
//   - [Tally]: a list of joint states' probabilities, added up;
//   - [Block]: a JSON block with its errors; and how the text ends.
//
// A text goes through four hands. The walker takes it line by line and finds
// out what each is in Markdown: heading, item, row, fence. JSON goes through a
// scanner of its own, which is strict and reads on behind an error. The cutter
// cuts prose, cells and the strings of JSON into tokens, words by one
// vocabulary, numbers with their units, signs; it knows no emphasis, quotes or
// kinds of space, so that how a value is set off makes no difference. The
// grammar then looks for a metric's name among the tokens, follows what may
// stand between a name and its value, and asks the words around both.
//
// Nothing is judged here, and nothing outside the text is known. The text is
// never changed nor kept. Time is linear in the text whatever it is: lines are
// read in pieces of bounded length, and a name reaches only so far. What is
// kept is bounded in proportion to the text.
//
// Begin with [Read] here, then grammar.go.
package reading

import (
	"bytes"
	"math"
	"slices"
)

// A Request is what to read, and what to look for in it.
type Request struct {
	Text     []byte
	Sidecars [][]byte // JSON files that belong to it
	Topics   *Topics  // that entries are wanted of, nil for none
	Strings  Mask     // the topics that strings of JSON are searched for too
	// Item reads an identifier at t[i:], of a question or a finding; nil if the
	// stage has none.
	Item func(t []byte, i int) (id string, end int)
	// Scratch is room that readings with the same topics may use one after
	// another; nil for none.
	Scratch *Scratch
}

// Scratch is what one reading leaves to the next: buffers, and what keys of
// JSON say by themselves. It makes no difference to what is read.
type Scratch struct {
	cutter cutter
	notes  map[string]*keyNote
}

// maxText is how much of a text is read: positions are 32 bits.
const maxText = math.MaxInt32 - 1

// A reader is one text on its way into a document.
type reader struct {
	doc      *Document
	walker   walker
	scan     jsonScanner
	cutter   cutter
	ledger   ledger
	index    index
	scenario scenarios
	joints   joints

	above      qualifiers // of the headings over the present line
	levels     [7]qualifiers
	leader     []byte // the line that leads a list in of which no item was yet
	led        Mark   // of the line that leads the present list in
	heading    []byte
	heads      []caption // of the present table
	chanced    bool      // one of its columns is of probabilities
	sole       bool      // it has one row
	pending    caption
	labelled   bool // the present line has a word that a label begins with
	group      int32
	base       int // where the present JSON block begins in its source
	containers [maxPath + 1]container
	pairs      [maxPath + 1]pair
}

// Read reads a text. Of one beyond 2 GiB the rest is not read.
func Read(q Request) *Document {
	text := bytes.TrimPrefix(q.Text, []byte("\uFEFF"))
	text = unified(text[:min(len(text), maxText)])
	json := isJSONDocument(text)
	if !json {
		text = folded(text)
	}
	doc := &Document{Sources: [][]byte{whole(text)}, Whole: json}
	for _, s := range q.Sidecars {
		doc.Sources = append(doc.Sources, whole(bytes.TrimPrefix(s, []byte("\uFEFF"))))
	}
	r := &reader{doc: doc, ledger: newLedger(doc.Sources), walker: walker{text: doc.Sources[0], at: Place{under: -1}}}
	r.index.init(q)
	r.scan.tell = r.event
	if s := q.Scratch; s != nil {
		if s.notes == nil {
			s.notes = map[string]*keyNote{}
		}
		r.cutter, r.scan.notes = s.cutter, s.notes
		defer func() { s.cutter = cutter{low: r.cutter.low, tokens: r.cutter.tokens, numbers: r.cutter.numbers} }()
	}
	r.scenario.tally, r.joints.tally = -1, -1
	if json {
		doc.Last = Place{Line: int32(bytes.Count(bytes.TrimRight(text, " \t\r\n"), []byte{'\n'})) + 1, under: -1}
		r.block(doc.Sources[0], Top)
	} else {
		r.lines()
	}
	r.finish()
	for i, s := range doc.Sources[1:] {
		r.block(s, Place{Line: 1, under: -1, Source: int16(min(i+1, math.MaxInt16))})
	}
	doc.Statements, doc.Entries = slices.DeleteFunc(r.ledger.list, nobodys), r.index.list
	return doc
}

// nobodys says that a statement is a P or an M of no scenario.
func nobodys(s Statement) bool {
	return (s.Metric == Probability || s.Metric == Magnitude) && s.Scenario == 0
}

// whole is a text without room behind it, so that positions of its parts can
// be told from how much is left.
func whole(t []byte) []byte { return t[:len(t):len(t)] }

// finish closes what the end of the text ends.
func (r *reader) finish() {
	x, end := &r.index, int32(len(r.doc.Sources[0]))
	for _, i := range x.heads {
		x.list[i].end = end
	}
	x.endTables(end)
	x.label, x.heads = -1, nil
	r.doc.Ending.count()
}

// block reads a JSON block.
func (r *reader) block(t []byte, at Place) {
	r.base = r.ledger.offset(t, at.Source)
	if b := r.scan.read(t, at); len(b.Errors) > 0 || len(b.Twice) > 0 {
		r.doc.Blocks = append(r.doc.Blocks, b)
	}
}

// event takes in something met in JSON.
func (r *reader) event(e *event) {
	if e.kind != closes && e.depth <= 2 && len(e.key) > 0 {
		r.doc.key(e.key, e.at.Source)
	}
	r.keyEntry(e, r.base)
	r.value(e)
}

// show takes in a line.
func (r *reader) show(l line) {
	at := r.walker.at
	l.seen = r.glance(&l)
	r.doc.Ending.see(&l, at.Line)
	r.doc.Manner.see(&l)
	if l.aside {
		r.unseen(&l, at)
		return
	}
	r.entry(&l)
	if l.kind == rule || l.kind == fence {
		return
	}
	n := r.scenario.line(&l)
	if n > 0 {
		r.mention(&l, n, at)
	}
	if l.kind == heading {
		r.under(&l)
	}
	set := setting{at: at, above: r.above, scenario: n, form: forms[l.kind]}
	switch {
	case l.kind == item:
		r.lead()
		set.above.marks |= r.led
	case l.kind != heading:
		r.leader, r.led = nil, 0
	}
	r.joints.line(r, &l)
	if l.kind == row {
		r.rows(&l, set)
		return
	}
	r.labelled = false
	r.prose(l.text, set)
	r.carry(&l, set)
	if n := len(l.text); n == 0 || !leading[l.text[n-1]] || !bytes.HasSuffix(trimRight(l.text, &trailing), []byte{':'}) {
		return
	}
	switch {
	case l.kind == prose:
		r.leader = l.text
	case l.kind == item && bytes.HasPrefix(trimLeft(l.text, &marking), []byte("Y0")):
		r.led |= baseYear // of the items under it
	}
}

// glance looks through a line as far as it will be asked about.
func (r *reader) glance(l *line) glance {
	t := l.text
	if l.kind != row && l.kind != heading {
		t = t[:min(len(t), maxPiece)]
	}
	return r.index.topics.glancer.over(t)
}

// unseen takes in a line of a comment: one that is all comment may be the
// heading of what follows.
func (r *reader) unseen(l *line, at Place) {
	if r.walker.start >= r.walker.comment {
		r.entry(l)
	}
	set := setting{at: at, above: r.above, form: Prose}
	set.above.marks |= Unseen
	r.scenario.any = false
	r.prose(l.text, set)
}

var forms = [...]Form{prose: Prose, item: Item, heading: Heading, row: Cell, code: Code, rule: Prose, fence: Code, html: Prose}

// mention notes a scenario that a line opens with, or that a heading names.
func (r *reader) mention(l *line, n int8, at Place) {
	if k, many := l.scenario(l.text); k == n && !many && (l.kind == heading || opensLine(l.text)) {
		r.scenarioNamed(n, setting{at: at})
	}
}

// under takes in what a heading says of everything under it, and what those
// above it say.
func (r *reader) under(l *line) {
	r.heading = l.text
	r.leader, r.led = nil, 0
	q := &r.levels[l.level]
	q.title(&r.cutter, l.text, l.level)
	for i := l.level + 1; i < len(r.levels); i++ {
		r.levels[i] = qualifiers{}
	}
	r.above = *q
	for i := l.level - 1; i > 0; i-- {
		up := &r.levels[i]
		if i > 1 {
			r.above.marks |= up.marks
		}
		if r.above.state == 0 && i > 1 {
			r.above.state = up.state
		}
		if r.above.turn == 0 {
			r.above.turn = up.turn
		}
	}
}

// lead takes in what the line that leads a list in says of its items: that
// they are the market's, or under a condition.
func (r *reader) lead() {
	t := r.leader
	if t == nil {
		return
	}
	r.leader = nil
	c := &r.cutter
	c.cut(t[max(0, len(t)-200):])
	var q qualifiers
	q.take(c, 0, len(c.tokens))
	r.led = q.marks & (Comparison | Hypothesis)
	if q.marks&Change == 0 {
		r.led |= q.marks & baseYear
	}
	implied, priced := false, false
	for i := range c.tokens {
		k := &c.tokens[i]
		implied = implied || c.same(k, "implies") || c.same(k, "imply") || c.same(k, "pricing")
		priced = priced || c.same(k, "price") || c.same(k, "pricing")
	}
	if implied && priced {
		r.led |= Comparison
	}
}
