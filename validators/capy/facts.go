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
	inHeading             // a heading that contains the label
)

// A fact is a label of the policy or the tables, and what stands under it.
type fact struct {
	value string // the name of the value or need that the label is for
	form  form
	place
	whole    bool         // the label has no words that make it another thing
	said     string       // what stands at the label: the rest of the line, the cell, the scalar
	figure   *figure      // the number that said is or begins with
	states   []string     // the states and turns that the words before the value name
	scenario int          // 1 to 4 of S1 to S4, 0 without one
	aside    bool         // under a heading or key of other cases: sensitivities, ranges
	hidden   bool         // in an HTML comment
	node     int          // of a key
	body     reading.Span // of a heading's section; of a line's block
}

// A reader collects the facts of a document.
type reader struct {
	*vocabulary
	doc   *document
	facts []fact

	aside    bool
	hidden   bool
	cells    bool // a number may follow its label in the next cell of HTML
	scenario int
	keys     map[string][]token
}

// facts returns the facts of a document: those of its lines and cells in source order,
// then those of its JSON.
func (v *vocabulary) facts(d *document) []fact {
	r := &reader{vocabulary: v, doc: d, keys: map[string][]token{}}
	cells := map[int][]*reading.Field{} // by the block of their row
	for i := range d.Fields {
		if f := &d.Fields[i]; f.Form == reading.RowCell {
			cells[f.Block] = append(cells[f.Block], f)
		}
	}
	isJSON := map[int]bool{}
	for i := range d.JSON {
		isJSON[d.JSON[i].Block] = !d.JSON[i].Whole || d.Whole() != nil
	}
	next := 0
	for i := range d.Blocks {
		b := &d.Blocks[i]
		for ; next < len(d.titles) && d.titles[next].start <= b.Start; next++ {
			r.title(&d.titles[next])
		}
		switch {
		case b.Kind == reading.RowBlock:
			for _, c := range cells[i] {
				r.cell(c)
			}
		case b.Kind == reading.RuleBlock:
		case b.Kind == reading.CodeBlock && isJSON[i]:
		case b.Kind == reading.HTMLBlock:
			r.markup(b)
		default:
			r.text(b.Text, b.Span, b.Offset)
		}
	}
	r.json()
	return r.facts
}

// title notes what a heading says of the lines below, and the needs that it names.
func (r *reader) title(t *title) {
	words := tokens(fold(t.text))
	r.aside = r.words.has(words, "aside")
	if n := scenarioOf(words); n > 0 || r.doc.isHeading(t.start) {
		r.scenario = n
	}
	for i := range words {
		if p := r.labels.at(words, i); p != nil {
			r.facts = append(r.facts, fact{
				value: p.kind, form: inHeading, place: place{r.doc, t.start}, said: t.text, body: t.body,
				scenario: r.scenario, aside: r.aside, states: r.words.find(words, "state:"),
			})
		}
	}
}

func (d *document) isHeading(offset int) bool {
	h := d.HeadingAt(offset)
	return h != nil && h.Start == offset
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

// markup reads HTML as a browser shows it, and the text of a comment.
func (r *reader) markup(b *reading.Block) {
	source := b.In(r.doc.Source)
	if strings.HasPrefix(strings.TrimSpace(source), "<!--") {
		r.hidden = true
		r.text(strings.NewReplacer("<!--", "    ", "-->", "   ").Replace(source), b.Span, func(at int) int { return b.Start + at })
		r.hidden = false
		return
	}
	r.cells = true
	r.text(b.Text, b.Span, b.Offset)
	r.cells = false
}

// cell reads a cell under the label of its row and under that of its column.
func (r *reader) cell(c *reading.Field) {
	at := place{r.doc, c.ValueSpan.Start}
	r.row(c.Label, c.Column, c.Value, at)
	for _, f := range r.labelled(c.Column) {
		beside := tokens(fold(c.Label))
		f.said, f.place, f.scenario = c.Value, at, scenarioOf(beside)
		f.states = append(slices.Clone(f.states), r.words.find(beside, "state:")...)
		f.aside = f.aside || r.words.has(beside, "aside")
		r.add(f)
	}
	if strings.ContainsAny(c.Value, ":=≈→") {
		r.text(c.Value, reading.Span{}, func(int) int { return at.offset })
	}
}

// row reads a value beside the label of its row.
func (r *reader) row(label, column, said string, at place) {
	above := tokens(fold(column))
	if r.words.has(above, "difference") || r.words.has(above, "aside") || len(r.labelled(column)) > 0 {
		return
	}
	for _, f := range r.labelled(label) {
		f.said, f.place = said, at
		f.states = append(slices.Clone(f.states), r.words.find(above, "state:")...)
		r.add(f)
	}
}

func texts(cells []reading.Cell) []string {
	list := make([]string, len(cells))
	for i := range cells {
		list[i] = cells[i].Text
	}
	return list
}

// labelled returns a fact, without its place and value, for the label that a cell or a
// key is.
func (r *reader) labelled(text string) []fact {
	text = fold(text)
	words := tokens(text)
	f, ok := r.label(words, words)
	if open := strings.IndexAny(text, "(:"); !ok && open > 0 {
		f, ok = r.label(beforeBracket(words, open), words)
	}
	if !ok {
		return nil
	}
	return []fact{f}
}

func beforeBracket(words []token, open int) []token {
	n := 0
	for n < len(words) && words[n].end <= open {
		n++
	}
	return words[:n]
}

// label returns the fact that words are the label of: one phrase, and other words that
// do not make it another thing. The words in brackets behind name states as well.
func (r *reader) label(words, all []token) (fact, bool) {
	if len(words) > maxLabel {
		return fact{}, false
	}
	for i := range words {
		p := r.labels.at(words, i)
		if p == nil || p.kind == "other" || p.each {
			continue
		}
		if !r.neutral(words[:i], p.kind) || !r.neutral(words[i+len(p.words):], p.kind) {
			return fact{}, false
		}
		return fact{
			value: p.kind, form: inCell, whole: true, states: r.words.find(all, "state:"),
			aside: r.aside, hidden: r.hidden, scenario: max(scenarioOf(all), r.scenario),
		}, true
	}
	return fact{}, false
}

// maxLabel is how many words a label has at most.
const maxLabel = 12

// neutral reports whether words leave a label what it is: qualifiers, states, turns,
// scenarios and the same label again.
func (r *reader) neutral(words []token, kind string) bool {
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

// add appends a fact with the number that its text is.
func (r *reader) add(f fact) {
	f.said = fold(strings.TrimSpace(f.said[:min(len(f.said), maxSaid)]))
	f.figure = r.number(f.said)
	r.facts = append(r.facts, f)
}

// json reads the members of all objects.
func (r *reader) json() {
	r.doc.aside = make([]bool, len(r.doc.nodes))
	scenarios := make([]int, len(r.doc.nodes))
	for i := range r.doc.nodes {
		n := &r.doc.nodes[i]
		words := r.key(n.key)
		if n.parent >= 0 {
			r.doc.aside[i] = r.doc.aside[n.parent] || r.words.has(words, "aside")
			scenarios[i] = scenarios[n.parent]
		}
		if n.kind == '{' {
			scenarios[i] = max(scenarios[i], r.doc.scenario(i))
		}
		if n.key == "" {
			continue
		}
		f, ok := r.label(words, words)
		if up := r.doc.parentKey(i); !ok && up != "" {
			words = append(slices.Clone(r.key(up)), words...)
			f, ok = r.label(words, words)
		} else if ok && up != "" {
			f.states = append(f.states, r.words.find(r.key(up), "state:")...)
			if both := append(slices.Clone(r.key(up)), words...); len(r.key(up)) > 0 {
				if p := r.labels.at(both, 0); p != nil && len(p.words) > len(r.key(up)) {
					f.value = p.kind
				}
			}
		}
		if value := r.pointed(i); value != "" {
			f, ok = fact{value: value, whole: true, states: f.states}, true
		}
		if !ok {
			continue
		}
		f.form, f.place, f.node, f.aside = inKey, place{r.doc, n.offset}, i, r.doc.aside[i]
		f.scenario = max(scenarios[i], scenarioOf(words))
		f.said = n.text
		switch n.kind {
		case 'n', 't', 'f':
			f.said = map[byte]string{'n': "null", 't': "true", 'f': "false"}[n.kind]
		}
		r.add(f)
	}
}

// pointed returns the value whose pointer a node has, "" for none.
func (r *reader) pointed(i int) string {
	if len(r.pointers) == 0 {
		return ""
	}
	pointer := ""
	for n := i; r.doc.nodes[n].parent >= 0; n = r.doc.nodes[n].parent {
		step := strings.NewReplacer("~", "~0", "/", "~1").Replace(r.doc.nodes[n].key)
		if up := r.doc.nodes[n].parent; r.doc.nodes[up].kind == '[' {
			index := 0
			for c := up + 1; c < n; c = r.doc.nodes[c].end {
				index++
			}
			step = strconv.Itoa(index)
		}
		if pointer = "/" + step + pointer; len(pointer) > maxSaid {
			return ""
		}
	}
	return r.pointers[pointer]
}

func (r *reader) key(name string) []token {
	words, ok := r.keys[name]
	if !ok {
		if len(name) <= maxKey {
			words = tokens(fold(name))
		}
		r.keys[name] = words
	}
	return words
}

// maxKey is how long a key that is a label may be, in bytes.
const maxKey = 120

// parentKey returns the key of the nearest object around a member.
func (d *document) parentKey(i int) string {
	for p := d.nodes[i].parent; p >= 0; p = d.nodes[p].parent {
		if d.nodes[p].key != "" {
			return d.nodes[p].key
		}
	}
	return ""
}

// scenario returns the scenario that an object is of: by its own key or its member id.
func (d *document) scenario(i int) int {
	if n := scenarioOf(tokens(d.nodes[i].key)); n > 0 {
		return n
	}
	for c := i + 1; c < d.nodes[i].end; c = d.nodes[c].end {
		if m := &d.nodes[c]; m.kind == '"' && (m.key == "id" || strings.HasSuffix(m.key, "_id") || m.key == "scenario" || m.key == "name") {
			if n := scenarioOf(tokens(m.text)); n > 0 {
				return n
			}
		}
	}
	return 0
}
