package reader

import (
	"fmt"
	"strings"
)

// Short returns the first line of a text, cut to 120 characters.
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
