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
var LinkBroken = Operator{"link_broken", "a link is none any more, or leads nowhere", func(t *Text, rng *rand.Rand) []Fault {
	var sites []site
	fences := t.fences()
	for _, at := range linkPattern().FindAllStringSubmatchIndex(t.Content, -1) {
		for len(fences) > 0 && fences[0].To <= at[0] {
			fences = fences[1:]
		}
		if len(fences) == 0 || at[0] < fences[0].From {
			sites = append(sites, site{at[2], at[3], "", "the link's target is missing", Always}, site{at[3], at[3] + 1, "", "the link is not closed", Always})
		}
	}
	return t.plant(rng, sites)
}}

// LinkChanged has an address lead elsewhere: always bad where the author was given
// the address.
var LinkChanged = Operator{"link_changed", "an address is another", func(t *Text, rng *rand.Rand) []Fault {
	var sites []site
	for _, at := range addressPattern().FindAllStringIndex(t.Content, -1) {
		address := t.Content[at[0]:at[1]]
		host, rest, _ := strings.Cut(address[strings.Index(address, "//")+2:], "/")
		scheme := address[:strings.Index(address, "//")+2]
		for _, is := range []string{scheme + "www-" + host + "/" + rest, address + "-1"} {
			sites = append(sites, site{at[0], at[1], is, became(address, is), sure(t.gave(address))})
		}
	}
	return t.plant(rng, sites)
}}

// fences are the blocks of code that have an end, by all their lines.
func (t *Text) fences() []reading.Span {
	var out []reading.Span
	at, from := 0, -1
	for line := range strings.SplitAfterSeq(t.Content, "\n") {
		text := strings.TrimSpace(line)
		switch {
		case from < 0 && strings.HasPrefix(text, "```"):
			from = at
		case from >= 0 && text == "```":
			out, from = append(out, reading.Span{From: from, To: at + len(line)}), -1
		}
		at += len(line)
	}
	return out
}

// FenceOpen leaves the end of a block of code out.
var FenceOpen = Operator{"fence_open", "a block of code is not closed", func(t *Text, rng *rand.Rand) []Fault {
	var sites []site
	for _, f := range t.fences() {
		end := strings.LastIndex(f.In(t.Content), "```") + f.From
		sites = append(sites, site{end, f.To, "", "the fence is not closed", sure(t.Value == nil)})
	}
	return t.plant(rng, sites)
}}

// HeadingSkipped has a heading two levels deeper than it was.
var HeadingSkipped = Operator{"heading_skipped", "a heading is two levels deeper than the one before", func(t *Text, rng *rand.Rand) []Fault {
	var sites []site
	level := 0
	t.lines(func(from int, line string) {
		marks := len(line) - len(strings.TrimLeft(line, "#"))
		if marks == 0 || marks > 4 || !strings.HasPrefix(line[marks:], " ") {
			return
		}
		if level > 0 && marks > level-1 {
			sites = append(sites, site{from, from, "##", "the heading is two levels deeper", Usually})
		}
		level = marks
	})
	return t.plant(rng, sites)
}}

// CellLost takes a cell out of a table's row.
var CellLost = Operator{"cell_lost", "a row of a table has a cell less than the others", func(t *Text, rng *rand.Rand) []Fault {
	var sites []site
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
			sites = append(sites, site{from + last, from + len(row) - 1, "", "the row has a cell less", Always})
		}
	})
	return t.plant(rng, sites)
}}

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
