package main

import (
	"unicode/utf8"

	"golang.org/x/text/width"
)

// firstCells returns the beginning of a line that fits into a number of
// terminal cells. A wrapped line could not be erased completely.
func firstCells(line string, room int) string {
	for at, r := range line {
		if room -= cells(r); room < 0 {
			return line[:at]
		}
	}
	return line
}

// lastCells returns the end of a line that fits into a number of terminal
// cells.
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

// cells returns the maximum number of terminal cells of a character. Wide East
// Asian characters and pictures take two.
func cells(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
