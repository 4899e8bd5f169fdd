package textdiff

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/tables"
)

// Order is the label of the same words in another order. The preceding labels
// are more serious.
const Order = "order"

// LabelOrder has all labels, the gravest first.
var LabelOrder = []string{"number", "negation", "modal", "name", "link", "code", "quotation", Order, "wording"}

// A phrase is an entry of the table of labels.
type phrase struct {
	kind, class string
	words       []string
}

// A Table has the words by which a [Labeller] finds numbers, negations and modal verbs.
type Table struct {
	phrases  map[string][]phrase // by the first word, longer ones first
	prefixes []string            // that negate a word
}

// NewTable reads rows of kind, class and words: number, unit, negation, prefix or modal.
func NewTable(text string) *Table {
	t := &Table{phrases: map[string][]phrase{}}
	for _, row := range tables.Rows(text) {
		if row["kind"] == "prefix" {
			t.prefixes = append(t.prefixes, row["words"])
			continue
		}
		for p := range strings.SplitSeq(row["words"], "|") {
			w := strings.Fields(p)
			t.phrases[w[0]] = append(t.phrases[w[0]], phrase{row["kind"], row["class"], w})
		}
	}
	for _, list := range t.phrases {
		slices.SortStableFunc(list, func(a, b phrase) int { return len(b.words) - len(a.words) })
	}
	return t
}

// A Labeller labels the hunks between two documents. A label does not decide whether a
// change exists.
type Labeller struct {
	*Table
	docs  [2]*reading.Document
	links [2]map[int][]reading.Link
	known func() map[string]bool // the words of the source
}

// NewLabeller returns a labeller for an old and a new document.
func NewLabeller(t *Table, docs [2]*reading.Document) *Labeller {
	l := &Labeller{Table: t, docs: docs}
	for i, d := range docs {
		l.links[i] = map[int][]reading.Link{}
		for _, link := range d.Links {
			l.links[i][link.Block] = append(l.links[i][link.Block], link)
		}
	}
	l.known = sync.OnceValue(func() map[string]bool {
		known := map[string]bool{}
		for _, t := range tokens(docs[0].Source) {
			known[t.word] = true
		}
		return known
	})
	return l
}

// A side is one side of a hunk: for each label the things that may change.
type side struct {
	things  map[string][]string
	words   []string
	targets map[string]string // of links, by their text
}

// Labels returns the labels of a hunk, in their order.
func (l *Labeller) Labels(h Hunk) []string {
	a, b := l.side(0, h.Old), l.side(1, h.New)
	differ := map[string]bool{}
	for _, label := range LabelOrder {
		differ[label] = label != "name" && !sameBag(a.things[label], b.things[label])
	}
	for _, name := range a.things["name"] {
		differ["name"] = differ["name"] || !slices.Contains(b.words, name)
	}
	for _, name := range b.things["name"] {
		differ["name"] = differ["name"] || !slices.Contains(a.words, name) && !l.known()[name]
	}
	for text, target := range a.targets {
		differ["link"] = differ["link"] || b.targets[text] != "" && b.targets[text] != target
	}
	differ["negation"] = differ["negation"] || l.prefixed(a.words, b.words) || l.prefixed(b.words, a.words)
	differ["wording"] = !sameBag(a.words, b.words)
	differ[Order] = h.Moved || !differ["wording"] && !slices.Equal(a.words, b.words)
	if h.Moved && h.Old[0].Ordered {
		differ["number"] = true // the numbers of a list
	}
	return slices.DeleteFunc(slices.Clone(LabelOrder), func(label string) bool { return !differ[label] })
}

func sameBag(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// prefixed reports whether a new word is a word that is gone with a negating prefix.
func (t *Table) prefixed(old, now []string) bool {
	for _, p := range t.prefixes {
		for _, w := range now {
			rest, found := strings.CutPrefix(w, p)
			if found && len(rest) > 3 && !slices.Contains(old, w) && slices.Contains(old, rest) && !slices.Contains(now, rest) {
				return true
			}
		}
	}
	return false
}

var (
	quotation = patterns.Lazy(`"([^"]+)"`)
	box       = patterns.Lazy(`^\[[ xX]\] `)
)

// side collects the things of units.
func (l *Labeller) side(n int, units []Unit) side {
	s := side{things: map[string][]string{}, targets: map[string]string{}}
	add := func(label, thing string) { s.things[label] = append(s.things[label], thing) }
	d := l.docs[n]
	for _, u := range units {
		prose := u.In(d.Source)
		if u.Block >= 0 {
			b := d.Blocks[u.Block]
			if b.Kind == reading.CodeBlock || b.Kind == reading.HTMLBlock {
				add("code", b.Text+map[bool]string{true: prose}[b.Kind == reading.HTMLBlock])
				s.words = append(s.words, b.Language)
				continue
			}
			prose = l.prose(n, u, add, s.targets)
			if b.Quoted && !strings.Contains(Normal(b.Text), `"`) {
				add("quotation", Normal(prose))
			}
		}
		if prose = Normal(prose); u.Kind == ItemUnit {
			prose = itemMark().ReplaceAllString(prose, "")
		}
		for _, m := range quotation().FindAllStringSubmatch(prose, -1) {
			add("quotation", strings.Trim(strings.ToLower(m[1]), " .,;:!?"))
		}
		if mark := box().FindString(u.Content); mark != "" {
			add("negation", strings.ToLower(mark))
		}
		list := tokens(prose)
		for i, t := range list {
			s.words = append(s.words, t.word)
			full := i+1 < len(list) && list[i+1].before == " " && capital(t.text) && capital(list[i+1].text)
			if t.named(u.Kind) || full && u.Kind != HeadingUnit {
				add("name", t.word)
			}
		}
		l.phrased(list, add)
	}
	return s
}

// prose returns a unit with the words of its links and without code and images.
func (l *Labeller) prose(n int, u Unit, add func(label, thing string), targets map[string]string) string {
	d := l.docs[n]
	type cut struct {
		reading.Span
		text string
	}
	var cuts []cut
	within := func(s reading.Span) bool { return s.Start >= u.Start && s.End <= u.End }
	for _, in := range d.Blocks[u.Block].Inlines {
		switch {
		case !within(in.Span):
		case in.Kind == reading.CodeSpan || in.Kind == reading.RawHTML:
			add("code", in.Raw)
			cuts = append(cuts, cut{in.Span, " "})
		case in.Kind == reading.Strikethrough:
			add("negation", "struck")
		}
	}
	for _, link := range l.links[n][u.Block] {
		if within(link.Span) {
			add("link", link.Target+" "+link.Title)
			targets[link.Text] = link.Target
			if link.Image {
				add("link", link.Text)
				link.Text = ""
			}
			cuts = append(cuts, cut{link.Span, link.Text})
		}
	}
	slices.SortFunc(cuts, func(a, b cut) int { return a.Start - b.Start })
	var out strings.Builder
	at := u.Start
	for _, c := range cuts {
		if c.Start >= at {
			out.WriteString(d.Source[at:c.Start] + c.text)
			at = c.End
		}
	}
	return out.String() + d.Source[at:u.End]
}

// A token is a word or a number of a text.
type token struct {
	word   string // in small letters
	text   string
	before string // between the token before and this one
	after  string // one character
	unit   string // of a number
	number bool
}

var wordPattern = patterns.Lazy(`\p{L}[\p{L}\p{M}\p{N}_]*(?:'\p{L}+)?`)

// tokens splits a normalised text into words and numbers.
func tokens(text string) []token {
	var out []token
	at := 0
	add := func(from, to int, t token) {
		t.before, t.text = text[at:from], text[from:to]
		t.after = text[to:min(to+1, len(text))]
		out = append(out, t)
		at = to
	}
	addWords := func(to int) {
		base := at
		for _, loc := range wordPattern().FindAllStringIndex(text[base:to], -1) {
			add(base+loc[0], base+loc[1], token{word: strings.ToLower(text[base+loc[0] : base+loc[1]])})
		}
	}
	for _, n := range reading.Numbers(text) {
		for ; n.Start >= at; n = *n.To {
			addWords(n.Start)
			add(n.Start, n.End, token{word: n.Currency + n.Readings[0], unit: n.Unit, number: true})
			if n.To == nil {
				break
			}
		}
	}
	addWords(len(text))
	return out
}

func capital(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(r)
}

// named reports whether a word is a name by its capitals or figures.
func (t token) named(kind UnitKind) bool {
	letters := []rune(t.text)
	inner := slices.ContainsFunc(letters[1:], func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) || r == '_' })
	cell := kind == RowUnit && len(letters) <= 3 && strings.Contains(t.before, "|") && strings.ContainsAny(t.after, " |")
	switch {
	case t.number:
		return false
	case inner || cell && unicode.IsUpper(letters[0]):
		return true
	}
	first := t.before != " " && t.before != ", " && t.before != "-" // it may begin a sentence
	return unicode.IsUpper(letters[0]) && len(letters) > 1 && !first && kind != HeadingUnit
}

// phrased adds the numbers, negations and modal verbs of a text.
func (t *Table) phrased(list []token, add func(label, thing string)) {
	limit := ""
	for i := 0; i < len(list); i++ {
		w := list[i]
		if w.number {
			add("number", limit+w.word+" "+t.unitOf(w.unit))
			limit = ""
			continue
		}
		bound := ""
		skip := 0
		for _, kind := range []string{"number", "negation", "modal"} {
			p := t.match(list[i:], kind)
			if p == nil {
				continue
			}
			skip = max(skip, len(p.words)-1)
			next := token{}
			if i+len(p.words) < len(list) {
				next = list[i+len(p.words)]
			}
			switch value, sort, _ := strings.Cut(p.class, " "); {
			case sort == "bound":
				bound = value
			case sort == "numeral":
				add(kind, limit+value+" "+t.unitOf(map[bool]string{true: next.word}[next.before == " "]))
			default:
				add(kind, p.class)
			}
		}
		limit = bound
		i += skip
	}
}

// match returns the longest phrase of a kind at the beginning of a text.
func (t *Table) match(list []token, kind string) *phrase {
	for _, p := range t.phrases[list[0].word] {
		fits := p.kind == kind && len(p.words) <= len(list)
		for i := 1; fits && i < len(p.words); i++ {
			fits = list[i].word == p.words[i] && (list[i].before == " " || list[i].before == "-")
		}
		if fits {
			return &p
		}
	}
	return nil
}

// unitOf returns the unit of a number by the table, or the word in the singular.
func (t *Table) unitOf(word string) string {
	word = strings.ToLower(word)
	for _, p := range t.phrases[word] {
		if p.kind == "unit" {
			return p.class
		}
	}
	if len(word) <= 3 {
		return "" // no noun
	}
	return strings.TrimSuffix(word, "s")
}
