package edit

import (
	"strings"

	"github.com/seed61713e19/capstan/validators"
)

// maxNote is the longest text that a report takes over, in characters.
const maxNote = 600

// clean makes one line of a foreign text, of bounded length.
func clean(s string) string { return validators.OneLine(s, maxNote) }

// brief is clean for a quotation in passing.
func brief(s string) string { return validators.OneLine(s, 80) }

// sentence ends a text that has no end.
func sentence(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}
