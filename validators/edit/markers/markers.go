// Package markers finds what marks a gap in a text: where an author says that
// something is missing.
//
// In comes the mark_format of a gap policy, "[GAP: <what is missing>]", and a text
// before and after an edit; out go the markers that the edit brought, those that
// keep to the format and those that do not: the word in small letters, its letters
// apart, other brackets, TODO instead. What the text had before is no news, and
// what stands in a block of code is shown, not said. Begin reading at [Parse] and
// [Format.New]; nothing here decides what a marker means for the edit.
package markers

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// New finds the gap markers of a candidate that the source does not have, each
// in one line: those that keep to the format, and those that do not.
func (m Format) New(source, candidate string) (good, bad []string) {
	olds, news := differing(uncoded(source), uncoded(candidate))
	known := map[string]int{}
	g, b := m.markers(olds)
	for _, s := range append(g, b...) {
		known[s]++
	}
	unknown := func(list []string) []string {
		var out []string
		for _, s := range list {
			if known[s]--; known[s] < 0 {
				out = append(out, s)
			}
		}
		return out
	}
	g, b = m.markers(news)
	return unknown(g), unknown(b)
}

// differing are the paragraphs of two texts without those that both have, as often as
// both have them: of a, b, c and c, a, d they are b and d. Most of an edited text has
// not changed, and is not looked through.
func differing(old, now string) (olds, news []string) {
	times := map[string]int{}
	for p := range strings.SplitSeq(old, "\n\n") {
		times[p]++
	}
	for p := range strings.SplitSeq(now, "\n\n") {
		if times[p] > 0 {
			times[p]--
		} else {
			news = append(news, p)
		}
	}
	for p := range strings.SplitSeq(old, "\n\n") {
		if times[p] > 0 {
			times[p]--
			olds = append(olds, p)
		}
	}
	return olds, news
}

// markers lists the markers of paragraphs, each in one line. A marker is within
// a paragraph, and not in a code block: what stands there is shown, not said.
func (m Format) markers(paragraphs []string) (good, bad []string) {
	for _, paragraph := range paragraphs {
		// Most have none, and looking for a mark is far cheaper than matching.
		if lower := strings.ToLower(paragraph); strings.Contains(lower, m.word) || suspect(lower) {
			g, b := m.within(paragraph)
			good, bad = append(good, g...), append(bad, b...)
		}
	}
	return good, bad
}

// uncoded is a text with its fenced code blocks empty. One that nobody closes is
// text: whoever opens one does not hide the markers of all that follows.
func uncoded(text string) string {
	lines := strings.Split(text, "\n")
	open, mark := 0, ""
	for i, line := range lines {
		found := codeFence().FindStringSubmatch(line)
		switch {
		case found == nil:
		case mark == "" && (found[1][0] == '~' || !strings.Contains(found[2], "`")):
			open, mark = i, found[1]
		case mark != "" && strings.HasPrefix(found[1], mark) && strings.TrimSpace(found[2]) == "":
			clear(lines[open : i+1])
			mark = ""
		}
	}
	return strings.Join(lines, "\n")
}

var codeFence = patterns.Lazy("^[ \\t]*(`{3,}|~{3,})(.*)$")

// within finds the markers of a paragraph: of "a [GAP: x] b [GAP y]", the first keeps
// to the format [GAP: <what>], the second does not. What looks like a marker within a
// good one, or within a bad one before it, is none of its own.
func (m Format) within(paragraph string) (good, bad []string) {
	var held [][]int
	if m.good != nil {
		held = m.good.FindAllStringIndex(paragraph, -1)
	}
	for _, loc := range held {
		good = append(good, oneLine(paragraph[loc[0]:loc[1]]))
	}
	seen := 0
	for _, loc := range m.suspects(paragraph) {
		for len(held) > 0 && held[0][1] <= loc[0] {
			held = held[1:]
		}
		if loc[0] >= seen && (len(held) == 0 || held[0][0] >= loc[1]) {
			bad = append(bad, oneLine(aboutOne(paragraph[loc[0]:])))
			seen = loc[1]
		}
	}
	return good, bad
}

// suspects are the places of what may be meant as a marker, in their order.
func (m Format) suspects(paragraph string) [][]int {
	all := m.like().FindAllStringIndex(paragraph, -1)
	for _, loc := range m.hidden().FindAllStringIndex(paragraph, -1) {
		if !titled(paragraph, loc) {
			all = append(all, loc)
		}
	}
	all = append(all, evasions().FindAllStringIndex(paragraph, -1)...)
	slices.SortFunc(all, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return all
}

// titled tells whether what looks like a marker is the words of a link, or an
// aside in round brackets that goes on behind the word: a gap in a fence.
func titled(paragraph string, loc []int) bool {
	opened := strings.TrimLeft(paragraph[loc[0]:], " \t\n")
	switch opened[0] {
	case '[':
		end := strings.IndexByte(opened, ']')
		return end >= 0 && end+1 < len(opened) && (opened[end+1] == '(' || opened[end+1] == '[')
	case '(':
		return !strings.HasSuffix(strings.TrimSpace(paragraph[loc[0]:loc[1]]), ")")
	}
	return false
}

// aboutOne cuts a text behind the marker that it begins with, one that keeps
// to no format: at what closes a bracket, or at the end of the line.
func aboutOne(s string) string {
	s = strings.TrimLeft(s[:min(len(s), 200)], " \t\n")
	ends := "\n"
	if s != "" && strings.ContainsAny(s[:1], "[({<") {
		ends = "])}>"
	}
	if i := strings.IndexAny(s, ends); i >= 0 {
		s = s[:i+1]
	}
	return strings.ToValidUTF8(s, "")
}

// oneLine is a marker however it was broken into lines.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
