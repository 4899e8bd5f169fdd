package cascades

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/reports"
)

// A Position is a place in a file, from line 1, column 1 (in characters).
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String gives file:line:column.
func (p Position) String() string {
	return fmt.Sprintf("%s:%d:%d", reports.VisibleLine(p.File), p.Line, p.Column)
}

// A Diagnostic is one thing that is wrong with a file.
type Diagnostic struct {
	Position
	Code       string `json:"code"` // stable, see [Codes]
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"` // what was probably meant
	Severity   string `json:"severity"`             // [Wrong] or [Warning]
	Fix        *Fix   `json:"fix,omitempty"`        // puts the suggestion in its place; nil where the file does not say it letter for letter
}

// A Fix puts a text in the place of a part of one line of a file.
type Fix struct {
	Position
	EndColumn int    `json:"end_column"` // behind the last character that goes
	Text      string `json:"text"`
	// Sure says that nothing else can be meant: one known word alone is near to
	// a word that means nothing.
	Sure bool `json:"sure"`
}

// The severities of diagnostics: a file with something wrong does not load, one
// with warnings alone does.
const (
	Wrong   = "error"
	Warning = "warning"
)

// Told is the message with the suggestion, if there is one.
func (d Diagnostic) Told() string {
	if d.Suggestion != "" {
		return fmt.Sprintf("%s, did you mean %q?", d.Message, d.Suggestion)
	}
	return d.Message
}

// String gives the diagnostic as file:line:column: message [code].
func (d Diagnostic) String() string {
	message := d.Told()
	if d.Severity == Warning {
		message = "warning: " + message
	}
	if d.Line == 0 { // the file itself cannot be read, and the message names it
		return message
	}
	return fmt.Sprintf("%s: %s [%s]", d.Position, message, d.Code)
}

// Diagnostics is everything that is wrong with a file, in file order. As an
// error it is what a load returns.
type Diagnostics []Diagnostic

// Broken tells whether any of them is an error, and not a warning alone.
func (d Diagnostics) Broken() bool {
	return slices.ContainsFunc(d, func(one Diagnostic) bool { return one.Severity == Wrong })
}

// Strict is the same with every warning made an error.
func (d Diagnostics) Strict() Diagnostics {
	d = slices.Clone(d)
	for i := range d {
		d[i].Severity = Wrong
	}
	return d
}

// Error gives one diagnostic a line.
func (d Diagnostics) Error() string {
	lines := make([]string, len(d))
	for i := range d {
		lines[i] = d[i].String()
	}
	return strings.Join(lines, "\n")
}

// sorted puts the file that was loaded first, each file in its own order, and
// takes out what was said twice.
func (d Diagnostics) sorted(root string) Diagnostics {
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
