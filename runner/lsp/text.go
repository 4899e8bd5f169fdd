package lsp

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

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

// column is the character of a line at a place of the protocol.
func column(text string, at protocol.Position) int {
	line := lineOf(text, int(at.Line))
	units, count := 0, 0
	for _, r := range line {
		if units >= int(at.Character) {
			break
		}
		units, count = units+max(utf16.RuneLen(r), 1), count+1
	}
	return count
}

// lineOf is a line of a text, from 0; "" behind its end.
func lineOf(text string, line int) string {
	for range line {
		next := strings.IndexByte(text, '\n')
		if next < 0 {
			return ""
		}
		text = text[next+1:]
	}
	text, _, _ = strings.Cut(text, "\n")
	return strings.TrimSuffix(text, "\r")
}

// rangeOf is a part of a line of a text, from 0, in the protocol's words.
func rangeOf(text string, line, start, end int) protocol.Range {
	of := lineOf(text, line)
	place := func(column int) protocol.Position {
		units := 0
		for _, r := range of {
			if column--; column < 0 {
				break
			}
			units += max(utf16.RuneLen(r), 1)
		}
		return protocol.Position{Line: uint32(line), Character: uint32(units)}
	}
	return protocol.Range{Start: place(start), End: place(end)}
}

// wordEnd is where a word ends that begins at a character of a line; there is
// always one character at least.
func wordEnd(text string, line, start int) int {
	of := []rune(lineOf(text, line))
	end := start
	for end < len(of) && !strings.ContainsRune(" \t,]}\"'", of[end]) {
		end++
	}
	return max(end, min(start+1, max(utf8.RuneCountInString(lineOf(text, line)), start+1)))
}
