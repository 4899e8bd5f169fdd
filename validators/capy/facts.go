package capy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/reading"
)

// A form is where a label and its value are.
type form int

// The forms of facts.
const (
	inLine    form = iota // label: value, label = value, label of value
	inCell                // row label and column header
	inKey                 // a member of a JSON object
	inHeading             // a title that contains the label
)

// A fact is a label of the policy or the tables, and the value at that label.
type fact struct {
	value string // the name of the value or need that the label is for
	form  form
	place
	part     int            // the index of the title, the member, or the part that the line or cell is in
	whole    bool           // the label has no words that make it another thing
	content  string         // the rest of the line, the cell, the scalar
	figure   *reading.Value // the number that the value is or begins with
	states   []string       // the states and turns that the words at the label name
	scenario int
	aside    bool
	hidden   bool // in an HTML comment
}

// A reader collects the facts of a document.
type reader struct {
	*vocabulary
	doc   *document
	facts []fact
	part  int  // that is read
	cells bool // a number may follow its label in the next cell of HTML
}

// facts returns the facts of a document: those of its lines and cells in source order,
// then those of its JSON.
func (v *vocabulary) facts(d *document) []fact {
	r := &reader{vocabulary: v, doc: d}
	for i := range d.parts {
		p := &d.parts[i]
		switch r.part = i; p.kind {
		case aTitle:
			for at := range p.words {
				if l := r.labels.at(p.words, at); l != nil {
					f := r.fact(l.kind, inHeading, p.place)
					f.content, f.states = p.label, r.words.find(p.words, "state:")
					r.facts = append(r.facts, f)
				}
			}
			if p.level != tagLevel {
				r.text(p.block.Text, p.block.Offset)
			}
		case aRow:
			for column := range p.cells {
				r.cell(p, column)
			}
		case aMarkup:
			if p.comment() {
				source := strings.NewReplacer("<!--", "    ", "-->", "   ").Replace(p.block.In(d.Source))
				r.text(source, func(at int) int { return p.offset + at })
				continue
			}
			r.cells = true
			r.text(p.block.Text, p.block.Offset)
			r.cells = false
		case aText, anItem, aCode:
			if p.end == i+1 && p.block.Kind != reading.RuleBlock {
				r.text(p.text, p.block.Offset)
			}
		}
	}
	for i := range d.parts {
		if r.part = i; d.parts[i].member() {
			r.member(&d.parts[i])
		}
	}
	return r.facts
}

// fact returns a fact of the part that is read.
func (r *reader) fact(value string, form form, at place) fact {
	p := &r.doc.parts[r.part]
	return fact{value: value, form: form, place: at, part: r.part, aside: p.aside, hidden: p.comment(), scenario: p.scenario}
}

// scenarioOf returns the number of the one scenario that the words name: S1 to S4.
func scenarioOf(words []token) int {
	found := 0
	for i, t := range words {
		name := t.word
		if name == "scenario" && i+1 < len(words) {
			name = "s" + words[i+1].word
		}
		if len(name) == 2 && name[0] == 's' && name[1] >= '1' && name[1] <= '4' {
			if n := int(name[1] - '0'); found == 0 || found == n {
				found = n
			} else {
				return 0
			}
		}
	}
	return found
}

// cell reads a cell under the labels of its row and its column. The header of a table
// of two columns may be a label and a value itself.
func (r *reader) cell(p *part, column int) {
	text, label, above := p.cells[column].Text, "", ""
	switch {
	case p.level == 0 && (column == 0 || len(p.header) != 2) || text == "":
		return
	case column > 0:
		label = p.label
	}
	if p.level > 0 && column < len(p.header) {
		above = p.header[column].Text
	}
	at := place{r.doc, p.cells[column].Start}
	beside, over := tokens(fold(label)), tokens(fold(above))
	columns := r.labelled(above, inCell, at)
	if !r.words.has(over, "difference") && !r.words.has(over, "aside") && len(columns) == 0 {
		for _, f := range r.labelled(label, inCell, at) {
			r.add(f, text, over)
		}
	}
	for _, f := range columns {
		f.scenario, f.aside = scenarioOf(beside), f.aside || r.words.has(beside, "aside")
		r.add(f, text, beside)
	}
	if strings.ContainsAny(text, ":=≈→") {
		r.text(text, func(int) int { return at.offset })
	}
}

// labelled returns the fact, without its value, that a text is the label of: one phrase, and
// other words that do not make it another thing. Words in brackets behind it name states.
func (r *reader) labelled(text string, form form, at place) []fact {
	text = fold(text)
	words := tokens(text)
	if list := r.label(words, form, at); list != nil {
		return list
	}
	if open := strings.IndexAny(text, "(:"); open > 0 {
		if list := r.label(within(words, 0, open), form, at); list != nil {
			list[0].states = r.words.find(words, "state:")
			return list
		}
	}
	return nil
}

func (r *reader) label(words []token, form form, at place) []fact {
	if len(words) > maxLabel {
		return nil
	}
	for i := range words {
		p := r.labels.at(words, i)
		if p == nil || p.kind == "other" || p.each {
			continue
		}
		if !r.neutral(words[:i], p.kind) || !r.neutral(words[i+len(p.words):], p.kind) {
			return nil
		}
		f := r.fact(p.kind, form, at)
		f.whole, f.states = true, r.words.find(words, "state:")
		if n := scenarioOf(words); n > 0 {
			f.scenario = n
		}
		return []fact{f}
	}
	return nil
}

// maxLabel is how many words a label has at most.
const maxLabel = 12

// neutral reports whether words leave the meaning of a label unchanged. Qualifiers,
// states, turns, scenarios and the same label are neutral.
func (r *vocabulary) neutral(words []token, kind string) bool {
	for i := 0; i < len(words); {
		size := 0
		for _, p := range r.words[words[i].word] {
			if p.begins(words[i:]) && (p.kind == "qualifier" || strings.HasPrefix(p.kind, "state:") || strings.HasPrefix(p.kind, "turn:")) {
				size = max(size, len(p.words))
			}
		}
		if size == 0 && (scenarioOf(words[i:i+1]) > 0 || words[i].word == "s") {
			size = 1
		}
		if p := r.labels.at(words, i); size == 0 && p != nil && p.kind == kind {
			size = len(p.words)
		}
		if size == 0 {
			if _, err := strconv.Atoi(words[i].word); err != nil || i == 0 || words[i-1].word != "hurdle" && words[i-1].word != "gt" {
				return false
			}
			size = 1
		}
		i += size
	}
	return true
}

// add appends a fact with its value. The states come from its label and from other
// words.
func (r *reader) add(f fact, value string, states []token) {
	f.content = fold(strings.TrimSpace(value[:min(len(value), maxSaid)]))
	f.states = append(slices.Clone(f.states), r.words.find(states, "state:")...)
	f.figure = r.number(f.content)
	r.facts = append(r.facts, f)
}

func (v *vocabulary) number(text string) *reading.Value {
	return reading.ValueOf(text, func(word string) bool { return len(v.words.find([]token{{word: word}}, "approx")) > 0 })
}

// member reads a value of JSON under its key, with the key of its object if there is
// one, or under its pointer.
func (r *reader) member(p *part) {
	up := r.around(p)
	list := r.label(p.words, inKey, p.place)
	switch both := append(slices.Clone(up), p.words...); {
	case list == nil && len(up) > 0:
		list = r.label(both, inKey, p.place)
	case list != nil && len(up) > 0:
		list[0].states = append(list[0].states, r.words.find(up, "state:")...)
		if l := r.labels.at(both, 0); l != nil && len(l.words) > len(up) {
			list[0].value = l.kind
		}
	}
	if value := r.pointers[string(p.pointer)]; value != "" {
		f := r.fact(value, inKey, p.place)
		f.whole = true
		list = []fact{f}
	}
	for _, f := range list {
		text := p.text
		switch p.json {
		case 'n', 't', 'f':
			text = map[byte]string{'n': "null", 't': "true", 'f': "false"}[p.json]
		}
		r.add(f, text, nil)
	}
}

// around returns the words of the nearest key around a member.
func (r *reader) around(p *part) []token {
	for i := p.parent; i >= 0 && r.doc.parts[i].kind == aMember; i = r.doc.parts[i].parent {
		if r.doc.parts[i].label != "" {
			return r.doc.parts[i].words
		}
	}
	return nil
}
