package lsp

import (
	"slices"
	"strings"
	"unicode/utf16"

	"go.lsp.dev/protocol"
)

// The protocol counts columns in UTF-16 units. Capstan counts them in
// characters.

// offset returns the byte offset of a position.
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

// A page converts ranges of a text. It caches the characters of the line that
// was used last, so many ranges of a long line take no longer than reading the
// line once.
type page struct {
	lines []string
	at    int      // the line
	runes []rune   // of the line
	units []uint32 // the UTF-16 column of each character, and the length of the line
}

func newPage(text string) *page { return &page{lines: strings.Split(text, "\n"), at: -1} }

// turn reads a line, from 0. A line after the end of the text is empty.
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

// column returns the column of a position, from 0, in characters.
func (p *page) column(at protocol.Position) int {
	p.turn(int(at.Line))
	n, _ := slices.BinarySearch(p.units[:len(p.runes)], at.Character)
	return n
}

// rangeOf returns a part of a line as a range of the protocol. The line and the
// columns count from 0.
func (p *page) rangeOf(line, start, end int) protocol.Range {
	p.turn(line)
	place := func(column int) protocol.Position {
		return protocol.Position{Line: uint32(line), Character: p.units[min(max(column, 0), len(p.units)-1)]}
	}
	return protocol.Range{Start: place(start), End: place(end)}
}

// length returns the number of characters of a line, from 0.
func (p *page) length(line int) int {
	p.turn(line)
	return len(p.runes)
}
