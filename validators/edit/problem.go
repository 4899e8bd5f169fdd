package edit

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/validators"
)

// An InputError lists the problems of what the harness passed.
type InputError struct{ Problems []Problem }

// Error returns a line for each problem.
func (e *InputError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// A Problem is one thing that is wrong with a file. Line and Column count from
// 1; they are 0 for a problem without a place.
type Problem struct {
	File         string
	Line, Column int
	Message      string
}

// String returns file:line:column: message.
func (p Problem) String() string { return p.place() + ": " + p.Message }

func (p Problem) place() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// maxNote is the longest text that a report quotes, in characters.
const maxNote = 600

// clean returns one printable line of bounded length.
func clean(s string) string { return validators.OneLine(s, maxNote) }

// brief is clean for a short quotation.
func brief(s string) string { return validators.OneLine(s, 80) }

// sentence adds a full stop to a text without an end.
func sentence(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}
