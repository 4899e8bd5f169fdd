package lsp

import (
	"slices"
	"strings"
	"unicode/utf16"

	"go.lsp.dev/protocol"
)

// The protocol counts a line in UTF-16, the language in characters.

// offset is the byte of a text at a place of the protocol.
func offset(text string, at protocol.Position) int {
	start := 0
	for range at.Line {
		next := strings.IndexByte(text[start:], '\n')
		if next < 0 {
			return len(text)
		}
		start += next + 1
	}
	units := 0
	for i, r := range text[start:] {
		if units >= int(at.Character) || r == '\n' {
			return start + i
		}
		units += utf16.RuneLen(r)
	}
	return len(text)
}

// A page is a text in which ranges are found. It keeps where the characters of the
// line looked at last are, so that many ranges of a long text, or of a long line, cost
// no more than reading it.
type page struct {
	lines []string
	at    int      // the line
	runes []rune   // its characters
	units []uint32 // where each begins in the protocol's words, and where the last ends
}

func newPage(text string) *page { return &page{lines: strings.Split(text, "\n"), at: -1} }

// turn looks at a line, from 0; one behind the end is empty.
func (p *page) turn(line int) {
	if line == p.at && p.units != nil {
		return
	}
	text, units := "", uint32(0)
	if line >= 0 && line < len(p.lines) {
		text = strings.TrimSuffix(p.lines[line], "\r")
	}
	p.at, p.runes, p.units = line, p.runes[:0], p.units[:0]
	for _, r := range text {
		p.runes, p.units = append(p.runes, r), append(p.units, units)
		units += uint32(max(utf16.RuneLen(r), 1))
	}
	p.units = append(p.units, units)
}

// column is the character of a line at a place of the protocol.
func (p *page) column(at protocol.Position) int {
	p.turn(int(at.Line))
	n, _ := slices.BinarySearch(p.units[:len(p.runes)], at.Character)
	return n
}

// rangeOf is a part of a line, from 0, in the protocol's words.
func (p *page) rangeOf(line, start, end int) protocol.Range {
	p.turn(line)
	place := func(column int) protocol.Position {
		return protocol.Position{Line: uint32(line), Character: p.units[min(max(column, 0), len(p.units)-1)]}
	}
	return protocol.Range{Start: place(start), End: place(end)}
}

// wordEnd is where a word ends that begins at a character of a line; there is
// always one character at least.
func (p *page) wordEnd(line, start int) int {
	p.turn(line)
	end := max(start, 0)
	for end < len(p.runes) && !strings.ContainsRune(" \t,]}\"'", p.runes[end]) {
		end++
	}
	return max(end, start+1)
}
