package reading

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Change is one thing that two texts differ in: Old is gone, Now is new, and
// with both one has taken the other's place.
type Change struct {
	Kind     Kind
	Old, Now string
	Line     int // of the new text; of the old one where Now is empty
}

// String is the change in words, with shortened texts.
func (c Change) String() string {
	old, now := short(c.Old), short(c.Now)
	switch {
	case c.Kind == Order:
		return fmt.Sprintf("order: %s stands in another place (line %d)", now, c.Line)
	case c.Kind == Invisible:
		return fmt.Sprintf("invisible: %s (line %d)", c.Now, c.Line)
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
	var out []Change
	for _, kind := range compared {
		out = append(out, p.things(kind)...)
	}
	out = append(out, p.relinked()...)
	out = append(out, p.names()...)
	out = append(out, p.turns()...)
	out = append(out, p.passages()...)
	return append(out, p.moved()...)
}

// things compares those of one kind that stand in blocks that are not the same.
func (p pairing) things(kind Kind) []Change {
	old, now := loose(p.old, p.oldLoose, kind), loose(p.now, p.nowLoose, kind)
	gone, kept := without(old, now)
	come, keptNow := without(now, old)
	var out []Change
	for i := range max(len(gone), len(come)) {
		c := Change{Kind: kind}
		if i < len(gone) {
			c.Old, c.Line = gone[i].Text, gone[i].Line
		}
		if i < len(come) {
			c.Now, c.Line = come[i].Text, come[i].Line
		}
		out = append(out, c)
	}
	for i := range kept {
		if kept[i].Text != keptNow[i].Text {
			return append(out, Change{kind, kept[i].Text, keptNow[i].Text, keptNow[i].Line})
		}
	}
	return out
}

// loose lists the things of a kind in some blocks. What stands in a row or a
// heading is told with it.
func loose(blocks []Block, which []int, kind Kind) []Thing {
	var out []Thing
	for _, i := range which {
		whole := blocks[i].Form == Row && kind != Tables || blocks[i].Form == Heading && kind != Headings && kind != Links
		for _, t := range blocks[i].Things {
			if t.Kind == kind && !whole {
				out = append(out, t)
			}
		}
	}
	return out
}

// without parts things into those that others lack, and those that they have
// as often.
func without(list, others []Thing) (lacking, kept []Thing) {
	times := map[string]int{}
	for _, t := range others {
		times[t.Text]++
	}
	for _, t := range list {
		if times[t.Text]--; times[t.Text] < 0 {
			lacking = append(lacking, t)
		} else {
			kept = append(kept, t)
		}
	}
	return lacking, kept
}

// relinked finds words that were a link and now lead elsewhere, where both
// targets were known.
func (p pairing) relinked() []Change {
	led := map[string]string{}
	for _, t := range loose(p.old, p.oldLoose, Links) {
		if t.label != "" {
			led[t.label] = t.Text
		}
	}
	old := loose(p.old, p.oldLoose, Links)
	var out []Change
	for _, t := range loose(p.now, p.nowLoose, Links) {
		was, known := led[t.label]
		if known && was != t.Text && slices.ContainsFunc(old, func(o Thing) bool { return o.Text == t.Text }) {
			out = append(out, Change{Links, t.label + " → " + was, t.label + " → " + t.Text, t.Line})
		}
	}
	return out
}

// maxNouns is the share of capitals within sentences above which a language
// writes its nouns so, and they are no names.
const maxNouns = 0.2

// names finds names that one of the texts does not have at all.
func (p pairing) names() []Change {
	if share(p.old) > maxNouns {
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
	gone, come := missing(loose(p.old, p.oldLoose, Names), inNow), missing(loose(p.now, p.nowLoose, Names), inOld)
	var out []Change
	for i := range max(len(gone), len(come)) {
		c := Change{Kind: Names}
		if i < len(gone) {
			c.Old, c.Line = gone[i].Text, gone[i].Line
		}
		if i < len(come) {
			c.Now, c.Line = come[i].Text, come[i].Line
		}
		out = append(out, c)
	}
	return out
}

func share(blocks []Block) float64 {
	capitals, all := 0, 40 // of a short text nothing is known
	for _, b := range blocks {
		for _, t := range b.Things {
			if t.Kind == Names && !identifier(t.Text) {
				capitals++
			}
		}
		all += strings.Count(b.Words, " ") + 1
	}
	return float64(capitals) / float64(all)
}

func vocabulary(blocks []Block) map[string]bool {
	in := map[string]bool{}
	for _, b := range blocks {
		for _, t := range tokens(b.Words) {
			in[t.text] = true
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
	for _, blocks := range [][]Block{p.old, p.now} {
		for _, t := range (Text{blocks}).Of(Names) {
			isName[t.Text] = true
		}
	}
	var out []Change
	for _, g := range p.gaps() {
		was, is := said(p.old, g.old), said(p.now, g.now)
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

// said are the words of blocks, without those that are compared as things.
func said(blocks []Block, which []int) []string {
	var out []string
	for _, i := range which {
		if f := blocks[i].Form; f == Row || f == Heading {
			continue
		}
		_, rest := modals(blocks[i].Words)
		for _, t := range tokens(rest) {
			if t.word {
				out = append(out, t.text)
			}
		}
	}
	return out
}

// minKept is the share of a block's pairs of words that must be found again in
// the blocks that are new for it to count as written in other words.
const minKept = 0.3

// passages finds blocks that are gone as a whole.
func (p pairing) passages() []Change {
	known := map[string]bool{}
	for _, i := range p.nowLoose {
		words := folded(said(p.now, []int{i}))
		for k := range len(words) - 1 {
			known[words[k]+" "+words[k+1]] = true
		}
	}
	var out []Change
	for _, i := range p.oldLoose {
		words := folded(said(p.old, []int{i}))
		kept := 0
		for k := range len(words) - 1 {
			if known[words[k]+" "+words[k+1]] {
				kept++
			}
		}
		rewritten := len(words) < 6 && len(p.nowLoose) >= len(p.oldLoose)
		if len(words) > 0 && !rewritten && float64(kept) < minKept*float64(max(1, len(words)-1)) {
			out = append(out, Change{Kind: Passages, Old: p.old[i].Words, Line: p.old[i].Line})
		}
	}
	return out
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
