package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner"
)

// maxSourceLine is the longest source line that lint prints, in characters.
const maxSourceLine = 200

// sources are the files of diagnostics, by name.
type sources map[string]*syntax.File

// file returns a file, which is empty if it cannot be read.
func (s sources) file(name string) *syntax.File {
	if s[name] == nil {
		text, err := runner.ReadFile(name)
		if err != nil {
			text = nil
		}
		s[name] = syntax.New(name, text)
	}
	return s[name]
}

// complete gives each diagnostic without an end the end of the word at its place.
func (s sources) complete(found syntax.Diagnostics) {
	for i, d := range found {
		if d.Line > 0 && d.EndLine == 0 {
			end := s.file(d.File).Word(syntax.Point{Line: d.Line, Column: d.Column}).End
			found[i].EndLine, found[i].EndColumn = end.Line, end.Column
		}
	}
}

// print prints each diagnostic with its source line and the underlined range.
func (s sources) print(out io.Writer, found syntax.Diagnostics) {
	for _, d := range found {
		fmt.Fprintln(out, d)
		line := []rune(s.file(d.File).Line(d.Line))
		if d.Line < 1 || d.Column < 1 || d.Column > len(line) || len(line) > maxSourceLine {
			continue
		}
		number := strconv.Itoa(d.Line)
		fmt.Fprintf(out, "%s | %s\n", number, reports.VisibleLine(strings.ReplaceAll(string(line), "\t", " ")))
		fmt.Fprintf(out, "%*s | %s\n", len(number), "", underline(line, d))
	}
}

// underline returns the marks below a line. A range of several lines is marked in its first line.
func underline(line []rune, d syntax.Diagnostic) string {
	end := utf8.RuneCountInString(strings.TrimRight(string(line), " \t")) + 1
	if d.EndLine == d.Line {
		end = min(end, d.EndColumn)
	}
	return strings.Repeat(" ", d.Column-1) + strings.Repeat("^", max(end-d.Column, 1))
}
