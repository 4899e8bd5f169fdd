package faults

import (
	"math/rand/v2"
	"strings"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/validators/patterns"
)

var addressPattern = patterns.Lazy(`https?://[^\s<>()"'\]` + "`" + `]+[^\s<>()"'\]` + "`" + `.,;:!?]`)

// LinkBroken breaks the form of a link: its target is empty, or its bracket open.
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

// FenceOpen leaves the end of a block of code out.
var FenceOpen = Operator{"fence_open", "a block of code is not closed", placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	t.blocks(func(b reading.Block) {
		if b.Fenced && b.Closed {
			end := b.Start + len(strings.TrimRight(b.In(t.Content), "`~"))
			line, _, _ := strings.Cut(t.Content[b.End:], "\n")
			add(site{end, min(b.End+len(line)+1, len(t.Content)), "", "the fence is not closed", sure(t.Value == nil)})
		}
	})
})}

// HeadingSkipped has a heading two levels deeper than it was.
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

// CellLost takes a cell out of a table's row.
var CellLost = Operator{"cell_lost", "a row of a table has a cell less than the others", placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	t.blocks(func(b reading.Block) {
		row := b.In(t.Content)
		if b.Kind != reading.RowBlock || b.Level == 0 || !strings.HasSuffix(row, "|") || strings.Contains(row, "\\|") || strings.Count(row, "|") < 3 {
			return
		}
		last := strings.LastIndexByte(row[:len(row)-1], '|')
		lost := strings.TrimSpace(row[last+1 : len(row)-1])
		add(site{b.Start + last, b.Start + len(row) - 1, "", "the row has a cell less", sure(lost != "")}) // an empty one is there without its sign
	})
})}

// blocks visits the blocks of the text.
func (t *Text) blocks(visit func(reading.Block)) {
	if t.document == nil {
		return
	}
	for _, b := range t.document.Blocks {
		visit(b)
	}
}
