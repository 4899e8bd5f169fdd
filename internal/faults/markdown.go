package faults

import (
	"math/rand/v2"
	"strings"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reading"
)

var addressPattern = patterns.Lazy(`https?://[^\s<>()"'\]` + "`" + `]+[^\s<>()"'\]` + "`" + `.,;:!?]`)

// LinkBroken breaks the syntax of a link: its target is empty, or its bracket
// stays open.
var LinkBroken = Operator{"link_broken", "a link is none any more, or leads nowhere", placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	if t.document == nil {
		return
	}
	for _, l := range t.document.Links {
		end := l.End - len(")")
		start := strings.LastIndex(l.In(t.Content), "](")
		if l.HTML || l.Bare || l.Image || start < 0 || t.Content[end] != ')' {
			continue
		}
		start += l.Start + len("](")
		add(site{start, end, "", "the link's target is missing", Always}, site{end, l.End, "", "the link is not closed", Always})
	}
})}

// LinkChanged changes an address. The fault is always bad if the sources
// contain the old address and not the new one.
var LinkChanged = Operator{"link_changed", "an address is another", placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	for _, at := range addressPattern().FindAllStringIndex(t.Content, -1) {
		address := t.Content[at[0]:at[1]]
		host, rest, _ := strings.Cut(address[strings.Index(address, "//")+2:], "/")
		scheme := address[:strings.Index(address, "//")+2]
		for _, is := range []string{scheme + "www-" + host + "/" + rest, address + "-1"} {
			add(site{at[0], at[1], is, became(address, is), alwaysIf(t.wasGiven(address) && !t.wasGiven(is))})
		}
	}
})}

// FenceOpen removes the end of a code block.
var FenceOpen = Operator{"fence_open", "a block of code is not closed", placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	t.blocks(func(b reading.Block) {
		if b.Fenced && b.Closed {
			end := b.Start + len(strings.TrimRight(b.In(t.Content), "`~"))
			line, _, _ := strings.Cut(t.Content[b.End:], "\n")
			add(site{end, min(b.End+len(line)+1, len(t.Content)), "", "the fence is not closed", alwaysIf(t.Value == nil)})
		}
	})
})}

// HeadingSkipped moves a heading two levels down.
var HeadingSkipped = Operator{"heading_skipped", "a heading is two levels deeper than the one before", placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	level := 0
	t.blocks(func(b reading.Block) {
		if b.Kind != reading.HeadingBlock || t.Content[b.Start] != '#' {
			return
		}
		if level > 0 && b.Level > level-1 && b.Level <= 4 {
			add(site{b.Start, b.Start, "##", "the heading is two levels deeper", Usually})
		}
		level = b.Level
	})
})}

// CellLost removes a cell from a row of a table.
var CellLost = Operator{"cell_lost", "a row of a table has a cell less than the others", placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	t.blocks(func(b reading.Block) {
		row := b.In(t.Content)
		if b.Kind != reading.RowBlock || b.Level == 0 || !strings.HasSuffix(row, "|") || strings.Contains(row, "\\|") || strings.Count(row, "|") < 3 {
			return
		}
		last := strings.LastIndexByte(row[:len(row)-1], '|')
		lost := strings.TrimSpace(row[last+1 : len(row)-1])
		add(site{b.Start + last, b.Start + len(row) - 1, "", "the row has a cell less", alwaysIf(lost != "")}) // an empty cell is visible without its separator
	})
})}

// blocks calls visit for the blocks of the text.
func (t *Text) blocks(visit func(reading.Block)) {
	if t.document == nil {
		return
	}
	for _, b := range t.document.Blocks {
		visit(b)
	}
}
