package syntax

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/reports"
)

// A Position is a place in a file. Lines and columns start at 1, and columns count characters.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String returns file:line:column.
func (p Position) String() string {
	return fmt.Sprintf("%s:%d:%d", reports.VisibleLine(p.File), p.Line, p.Column)
}

// A Diagnostic is an error or a warning about a range of a file.
type Diagnostic struct {
	Position
	EndLine    int    `json:"end_line,omitempty"`   // 0 for an unknown end
	EndColumn  int    `json:"end_column,omitempty"` // after the last character of the range
	Code       string `json:"code"`                 // stable; docs/reference/diagnostics.md lists all
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"` // the probable correction of a word
	Severity   string `json:"severity"`             // [Wrong] or [Warning]
	Fix        *Fix   `json:"fix,omitempty"`        // edit that applies the suggestion; nil if the file does not contain the exact word
}

// A Fix replaces a part of a line with a text.
type Fix struct {
	Position
	EndColumn int    `json:"end_column"` // after the last replaced character
	Text      string `json:"text"`
	// Sure is true if exactly one known word is similar to the unknown word.
	Sure bool `json:"sure"`
}

// The severities of diagnostics. A file with warnings loads.
const (
	Wrong   = "error"
	Warning = "warning"
)

// Text returns the message with the suggestion.
func (d Diagnostic) Text() string {
	if d.Suggestion != "" {
		return fmt.Sprintf("%s, did you mean %q?", d.Message, d.Suggestion)
	}
	return d.Message
}

// String returns file:line:column: message [code].
func (d Diagnostic) String() string {
	message := d.Text()
	if d.Severity == Warning {
		message = "warning: " + message
	}
	if d.Line == 0 { // the file cannot be read, and the message contains its name
		return message
	}
	return fmt.Sprintf("%s: %s [%s]", d.Position, message, d.Code)
}

// Diagnostics are the errors and warnings of a file, in file order.
type Diagnostics []Diagnostic

// Broken reports whether at least one diagnostic is an error.
func (d Diagnostics) Broken() bool {
	return slices.ContainsFunc(d, func(one Diagnostic) bool { return one.Severity == Wrong })
}

// Strict returns a copy in which every warning is an error.
func (d Diagnostics) Strict() Diagnostics {
	d = slices.Clone(d)
	for i := range d {
		d[i].Severity = Wrong
	}
	return d
}

// Error returns one line for each diagnostic.
func (d Diagnostics) Error() string {
	lines := make([]string, len(d))
	for i := range d {
		lines[i] = d[i].String()
	}
	return strings.Join(lines, "\n")
}

// Sorted sorts the diagnostics by file and position, and removes duplicates. The diagnostics
// of root are first.
func (d Diagnostics) Sorted(root string) Diagnostics {
	rank := func(file string) string {
		if file == root {
			return ""
		}
		return file
	}
	slices.SortStableFunc(d, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(rank(a.File), rank(b.File)),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(d, func(a, b Diagnostic) bool {
		return a.Position == b.Position && a.Code == b.Code && a.Message == b.Message
	})
}
