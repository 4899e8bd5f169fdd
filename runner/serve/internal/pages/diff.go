package pages

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// A comparison is what changed from one text to another.
type comparison struct {
	Hunks   []hunk
	Added   int // lines
	Removed int
	Same    bool
	Cut     bool // the differences are more than are shown
	Skipped bool // the texts are too large to compare
}

// A hunk is changed lines with some of those around them.
type hunk struct {
	From, To int // the number of its first line, before and after
	Lines    []diffLine
}

// A diffLine is a line of a hunk. Pieces are the whole line.
type diffLine struct {
	Kind   string // same, added or removed
	Sign   string
	Old    int // its number before; 0 where it was not there
	New    int
	Pieces []piece
}

// A piece is a part of a line, marked where just it has changed.
type piece struct {
	Text string
	Mark bool
}

// The bounds of a diff. Beyond maxDiffBytes a text is not compared; a line of
// more than maxDiffLine bytes is shown in part, and only shorter ones are
// compared by words.
const (
	maxDiffBytes = 4 << 20
	maxDiffLines = 2000
	maxDiffLine  = 2000
	contextLines = 3
)

// compareTexts finds the lines that differ.
func compareTexts(before, after string) comparison {
	v := comparison{Same: before == after}
	if v.Same {
		return v
	}
	if len(before) > maxDiffBytes || len(after) > maxDiffBytes {
		v.Skipped = true
		return v
	}
	a, b := splitLines(before), splitLines(after)
	d := differ{a: a, b: b, changes: lcs.DiffLines(a, b)}
	for _, c := range d.changes {
		v.Removed += c.End - c.Start
		v.Added += c.ReplEnd - c.ReplStart
	}
	v.Hunks, v.Cut = d.hunks()
	return v
}

// splitLines keeps each line's end, so that a last line without one differs.
func splitLines(text string) []string {
	list := strings.SplitAfter(text, "\n")
	if list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}

type differ struct {
	a, b    []string
	changes []lcs.Diff
}

func (d *differ) hunks() (list []hunk, cut bool) {
	shown, old := 0, 0 // changed lines so far; the line of the first text that comes next
	for i, c := range d.changes {
		if shown > maxDiffLines {
			return list, true
		}
		before := c.Start - old
		if i == 0 || !d.close(i-1) {
			before = min(before, contextLines)
			list = append(list, hunk{From: c.Start - before + 1, To: c.ReplStart - before + 1})
		}
		h := &list[len(list)-1]
		h.Lines = d.same(h.Lines, c.Start-before, c.ReplStart-before, before)
		h.Lines = append(h.Lines, d.changed(c, maxDiffLines)...)
		if old = c.End; !d.close(i) {
			after := min(contextLines, len(d.a)-c.End)
			h.Lines = d.same(h.Lines, c.End, c.ReplEnd, after)
			old += after
		}
		shown += c.End - c.Start + c.ReplEnd - c.ReplStart
	}
	return list, shown > maxDiffLines
}

// close tells whether the change after the i-th belongs to its hunk.
func (d *differ) close(i int) bool {
	return i+1 < len(d.changes) && d.changes[i+1].Start-d.changes[i].End <= 2*contextLines
}

// same adds n lines that did not change.
func (d *differ) same(lines []diffLine, i, j, n int) []diffLine {
	for k := range n {
		lines = append(lines, diffLine{Kind: "same", Sign: " ", Old: i + k + 1, New: j + k + 1, Pieces: []piece{{Text: clipLine(d.a[i+k])}}})
	}
	return lines
}

// changed shows one change: what was removed, then what was added, of each as many
// LinePlot as most. Where as many came as went, the words that differ are marked.
func (d *differ) changed(c lcs.Diff, most int) []diffLine {
	pairs := c.End-c.Start == c.ReplEnd-c.ReplStart
	went, came := d.a[c.Start:min(c.End, c.Start+most)], d.b[c.ReplStart:min(c.ReplEnd, c.ReplStart+most)]
	list := make([]diffLine, 0, len(went)+len(came))
	for i, line := range went {
		list = append(list, diffLine{Kind: "removed", Sign: "−", Old: c.Start + i + 1, Pieces: []piece{{Text: clipLine(line)}}})
	}
	for j, line := range came {
		list = append(list, diffLine{Kind: "added", Sign: "+", New: c.ReplStart + j + 1, Pieces: []piece{{Text: clipLine(line)}}})
	}
	for i := 0; pairs && i < len(went); i++ {
		list[i].Pieces, list[len(went)+i].Pieces = words(went[i], came[i])
	}
	return list
}

// words marks the words that differ between two lines.
func words(before, after string) (old, fresh []piece) {
	if len(before) > maxDiffLine || len(after) > maxDiffLine {
		return []piece{{Text: clipLine(before)}}, []piece{{Text: clipLine(after)}}
	}
	a, b := split(before), split(after)
	i, j := 0, 0
	put := func(list []piece, words []string, mark bool) []piece {
		if text := strings.TrimSuffix(strings.Join(words, ""), "\n"); text != "" {
			list = append(list, piece{text, mark})
		}
		return list
	}
	for _, c := range lcs.DiffLines(a, b) {
		old, fresh = put(old, a[i:c.Start], false), put(fresh, b[j:c.ReplStart], false)
		old, fresh = put(old, a[c.Start:c.End], true), put(fresh, b[c.ReplStart:c.ReplEnd], true)
		i, j = c.End, c.ReplEnd
	}
	return put(old, a[i:], false), put(fresh, b[j:], false)
}

// split takes a line apart into words and what is between them.
func split(s string) []string {
	var list []string
	for start := 0; start < len(s); {
		first, n := utf8.DecodeRuneInString(s[start:])
		end := start + n
		for wordly(first) && end < len(s) {
			r, n := utf8.DecodeRuneInString(s[end:])
			if !wordly(r) {
				break
			}
			end += n
		}
		list = append(list, s[start:end])
		start = end
	}
	return list
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

func clipLine(s string) string {
	s = strings.TrimSuffix(s, "\n")
	if len(s) <= maxDiffLine {
		return s
	}
	end := maxDiffLine
	for end > maxDiffLine-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s … (%d bytes)", s[:end], len(s))
}
