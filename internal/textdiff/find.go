package textdiff

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/reading"
)

// A Match is how a span occurs in a text.
type Match string

// The matches, from none to letter by letter.
const (
	NoMatch     Match = "absent"
	FoldedMatch Match = "folded" // in another letter case, white space or quotation marks
	ExactMatch  Match = "exact"
)

// A Finder locates quotations in a text. Make one with [NewFinder].
type Finder struct {
	text    string
	folded  string
	offsets []int // of the bytes of folded in text
}

// NewFinder returns a finder for a text.
func NewFinder(text string) *Finder { return &Finder{text: text} }

// Find returns the place of a quotation and how it occurs, "" for an empty one. A
// quotation may leave something out, "the verifier … decides"; its pieces then follow
// each other.
func (f *Finder) Find(quotation string) (reading.Span, Match) {
	var pieces []string
	for p := range strings.SplitSeq(strings.ReplaceAll(quotation, "...", "…"), "…") {
		if p = strings.TrimSpace(p); p != "" {
			pieces = append(pieces, p)
		}
	}
	if len(pieces) == 0 {
		return reading.Span{}, ""
	}
	if s, ok := inOrder(f.text, pieces); ok {
		return s, ExactMatch
	}
	if f.offsets == nil {
		f.folded, f.offsets = folded(f.text)
	}
	for i, p := range pieces {
		p, _ = folded(p)
		pieces[i] = strings.TrimSpace(p)
	}
	s, ok := inOrder(f.folded, pieces)
	if !ok {
		return reading.Span{}, NoMatch
	}
	_, size := utf8.DecodeRuneInString(f.text[f.offsets[s.End-1]:])
	return reading.Span{Start: f.offsets[s.Start], End: f.offsets[s.End-1] + size}, FoldedMatch
}

func inOrder(text string, pieces []string) (reading.Span, bool) {
	var s reading.Span
	for n, p := range pieces {
		i := strings.Index(text[s.End:], p)
		if i < 0 || p == "" {
			return s, false
		}
		if n == 0 {
			s.Start = i
		}
		s.End += i + len(p)
	}
	return s, true
}

// folded returns a text in small letters, with single blanks and straight quotation
// marks, and the offset of each of its bytes in the text.
func folded(s string) (string, []int) {
	out, offsets := make([]byte, 0, len(s)), make([]int, 0, len(s))
	for i, r := range s {
		n := len(out)
		if r >= 0x80 {
			r = cmp.Or(straight[r], r)
		}
		if !unicode.IsSpace(r) {
			out = utf8.AppendRune(out, unicode.ToLower(r))
		} else if n == 0 || out[n-1] != ' ' {
			out = append(out, ' ')
		}
		for range len(out) - n {
			offsets = append(offsets, i)
		}
	}
	return string(out), offsets
}
