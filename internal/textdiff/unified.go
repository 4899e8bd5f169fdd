package textdiff

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// maxUnified is the maximum size of a text that [Unified] compares, in bytes.
const maxUnified = 1 << 20

// Unified returns the lines that differ between two texts as a unified diff, or
// "" if the texts are equal. For texts over 1 MiB, the diff contains only the
// names.
func Unified(oldName, newName, old, now string) string {
	if old != now && max(len(old), len(now)) > maxUnified {
		return fmt.Sprintf("--- %s\n+++ %s\n", oldName, newName)
	}
	if !strings.HasSuffix(old, "\n") && !strings.HasSuffix(now, "\n") { // the diff must not repeat that
		old, now = old+"\n", now+"\n"
	}
	return udiff.Unified(oldName, newName, old, now)
}
