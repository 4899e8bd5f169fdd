package reading

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// A Change is one thing that two texts differ in: Old is gone, Now is new, with
// both one has taken the other's place, and where they are the same it stands in
// another place.
type Change struct {
	Kind     Kind
	Old, Now string
	Line     int // of the new text; of the old one where Now is empty
}

// String is the change in words, with shortened texts.
func (c Change) String() string {
	old, now := short(c.Old), short(c.Now)
	switch {
	case c.Kind == Invisible:
		return fmt.Sprintf("invisible: %s (line %d)", c.Now, c.Line)
	case c.Old != "" && c.Old == c.Now:
		return fmt.Sprintf("%s: %s stands in another place (line %d)", c.Kind, now, c.Line)
	case c.Old != "" && c.Now != "":
		return fmt.Sprintf("%s: %s is now %s (line %d)", c.Kind, old, now, c.Line)
	case c.Old != "":
		return fmt.Sprintf("%s: %s is gone (it was in line %d)", c.Kind, old, c.Line)
	default:
		return fmt.Sprintf("%s: %s is new (line %d)", c.Kind, now, c.Line)
	}
}

func short(s string) string {
	const most = 80
	s = oneLine(s)
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return "“" + s + "”"
}

// compared are the kinds whose things are held against each other one by one.
var compared = []Kind{Headings, Lists, Tables, Code, Links, Images, Footnotes, Citations, Quotations, Dates, Numbers, Modals, Placeholders, Markup}

// Compare lists what two texts differ in, kind by kind, in the order of the new
// text. Words that only say the same in another way are none of it.
func Compare(old, now Text) []Change {
	p := pair(old.Blocks, now.Blocks)
	if p.plainCode() {
		p = pair(p.old, p.now)
	}
	var out []Change
	for _, kind := range compared {
		old, now := of(kind, p.oldThings), of(kind, p.nowThings)
		if kind == Numbers { // of a block the signs stand behind its figures, wherever they are
			out = append(out, things(kind, slices.DeleteFunc(slices.Clone(old), isSign), slices.DeleteFunc(slices.Clone(now), isSign))...)
			old, now = slices.DeleteFunc(old, isFigured), slices.DeleteFunc(now, isFigured)
		}
		out = append(out, things(kind, old, now)...)
	}
	out = append(out, p.relinked()...)
	out = append(out, p.names()...)
	out = append(out, p.turns()...)
	out = append(out, p.passages()...)
	out = append(out, p.sentences()...)
	return append(out, p.moved()...)
}

// things compares those of one kind that stand in blocks that are not the same,
// in their order. One that is gone here and new there stands in another place.
func things(kind Kind, old, now []Thing) []Change {
	var out []Change
	for _, d := range lcs.DiffLines(texts(old), texts(now)) {
		gone, come := old[d.Start:d.End], now[d.ReplStart:d.ReplEnd]
		for i := range max(len(gone), len(come)) {
			out = append(out, changed(kind, gone, come, i))
		}
	}
	return settled(out)
}

// isSign tells a sign of a formula or a comparison from a number.
func isSign(t Thing) bool    { return !anyFigure(t.Text) }
func isFigured(t Thing) bool { return anyFigure(t.Text) }

func texts(things []Thing) []string {
	out := make([]string, len(things))
	for i, t := range things {
		out[i] = t.Text
	}
	return out
}

// changed is the i-th of what is gone, with the i-th of what is new.
func changed(kind Kind, gone, come []Thing, i int) Change {
	c := Change{Kind: kind}
	if i < len(gone) {
		c.Old, c.Line = gone[i].Text, gone[i].Line
	}
	if i < len(come) {
		c.Now, c.Line = come[i].Text, come[i].Line
	}
	return c
}

// settled tells of what is gone here and new there once, where it is new: 8 of
// "8 and 7" in place of "7 and 8" stands in another place.
func settled(list []Change) []Change {
	gone, come := map[string]int{}, map[string]int{}
	for _, c := range list {
		gone[c.Old]++
		come[c.Now]++
	}
	out := list[:0]
	for _, c := range list {
		if c.Old != "" && come[c.Old] > 0 {
			come[c.Old]--
			c.Old = ""
		}
		if c.Now != "" && gone[c.Now] > 0 {
			gone[c.Now]--
			c.Old = cmp.Or(c.Old, c.Now)
		}
		if c.Now != "" || c.Old != "" {
			out = append(out, c)
		}
	}
	return out
}

func of(kind Kind, things []Thing) []Thing {
	var out []Thing
	for _, t := range things {
		if t.Kind == kind {
			out = append(out, t)
		}
	}
	return out
}

// relinked finds words that were a link and now lead elsewhere, where both
// targets were known.
func (p pairing) relinked() []Change {
	led, known, was := map[[2]string]bool{}, map[string]bool{}, map[string]string{}
	for _, t := range of(Links, p.oldThings) {
		known[t.Text], led[[2]string{t.label, t.Text}] = true, true
		if t.label != "" {
			was[t.label] = t.Text
		}
	}
	var out []Change
	for _, t := range of(Links, p.nowThings) {
		if was[t.label] != "" && known[t.Text] && !led[[2]string{t.label, t.Text}] {
			out = append(out, Change{Links, t.label + " → " + was[t.label], t.label + " → " + t.Text, t.Line})
		}
	}
	return out
}

// maxNouns is the share of capitals within sentences above which a language
// writes its nouns so, and they are no names.
const maxNouns = 0.2

// names finds names that one of the texts does not have at all.
func (p pairing) names() []Change {
	if p.nouns() > maxNouns {
		return nil
	}
	inOld, inNow := vocabulary(p.old), vocabulary(p.now)
	missing := func(things []Thing, in map[string]bool) []Thing {
		var out []Thing
		seen := map[string]bool{}
		for _, t := range things {
			if !in[t.Text] && !in[strings.ToLower(t.Text)] && !seen[t.Text] {
				seen[t.Text] = true
				out = append(out, t)
			}
		}
		return out
	}
	gone, come := missing(of(Names, p.oldThings), inNow), missing(of(Names, p.nowThings), inOld)
	var out []Change
	for i := range max(len(gone), len(come)) {
		out = append(out, changed(Names, gone, come, i))
	}
	return out
}

// nouns is the share of capitals within sentences, of what is looked at.
func (p pairing) nouns() float64 {
	capitals, all := 0, 40 // of a short text nothing is known
	for _, t := range of(Names, p.oldThings) {
		if capital(t.Text) && !identifier(t.Text) {
			capitals++
		}
	}
	for _, i := range p.oldLoose {
		all += strings.Count(p.old[i].Words, " ") + 1
	}
	return float64(capitals) / float64(all)
}

func vocabulary(blocks []Block) map[string]bool {
	in := map[string]bool{}
	for _, b := range blocks {
		for _, t := range tokens(b.Words) {
			in[t.text] = true
		}
		for _, name := range files(b.Words) {
			in[name] = true
		}
		for _, t := range b.Things {
			if t.Kind == Code {
				in[strings.Trim(t.Text, "`")] = true
			}
		}
	}
	return in
}

// turns looks at the words where blocks that are the same leave others between
// them.
func (p pairing) turns() []Change {
	isName := map[string]bool{}
	for _, t := range append(of(Names, p.oldThings), of(Names, p.nowThings)...) {
		isName[t.Text] = true
	}
	var out []Change
	for _, g := range p.gaps() {
		was, is := p.saidOld(g.old...), p.saidNow(g.now...)
		for _, h := range hunks(was, is) {
			if old, now := h.turned(); old != "" || now != "" {
				out = append(out, Change{Turns, old, now, g.line})
			} else if old, now := h.renamed(isName); old != "" {
				out = append(out, Change{Names, old, now, g.line})
			}
		}
	}
	return out
}

// A block is written in other words, and not gone, where the blocks that are new
// have this share of its pairs of words, or, if one stands in its place, of its
// longer words.
const (
	minPairs = 0.3
	minWords = 0.4
)

// passages finds blocks that are gone as a whole.
func (p pairing) passages() []Change {
	known := map[string]bool{}
	for _, i := range p.nowLoose {
		for _, s := range fingerprints(p.saidNow(i)) {
			known[s] = true
		}
	}
	var out []Change
	alone := p.alone()
	for _, i := range p.oldLoose {
		words := p.saidOld(i)
		pairs, pairsKept, long, longKept := 0, 0, 0, 0
		for _, s := range fingerprints(words) {
			switch pair := strings.Contains(s, " "); {
			case pair && known[s]:
				pairsKept++
				fallthrough
			case pair:
				pairs++
			case known[s]:
				longKept++
				fallthrough
			default:
				long++
			}
		}
		rewritten := len(words) < 6 && len(p.nowLoose) >= len(p.oldLoose)
		rewritten = rewritten || pairs+long == 0 && !alone[i] // nothing to know it by
		if len(words) > 0 && !rewritten && float64(pairsKept) < minPairs*float64(max(1, pairs)) && (alone[i] || float64(longKept) < minWords*float64(max(1, long))) {
			out = append(out, Change{Kind: Passages, Old: p.old[i].Words, Line: p.old[i].Line})
		}
	}
	return out
}

// fingerprints are the pairs of words, and the words of more than three letters, by
// what their spellings have in common: "the river", "river is", "is long", "river" and
// "long".
func fingerprints(words []string) []string {
	words = folded(words)
	bones := make([]string, len(words))
	for k, w := range words {
		bones[k] = skeleton(w)
	}
	var out []string
	for k, w := range words {
		if k+1 < len(words) {
			out = append(out, bones[k]+" "+bones[k+1])
		}
		if utf8.RuneCountInString(w) > 3 {
			out = append(out, bones[k])
		}
	}
	return out
}

// skeleton is what the spellings of a longer word have in common: colour is color, and
// analysed analyzed.
func skeleton(word string) string {
	if len(word) < 4 || !isASCII(word) {
		return word
	}
	b := []byte(word[:1])
	for _, c := range []byte(strings.ReplaceAll(word[1:], "z", "s")) {
		if strings.IndexByte("aeiouy", c) < 0 && c != b[len(b)-1] {
			b = append(b, c)
		}
	}
	return string(b)
}

// moved finds blocks that are the same and stand in another order.
func (p pairing) moved() []Change {
	var out []Change
	for _, i := range p.strayed {
		b := p.now[i]
		text := b.Words
		if text == "" && len(b.Things) > 0 {
			text = b.Things[0].Text
		}
		out = append(out, Change{Order, text, text, b.Line})
	}
	slices.SortFunc(out, func(a, b Change) int { return cmp.Compare(a.Line, b.Line) })
	return out
}
