package edit

import (
	"strings"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/strictyaml"
)

// An InputError lists the problems of the harness's input.
type InputError struct{ Problems []inputProblem }

// Error returns a line for each problem.
func (e *InputError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// A inputProblem is one thing that is wrong with a file, with its place.
type inputProblem = strictyaml.Problem

// A reader reads the files of the protocol.
type reader struct{ strictyaml.Reader }

func newReader(file string) *reader { return &reader{strictyaml.Reader{File: file}} }

// maxNote is the longest text that a report quotes, in characters.
const maxNote = 600

// clean returns one printable line of bounded length.
func clean(s string) string { return reports.Fit(s, maxNote) }

// brief is clean for a short quotation.
func brief(s string) string { return reports.Fit(s, 80) }

// sentence adds a full stop to a text without an end.
func sentence(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}
