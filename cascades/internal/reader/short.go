package reader

import (
	"fmt"
	"strings"
)

// Short returns the first line of a text, with at most 120 characters. An … marks omitted
// text.
func Short(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if runes := []rune(line); len(runes) > 120 {
		line, more = string(runes[:120]), true
	}
	if more {
		return fmt.Sprintf("%s …", strings.TrimSpace(line))
	}
	return line
}
