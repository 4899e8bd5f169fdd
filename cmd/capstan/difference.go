package main

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/textdiff"
)

// maxDifference is the maximum number of lines that [difference] returns.
const maxDifference = 60

// difference returns the change of a file since a run as a unified diff.
func difference(name string, was, now []byte) string {
	return name + " changed:\n" + firstLines(textdiff.Unified(name+" as the run had it", name+" now", string(was), string(now)), maxDifference)
}

// firstLines returns the first lines of a text, and the number of the others.
func firstLines(text string, limit int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if more := len(lines) - limit; more > 0 {
		lines = append(lines[:limit], fmt.Sprintf("… %d more lines", more))
	}
	return strings.Join(lines, "\n")
}
