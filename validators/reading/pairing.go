package reading

import (
	"slices"
	"sort"
	"strings"
)

// A pairing is two texts whose blocks that say the same are laid together.
type pairing struct {
	old, now           []Block
	oldLoose, nowLoose []int    // blocks that have no partner
	anchors            [][2]int // partners that stand in one order
	strayed            []int    // of the new blocks: those whose partner stands elsewhere

	oldThings, nowThings []Thing          // of the blocks that have no partner
	oldWords, nowWords   map[int][]string // of each of them
}

func pair(old, now []Block) pairing {
	p := pairing{old: old, now: now}
	waiting := map[string][]int{}
	for i, b := range now {
		k := b.key()
		waiting[k] = append(waiting[k], i)
	}
	taken := make([]bool, len(now))
	var pairs [][2]int
	for i, b := range old {
		k := b.key()
		if w := waiting[k]; len(w) > 0 {
			waiting[k] = w[1:]
			taken[w[0]] = true
			pairs = append(pairs, [2]int{i, w[0]})
		} else {
			p.oldLoose = append(p.oldLoose, i)
		}
	}
	for i := range now {
		if !taken[i] {
			p.nowLoose = append(p.nowLoose, i)
		}
	}
	p.order(pairs)
	p.oldThings, p.nowThings = told(old, p.oldLoose), told(now, p.nowLoose)
	p.oldWords, p.nowWords = said(old, p.oldLoose), said(now, p.nowLoose)
	return p
}

func (p pairing) saidOld(which ...int) []string { return gathered(p.oldWords, which) }

func (p pairing) saidNow(which ...int) []string { return gathered(p.nowWords, which) }

func gathered(words map[int][]string, which []int) []string {
	var out []string
	for _, i := range which {
		out = append(out, words[i]...)
	}
	return out
}

// plainNots are contractions without their apostrophes.
var plainNots = wordSet("dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt")

// said gives the words of each of some blocks, without those that are compared
// as things.
func said(blocks []Block, which []int) map[int][]string {
	out := map[int][]string{}
	for _, i := range which {
		rest := blocks[i].Words
		if blocks[i].Form == Row || blocks[i].Form == Heading {
			continue
		}
		_, rest = modals(rest)
		for _, t := range tokens(rest) {
			if !t.word {
				continue
			}
			if verb, contracted := strings.CutSuffix(t.text, "n't"); contracted {
				out[i] = append(out[i], verb, "not")
			} else if plainNots()[t.text] {
				out[i] = append(out[i], strings.TrimSuffix(t.text, "nt"), "not")
			} else {
				out[i] = append(out[i], t.text)
			}
		}
	}
	return out
}

// told lists the things of some blocks. What stands in a row or a heading is
// told with it.
func told(blocks []Block, which []int) []Thing {
	var out []Thing
	for _, i := range which {
		for _, t := range blocks[i].All() {
			switch blocks[i].Form {
			case Row:
				if t.Kind != Tables {
					continue
				}
			case Heading:
				if t.Kind != Headings && t.Kind != Links {
					continue
				}
			}
			out = append(out, t)
		}
	}
	return out
}

// order parts pairs, sorted by the old text, into the longest list that is
// sorted by the new one as well, and the rest: so as few blocks as can be are told
// to have moved. Of (0,2) (1,0) (2,1) (3,3) the first has strayed.
func (p *pairing) order(pairs [][2]int) {
	var ends []int                    // of the list of each length that ends earliest in the new text, the index of its last pair
	before := make([]int, len(pairs)) // of each pair, the one before it in the best list that it ends; -1 for none
	for i, pr := range pairs {
		n := sort.Search(len(ends), func(k int) bool { return pairs[ends[k]][1] > pr[1] })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	kept := make([]bool, len(pairs))
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			kept[i] = true
		}
	}
	for i, pr := range pairs {
		if kept[i] {
			p.anchors = append(p.anchors, pr)
		} else {
			p.strayed = append(p.strayed, pr[1])
		}
	}
}

// A gap is what stands between two anchors, in both texts.
type gap struct {
	old, now []int
	line     int // of the new text
}

func (p pairing) gaps() []gap {
	var out []gap
	for _, g := range p.holes() {
		out = append(out, p.split(g)...)
	}
	return out
}

// alone are the blocks of the old text in whose place there is none of the new one.
func (p pairing) alone() map[int]bool {
	out := map[int]bool{}
	for _, g := range p.holes() {
		for _, i := range g.old {
			out[i] = len(g.now) == 0
		}
	}
	return out
}

// holes are the gaps, also where one text has nothing.
func (p pairing) holes() []gap {
	var out []gap
	olds, nows := p.oldLoose, p.nowLoose
	for _, a := range append(slices.Clone(p.anchors), [2]int{len(p.old), len(p.now)}) {
		var g gap
		for len(olds) > 0 && olds[0] < a[0] {
			g.old, olds = append(g.old, olds[0]), olds[1:]
		}
		for len(nows) > 0 && nows[0] < a[1] {
			g.now, nows = append(g.now, nows[0]), nows[1:]
		}
		out = append(out, g)
	}
	return out
}

// split lays the blocks of a gap together one by one where there are as many
// in both texts.
func (p pairing) split(g gap) []gap {
	if len(g.old) == 0 || len(g.now) == 0 {
		return nil
	}
	if len(g.old) != len(g.now) {
		g.line = p.now[g.now[0]].Line
		return []gap{g}
	}
	var out []gap
	for k := range g.old {
		out = append(out, gap{g.old[k : k+1], g.now[k : k+1], p.now[g.now[k]].Line})
	}
	return out
}
