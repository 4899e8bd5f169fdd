package reading

import (
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// sentences finds what became of whole sentences where blocks are written anew: one
// that is gone and nothing has come for it, one that stands twice, one that breaks
// off before the next. A sentence in other words is none of it, nor is one that was
// parted, or joined to another.
func (p pairing) sentences() []Change {
	var out []Change
	for _, g := range p.gaps() {
		old, now := sentencesIn(p.old, g.old), sentencesIn(p.now, g.now)
		for _, d := range lcs.DiffLines(plainSentences(old), plainSentences(now)) {
			gone, come := old[d.Start:d.End], now[d.ReplStart:d.ReplEnd]
			switch {
			case len(come) == 0:
				for _, s := range gone {
					out = append(out, Change{Kind: Passages, Old: s, Line: g.line})
				}
			case len(gone) == 0:
				for _, s := range come {
					if again(plainSentence(s), now) {
						out = append(out, Change{Kind: Passages, Now: s, Line: g.line})
					}
				}
			default:
				for _, s := range come {
					if again(plainSentence(s), now) && !again(plainSentence(s), old) {
						out = append(out, Change{Kind: Passages, Now: s, Line: g.line})
					}
				}
				out = append(out, brokenOff(gone, come, g.line)...)
			}
		}
	}
	return out
}

// again tells whether a sentence stands twice or more.
func again(plain string, in []string) bool {
	n := 0
	for _, s := range in {
		if plainSentence(s) == plain {
			n++
		}
	}
	return n > 1
}

// brokenOff finds the sentences of which only the beginning is left: nothing ends
// it, or the next one stands right behind it.
func brokenOff(gone, come []string, line int) []Change {
	var out []Change
	for i, s := range gone {
		was, next := plainSentence(s), ""
		if i+1 < len(gone) {
			next = " " + plainSentence(gone[i+1])
		}
		for _, c := range come {
			begun, joined := strings.CutSuffix(plainSentence(c), next)
			last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(c, "\"'”’»)]*_“ "))
			if joined && (next != "" || !Terminal(last)) && begun != was && strings.HasPrefix(was, begun+" ") {
				out = append(out, Change{Kind: Passages, Old: s, Now: c, Line: line})
			}
		}
	}
	return out
}

// minSentence is of how many words a sentence is for one to ask where it is.
const minSentence = 4

// sentencesIn are the sentences of some blocks.
func sentencesIn(blocks []Block, which []int) []string {
	var out []string
	for _, i := range which {
		words := blocks[i].Words
		for _, s := range sentencesOf(words, Span{0, len(words)}) {
			if text := s.In(words); strings.Count(plainSentence(text), " ")+1 >= minSentence {
				out = append(out, text)
			}
		}
	}
	return out
}

func plainSentences(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = plainSentence(s)
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
