package main

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// maxDiffed bounds the texts that are compared line by line, and maxDifference
// the lines of it that are shown.
const (
	maxDiffed     = 1 << 20
	maxDifference = 60
)

// difference tells how a file changed, as a unified diff.
func difference(name string, was, now []byte) string {
	if len(was) > maxDiffed || len(now) > maxDiffed {
		return fmt.Sprintf("%s changed", name)
	}
	lines := strings.Split(udiff.Unified(name+" as the run had it", name+" now", string(was), string(now)), "\n")
	if more := len(lines) - maxDifference; more > 0 {
		lines = append(lines[:maxDifference], fmt.Sprintf("… %d more lines", more))
	}
	return name + " changed:\n" + strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
