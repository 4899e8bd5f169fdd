package faults

import (
	"math/rand/v2"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/reading"
)

var (
	linkPattern    = patterns.Lazy(`\[[^\]\n]+\]\(([^)\s]+)\)`)
	addressPattern = patterns.Lazy(`https?://[^\s<>()"'\]` + "`" + `]+[^\s<>()"'\]` + "`" + `.,;:!?]`)
)

// LinkBroken breaks the form of a link: its target is empty, or its bracket open.
var LinkBroken = Operator{"link_broken", "a link is none any more, or leads nowhere", placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	fences := t.fences()
	for _, at := range linkPattern().FindAllStringSubmatchIndex(t.Content, -1) {
		for len(fences) > 0 && fences[0].To <= at[0] {
			fences = fences[1:]
		}
		line := t.Content[strings.LastIndexByte(t.Content[:at[0]], '\n')+1 : at[0]]
		code := strings.Count(line, "`")%2 == 1
		if !code && (len(fences) == 0 || at[0] < fences[0].From) {
			add(site{at[2], at[3], "", "the link's target is missing", Always}, site{at[3], at[3] + 1, "", "the link is not closed", Always})
		}
	}
})}

// LinkChanged has an address lead elsewhere: always bad where the author was given
// the address, and not what it became.
var LinkChanged = Operator{"link_changed", "an address is another", placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	for _, at := range addressPattern().FindAllStringIndex(t.Content, -1) {
		address := t.Content[at[0]:at[1]]
		host, rest, _ := strings.Cut(address[strings.Index(address, "//")+2:], "/")
		scheme := address[:strings.Index(address, "//")+2]
		for _, is := range []string{scheme + "www-" + host + "/" + rest, address + "-1"} {
			add(site{at[0], at[1], is, became(address, is), sure(t.gave(address) && !t.gave(is))})
		}
	}
})}

// fences are the blocks of code that have an end, by all their lines.
func (t *Text) fences() []reading.Span {
	var out []reading.Span
	at, from, mark := 0, -1, ""
	for line := range strings.SplitAfterSeq(t.Content, "\n") {
		text := strings.TrimSpace(line)
		switch {
		case from < 0 && strings.HasPrefix(text, "```"):
			from, mark = at, text[:len(text)-len(strings.TrimLeft(text, "`"))]
		case from >= 0 && strings.HasPrefix(text, mark) && strings.Trim(text, "`") == "":
			out, from = append(out, reading.Span{From: from, To: at + len(line)}), -1
		}
		at += len(line)
	}
	return out
}

// FenceOpen leaves the end of a block of code out.
var FenceOpen = Operator{"fence_open", "a block of code is not closed", placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	for _, f := range t.fences() {
		end := f.From + len(strings.TrimRight(strings.TrimRight(f.In(t.Content), " \t\r\n"), "`"))
		add(site{end, f.To, "", "the fence is not closed", sure(t.Value == nil)})
	}
})}

// HeadingSkipped has a heading two levels deeper than it was.
var HeadingSkipped = Operator{"heading_skipped", "a heading is two levels deeper than the one before", placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	level := 0
	t.lines(func(from int, line string) {
		marks := len(line) - len(strings.TrimLeft(line, "#"))
		if marks == 0 || marks > 4 || !strings.HasPrefix(line[marks:], " ") {
			return
		}
		if level > 0 && marks > level-1 {
			add(site{from, from, "##", "the heading is two levels deeper", Usually})
		}
		level = marks
	})
})}

// CellLost takes a cell out of a table's row.
var CellLost = Operator{"cell_lost", "a row of a table has a cell less than the others", placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	ruled := false
	t.lines(func(from int, line string) {
		row := strings.TrimRight(line, " \r\n")
		switch {
		case !strings.HasPrefix(row, "|") || !strings.HasSuffix(row, "|") || strings.Contains(row, "\\|"):
			ruled = false
		case strings.Trim(row, "|-: ") == "":
			ruled = true
		case ruled && strings.Count(row, "|") > 2:
			last := strings.LastIndexByte(row[:len(row)-1], '|')
			lost := strings.TrimSpace(row[last+1 : len(row)-1])
			add(site{from + last, from + len(row) - 1, "", "the row has a cell less", sure(lost != "")}) // an empty one is there without its sign
		}
	})
})}

// lines visits the lines outside of code.
func (t *Text) lines(visit func(from int, line string)) {
	at := 0
	fences := t.fences()
	for line := range strings.SplitAfterSeq(t.Content, "\n") {
		for len(fences) > 0 && fences[0].To <= at {
			fences = fences[1:]
		}
		if len(fences) == 0 || at < fences[0].From {
			visit(at, line)
		}
		at += len(line)
	}
}
