package reading

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// sentences finds what became of whole sentences where blocks are written anew: one
// that is gone and nothing has come for it, one that stands twice, one that breaks
// off before the next, one that a condition is gone from. A sentence in other words is
// none of it, nor is one that was parted, or joined to another.
func (p pairing) sentences() []Change {
	var out []Change
	for _, g := range p.gaps() {
		old, now := sentencesIn(p.old, g.old), sentencesIn(p.now, g.now)
		were, are := times(old), times(now)
		for _, d := range lcs.DiffLines(plain(old), plain(now)) {
			gone, come := old[d.Start:d.End], now[d.ReplStart:d.ReplEnd]
			if !slices.ContainsFunc(come, func(s sentence) bool { return s.words() >= minSentence }) {
				for _, s := range gone {
					if n := s.words(); n > minSentence || n == minSentence && len(come) == 0 { // is not may be isn't
						out = append(out, Change{Kind: Passages, Old: s.text, Line: g.line})
					}
				}
				continue
			}
			for _, s := range come {
				if s.words() >= minSentence && are[s.plain] > 1 && (len(gone) == 0 || were[s.plain] < 2) {
					out = append(out, Change{Kind: Passages, Now: s.text, Line: g.line})
				}
			}
			out = append(out, brokenOff(gone, come, g.line)...)
			out = append(out, conditions(gone, come, g.line)...)
			out = append(out, exchanged(gone, come, g.line)...)
		}
	}
	return out
}

// brokenOff finds the sentences of which only the beginning is left: nothing ends
// it, or the next one stands right behind it.
func brokenOff(gone, come []sentence, line int) []Change {
	var out []Change
	for i, s := range gone {
		next := ""
		if i+1 < len(gone) {
			next = " " + gone[i+1].plain
		}
		for _, c := range come {
			begun, joined := strings.CutSuffix(c.plain, next)
			if !joined || begun == s.plain || !strings.HasPrefix(s.plain, begun+" ") {
				continue
			}
			if last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(c.text, "\"'”’»)]*_“ ")); next != "" || !Terminal(last) {
				out = append(out, Change{Kind: Passages, Old: s.text, Now: c.text, Line: line})
			}
		}
	}
	return out
}

// exchanged finds two words of a sentence of which each stands where the other stood:
// from A to B, from B to A.
func exchanged(gone, come []sentence, line int) (out []Change) {
	for i := range min(len(gone), len(come)) {
		was, is := strings.Fields(gone[i].plain), strings.Fields(come[i].plain)
		if len(was) != len(is) {
			continue
		}
		var at []int
		for k := range was {
			if was[k] != is[k] {
				at = append(at, k)
			}
		}
		if len(at) != 2 || was[at[0]] != is[at[1]] || was[at[1]] != is[at[0]] || at[1] == at[0]+1 || listing(was[at[0]+1:at[1]]) {
			continue
		}
		out = append(out, Change{Turns, was[at[0]] + " … " + was[at[1]], is[at[0]] + " … " + is[at[1]], line})
	}
	return out
}

var joins = wordSet("and or nor und oder et ou y o e")

// listing tells whether the words between two others make them elements of a list,
// whose order says nothing.
func listing(between []string) bool {
	return len(between) <= 2 && slices.ContainsFunc(between, func(w string) bool { return joins()[w] })
}

// A sentence is its text, and its words alone.
type sentence struct{ text, plain string }

// minSentence is of how many words a sentence is for one to ask where it is.
const minSentence = 4

// words is how many it has.
func (s sentence) words() int { return strings.Count(s.plain, " ") + 1 }

// sentencesIn are the sentences of some blocks that are of so many words, or of one less.
func sentencesIn(blocks []Block, which []int) []sentence {
	var out []sentence
	for _, i := range which {
		words := blocks[i].Words
		for _, at := range sentencesOf(words, Span{0, len(words)}) {
			s := sentence{at.In(words), plainSentence(at.In(words))}
			if s.words() >= minSentence-1 {
				out = append(out, s)
			}
		}
	}
	return out
}

// times is how often each sentence stands there.
func times(list []sentence) map[string]int {
	out := map[string]int{}
	for _, s := range list {
		out[s.plain]++
	}
	return out
}

func plain(list []sentence) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s.plain
	}
	return out
}

// plainSentence is a sentence's words alone.
func plainSentence(s string) string {
	var b strings.Builder
	for _, t := range tokens(s) {
		if t.word {
			b.WriteString(" " + strings.ToLower(t.text))
		}
	}
	return strings.ReplaceAll(strings.TrimPrefix(b.String(), " "), "’", "'")
}
