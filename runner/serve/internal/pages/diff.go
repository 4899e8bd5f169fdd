package pages

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"

	"github.com/seed61713e19/capstan/internal/clips"
)

// A comparison is the difference between two texts.
type comparison struct {
	Hunks   []hunk
	Added   int // lines
	Removed int
	Same    bool
	Cut     bool // more differences are not shown
	Skipped bool // the texts are too large
}

// A hunk is a group of changed lines with the lines around them.
type hunk struct {
	From, To int // the number of its first line, before and after
	Lines    []diffLine
}

// A diffLine is a line of a hunk. Its pieces form the whole line.
type diffLine struct {
	Kind   string // same, added or removed
	Sign   string
	Old    int // its number in the first text; 0 if it is not there
	New    int
	Pieces []piece
}

// A piece is a part of a line. Mark is set if only parts of the line changed, and this is one.
type piece struct {
	Text string
	Mark bool
}

// The limits of a comparison. Texts over maxDiffBytes are not compared. Lines over maxDiffLine
// are cut, and not compared by words.
const (
	maxDiffBytes = 4 << 20
	maxDiffLines = 2000
	maxDiffLine  = 2000
	contextLines = 3
)

// compareTexts returns the lines that differ.
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

// splitLines returns the lines with their ends.
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
	shown, old := 0, 0 // changed lines so far; the next line of the first text
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

// close reports whether the change after the i-th belongs to its hunk.
func (d *differ) close(i int) bool {
	return i+1 < len(d.changes) && d.changes[i+1].Start-d.changes[i].End <= 2*contextLines
}

// same appends n unchanged lines.
func (d *differ) same(lines []diffLine, i, j, n int) []diffLine {
	for k := range n {
		lines = append(lines, diffLine{Kind: "same", Sign: " ", Old: i + k + 1, New: j + k + 1, Pieces: []piece{{Text: clipped(d.a[i+k])}}})
	}
	return lines
}

// changed returns the removed lines of a change, then the added lines, up to a limit of
// each. If their numbers are equal, it marks the words that differ.
func (d *differ) changed(c lcs.Diff, most int) []diffLine {
	pairs := c.End-c.Start == c.ReplEnd-c.ReplStart
	removed, added := d.a[c.Start:min(c.End, c.Start+most)], d.b[c.ReplStart:min(c.ReplEnd, c.ReplStart+most)]
	list := make([]diffLine, 0, len(removed)+len(added))
	for i, line := range removed {
		list = append(list, diffLine{Kind: "removed", Sign: "−", Old: c.Start + i + 1, Pieces: []piece{{Text: clipped(line)}}})
	}
	for j, line := range added {
		list = append(list, diffLine{Kind: "added", Sign: "+", New: c.ReplStart + j + 1, Pieces: []piece{{Text: clipped(line)}}})
	}
	for i := 0; pairs && i < len(removed); i++ {
		list[i].Pieces, list[len(removed)+i].Pieces = words(removed[i], added[i])
	}
	return list
}

// words marks the words that differ between two lines.
func words(before, after string) (old, fresh []piece) {
	if len(before) > maxDiffLine || len(after) > maxDiffLine {
		return []piece{{Text: clipped(before)}}, []piece{{Text: clipped(after)}}
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

// split returns the words of a line and the characters between them.
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

func clipped(line string) string { return clips.Sized(strings.TrimSuffix(line, "\n"), maxDiffLine) }
