package main

import (
	"unicode/utf8"

	"golang.org/x/text/width"
)

// firstCells is as much of a line as a terminal has room for in so many cells: one
// that wraps is not erased whole.
func firstCells(line string, room int) string {
	for at, r := range line {
		if room -= cells(r); room < 0 {
			return line[:at]
		}
	}
	return line
}

// lastCells is as much of the end of a line.
func lastCells(line string, room int) string {
	at := len(line)
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(line[:at])
		if room -= cells(r); room < 0 {
			break
		}
		at -= size
	}
	return line[at:]
}

func cellsOf(line string) (n int) {
	for _, r := range line {
		n += cells(r)
	}
	return n
}

// cells is how many cells of a terminal a character takes at most: those of East
// Asia, and pictures, take two.
func cells(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
