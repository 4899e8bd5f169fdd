package modelmarkup

import (
	"sort"
	"strings"
)

// A region is a part of a text. Regions are searched with other rules, or not at all.
type region struct{ start, end int }

// within reports whether one of the regions, which are in order, contains a byte.
func within(list []region, at int) bool {
	i := sort.Search(len(list), func(i int) bool { return list[i].end > at })
	return i < len(list) && list[i].start <= at
}

// A fenceLine is a line that can begin or end a fenced block.
type fenceLine struct {
	start, end int // with its line end
	sign       byte
	length     int
	bare       bool // it can end a block
}

// codeIn lists the fenced blocks of a text, and the inline code of the paragraphs that contain
// marks. A fence without a closing fence begins no block.
//
// Package reading cannot replace it. In CommonMark, a line with only a tag such as <think> begins
// an HTML block, which hides its fences. An open fence contains the rest of the text. The text of
// a stream has no end yet, so this function ignores an open fence.
func codeIn(text string, marks []mark) []region {
	fences := fenceLines(text)
	closing := closingLines(fences)
	var found []region
	at := 0 // the text before this position is done
	for i := 0; i < len(fences); i++ {
		if closing[i] < 0 {
			continue
		}
		found = append(found, inlineCode(text, region{at, fences[i].start}, marks)...)
		end := fences[closing[i]].end
		found = append(found, region{fences[i].start, end})
		at, i = end, closing[i]
	}
	return append(found, inlineCode(text, region{at, len(text)}, marks)...)
}

func fenceLines(text string) []fenceLine {
	var found []fenceLine
	at := 0
	for line := range strings.Lines(text) {
		start := at
		at += len(line)
		line = strings.TrimLeft(line, " \t")
		if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
			continue
		}
		rest := strings.TrimLeft(line, line[:1])
		if line[0] == '`' && strings.Contains(rest, "`") {
			continue
		}
		found = append(found, fenceLine{start, at, line[0], len(line) - len(rest), strings.TrimSpace(rest) == ""})
	}
	return found
}

// closingLines returns, for each line that begins a block, the index of the line that ends it, or
// -1. This is the next bare line with the same sign that is not shorter.
func closingLines(lines []fenceLine) []int {
	closing := make([]int, len(lines))
	ahead := map[byte][]int{} // bare lines, the nearest and shortest last
	for i := len(lines) - 1; i >= 0; i-- {
		l := lines[i]
		list := ahead[l.sign]
		k := sort.Search(len(list), func(k int) bool { return lines[list[k]].length < l.length })
		closing[i] = -1
		if k > 0 {
			closing[i] = list[k-1]
		}
		if l.bare {
			for len(list) > 0 && lines[list[len(list)-1]].length <= l.length {
				list = list[:len(list)-1]
			}
			ahead[l.sign] = append(list, i)
		}
	}
	return closing
}

// inlineCode lists the code spans of those paragraphs of a region that contain marks.
func inlineCode(text string, in region, marks []mark) []region {
	var found []region
	for in.start < in.end {
		i := sort.Search(len(marks), func(i int) bool { return marks[i].start >= in.start })
		if i == len(marks) || marks[i].start >= in.end {
			return found
		}
		at := marks[i].start
		begin, end := in.start, in.end
		if n := strings.LastIndex(text[begin:at], "\n\n"); n >= 0 {
			begin += n
		}
		if n := strings.Index(text[at:end], "\n\n"); n >= 0 {
			end = at + n + 1
		}
		found = append(found, spansIn(text, region{begin, end})...)
		in.start = end
	}
	return found
}

// spansIn lists the code spans of a paragraph. A span is the text between two runs of equally
// many backticks.
func spansIn(text string, in region) []region {
	var runs []region
	for at := in.start; at < in.end; {
		n := strings.IndexByte(text[at:in.end], '`')
		if n < 0 {
			break
		}
		start := at + n
		at = start + 1
		for at < in.end && text[at] == '`' {
			at++
		}
		runs = append(runs, region{start, at})
	}
	closing, ahead := make([]int, len(runs)), map[int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		n := runs[i].end - runs[i].start
		closing[i] = ahead[n] // 0 means none, and closes nothing
		ahead[n] = i
	}
	var found []region
	for i := 0; i < len(runs); i++ {
		if k := closing[i]; k > i {
			found = append(found, region{runs[i].start, runs[k].end})
			i = k
		}
	}
	return found
}
