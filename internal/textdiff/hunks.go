// Package textdiff compares two texts unit by unit: sentences, table rows, list
// items, headings and other blocks. Begin reading at [Diff].
//
// Two units are the same if all their differences are invisible to a reader;
// see [Normal]. [Unseen] lists these differences. [Finder] locates quotations.
// The package does not interpret sentences.
package textdiff

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/reading"
)

// A UnitKind is a kind of [Unit].
type UnitKind string

// The kinds of units.
const (
	SentenceUnit UnitKind = "sentence"
	RowUnit      UnitKind = "row"
	ItemUnit     UnitKind = "item"
	HeadingUnit  UnitKind = "heading"
	BlockUnit    UnitKind = "block" // code, HTML, a rule, or lines between blocks
)

// A Unit is the smallest part of a text that [Diff] compares.
type Unit struct {
	reading.Span
	Kind    UnitKind
	Block   int    // its index in Blocks, -1 for lines between blocks
	Ordered bool   // an item of a numbered list
	Content string // normalised, without the mark of an item
	key     string // what is compared
}

// Units cuts a document into units. They cover every line after the front matter that is
// not blank. Without sentences, a paragraph is one unit.
func Units(d *reading.Document, sentences bool) []Unit {
	out := make([]Unit, 0, 2*len(d.Blocks))
	marks := emphasisMarks(d)
	add := func(s reading.Span, kind UnitKind, block int) {
		if strings.TrimSpace(s.In(d.Source)) == "" {
			return
		}
		u := Unit{Span: s, Kind: kind, Block: block}
		if block >= 0 && d.Blocks[block].Kind == reading.CodeBlock {
			u.Content = s.In(d.Source)
			u.key = u.Content
		} else {
			u.key = Normal(without(d.Source, s, marks))
			u.Content = u.key
		}
		if kind == ItemUnit {
			u.Ordered = d.Blocks[block].Ordered
			u.Content = itemMark().ReplaceAllString(u.key, "")
			u.key = strconv.Itoa(d.Blocks[block].Level) + " " + u.key
		}
		out = append(out, u)
	}
	between := func(from, to int) {
		for line := range strings.Lines(d.Source[from:to]) {
			add(reading.Span{Start: from, End: from + len(strings.TrimRight(line, "\n"))}, BlockUnit, -1)
			from += len(line)
		}
	}
	at := 0
	if d.Front != nil {
		at = d.Front.End
	}
	for i, b := range d.Blocks {
		start := max(at, strings.LastIndexByte(d.Source[:b.Start], '\n')+1)
		end := max(start, b.End)
		if n := strings.IndexByte(d.Source[end:], '\n'); end > 0 && d.Source[end-1] != '\n' && n >= 0 {
			end += n
		} else if n < 0 {
			end = len(d.Source)
		}
		between(at, start)
		kind := unitKinds[b.Kind]
		parts := []reading.Span{{Start: start, End: end}}
		if kind == SentenceUnit && sentences {
			parts = d.Sentences(parts[0])
		}
		for _, s := range parts {
			add(s, kind, i)
		}
		at = end
	}
	between(at, len(d.Source))
	return out
}

var unitKinds = map[reading.Kind]UnitKind{
	reading.ParagraphBlock: SentenceUnit, reading.QuoteBlock: SentenceUnit, reading.FootnoteBlock: SentenceUnit,
	reading.ItemBlock: ItemUnit, reading.RowBlock: RowUnit,
	reading.HeadingBlock: HeadingUnit, reading.CodeBlock: BlockUnit, reading.HTMLBlock: BlockUnit, reading.RuleBlock: BlockUnit,
}

var itemMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[-*+]|\d{1,9}[.)])(?: |$)`) })

// emphasisMarks returns the marks of emphasis in order.
func emphasisMarks(d *reading.Document) []reading.Span {
	var out []reading.Span
	for _, b := range d.Blocks {
		for _, in := range b.Inlines {
			size := 0
			switch in.Kind {
			case reading.Emphasis:
				size = 1
			case reading.Strong:
				size = 2
			}
			if size > 0 {
				out = append(out, reading.Span{Start: in.Start, End: in.Start + size}, reading.Span{Start: in.End - size, End: in.End})
			}
		}
	}
	slices.SortFunc(out, func(a, b reading.Span) int { return a.Start - b.Start })
	return out
}

// without returns a part of a source without the marks in it.
func without(source string, s reading.Span, marks []reading.Span) string {
	i, _ := slices.BinarySearchFunc(marks, s.Start, func(m reading.Span, at int) int { return m.Start - at })
	b, at := strings.Builder{}, s.Start
	for ; i < len(marks) && marks[i].End <= s.End; i++ {
		if marks[i].Start >= at {
			b.WriteString(source[at:marks[i].Start])
			at = marks[i].End
		}
	}
	b.WriteString(source[at:s.End])
	return b.String()
}

// A Hunk is a part of a text that differs: the old units and the new ones, or the
// units that have moved.
type Hunk struct {
	Old, New []Unit
	Moved    bool // the same contents, in another order or elsewhere
}

// maxPairs is the most pairs of units that are compared with each other.
const maxPairs = 4096

// Diff lists the hunks that turn old units into new ones, in order. Units are the same
// if they differ only in white space, Unicode form, quotation marks and emphasis marks.
func Diff(old, now []Unit) []Hunk {
	var out []Hunk
	regions(old, now, 0, func(a, b []Unit) { out = append(out, split(a, b)...) })
	return moved(out)
}

// regions passes each differing region between units that both sides have once.
func regions(a, b []Unit, depth int, differ func(a, b []Unit)) {
	for len(a) > 0 && len(b) > 0 && a[0].key == b[0].key {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1].key == b[len(b)-1].key {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 && len(b) == 0 {
		return
	}
	common := anchors(a, b, false)
	if len(common) == 0 {
		common = anchors(a, b, true)
	}
	if depth > 8 || len(common) == 0 {
		differ(a, b)
		return
	}
	i, j := 0, 0
	for _, c := range append(common, [2]int{len(a), len(b)}) {
		regions(a[i:c[0]], b[j:c[1]], depth+1, differ)
		i, j = min(c[0]+1, len(a)), min(c[1]+1, len(b))
	}
}

// anchors returns the longest ordered list of pairs of units that occur once on each
// side or, with repeated, that are the same occurrence of the same unit.
func anchors(a, b []Unit, repeated bool) [][2]int {
	type place struct{ i, j, times int }
	type occurrence struct {
		key string
		n   int
	}
	counts := [2]map[string]int{{}, {}}
	of := func(side int, u Unit) occurrence {
		if !repeated {
			return occurrence{key: u.key}
		}
		counts[side][u.key]++
		return occurrence{u.key, counts[side][u.key]}
	}
	places := make(map[occurrence]*place, len(a))
	for i, u := range a {
		o := of(0, u)
		if p := places[o]; p != nil {
			p.times = 3
		} else {
			places[o] = &place{i: i, times: 1}
		}
	}
	var unique []*place
	for j, u := range b {
		if p := places[of(1, u)]; p != nil {
			if p.times++; p.times == 2 {
				p.j = j
				unique = append(unique, p)
			}
		}
	}
	unique = slices.DeleteFunc(unique, func(p *place) bool { return p.times != 2 })
	var tails []int // of the best chain of each length: its last place
	previous := make([]int, len(unique))
	for n, p := range unique {
		k, _ := slices.BinarySearchFunc(tails, p.i, func(t, i int) int { return unique[t].i - i })
		if previous[n] = -1; k > 0 {
			previous[n] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, n)
		}
		tails[k] = n
	}
	var out [][2]int
	if len(tails) > 0 {
		for n := tails[len(tails)-1]; n >= 0; n = previous[n] {
			out = append(out, [2]int{unique[n].i, unique[n].j})
		}
	}
	slices.Reverse(out)
	return out
}

// split cuts a differing region into hunks: around pairs of similar units, or block
// by block.
func split(a, b []Unit) []Hunk {
	if x, y := contents(a), contents(b); len(a) > 0 && slices.Equal(slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))) {
		return []Hunk{{a, b, !slices.Equal(x, y)}}
	}
	var pairs [][2]int
	if len(a)*len(b) <= maxPairs && len(a)+len(b) > 2 {
		pairs = similar(a, b)
	}
	if len(pairs) == 0 {
		return zip(a, b)
	}
	var out []Hunk
	i, j := 0, 0
	for n, p := range pairs {
		next := [2]int{len(a), len(b)}
		if n+1 < len(pairs) {
			next = pairs[n+1]
		}
		h := Hunk{Old: a[p[0] : p[0]+1], New: b[p[1] : p[1]+1]}
		h.Old, i = extended(a, i, p[0], next[0], &out, func(u []Unit) Hunk { return Hunk{Old: u} })
		h.New, j = extended(b, j, p[1], next[1], &out, func(u []Unit) Hunk { return Hunk{New: u} })
		out = append(out, h)
	}
	return append(append(out, zip(a[i:], nil)...), zip(nil, b[j:])...)
}

// extended adds to a unit its unpaired neighbours of the same block. Other
// units before it become hunks of their own. It also returns the index after
// the unit.
func extended(list []Unit, from, at, next int, out *[]Hunk, hunk func([]Unit) Hunk) ([]Unit, int) {
	start, end := at, at+1
	for start > from && list[start-1].Block == list[at].Block {
		start--
	}
	for end < next && list[end].Block == list[at].Block {
		end++
	}
	for _, g := range blocks(list[from:start]) {
		*out = append(*out, hunk(g))
	}
	return list[start:end], end
}

// zip pairs the blocks of two sides in their order.
func zip(a, b []Unit) []Hunk {
	x, y := blocks(a), blocks(b)
	out := make([]Hunk, max(len(x), len(y)))
	for i := range out {
		if i < len(x) {
			out[i].Old = x[i]
		}
		if i < len(y) {
			out[i].New = y[i]
		}
	}
	return out
}

// blocks groups units by their blocks.
func blocks(list []Unit) [][]Unit {
	return slices.Collect(func(yield func([]Unit) bool) {
		for len(list) > 0 {
			n := 1
			for n < len(list) && list[n].Block == list[0].Block && list[n].Block >= 0 {
				n++
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	})
}

func contents(list []Unit) []string {
	var out []string
	for _, u := range list {
		out = append(out, u.Content)
	}
	return out
}

// moved joins a deleted unit and the same unit inserted at another place into one hunk.
func moved(list []Hunk) []Hunk {
	added := map[string][]int{}
	for i, h := range list {
		if len(h.Old) == 0 {
			key := strings.Join(contents(h.New), "\n")
			added[key] = append(added[key], i)
		}
	}
	drop := map[int]bool{}
	for i, h := range list {
		key := strings.Join(contents(h.Old), "\n")
		if at := added[key]; len(h.New) == 0 && len(at) > 0 {
			list[i].New, list[i].Moved = list[at[0]].New, true
			drop[at[0]], added[key] = true, at[1:]
		}
	}
	var out []Hunk
	for i, h := range list {
		if !drop[i] {
			out = append(out, h)
		}
	}
	return out
}
