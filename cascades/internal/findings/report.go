// Package findings collects the diagnostics of a file.
//
// A [Report] adds the range of the value or word, the probable correction, and the edit that
// applies it. It stops after a fixed number of diagnostics and comparisons. A file with a
// million mistakes therefore takes no longer than a file with ten.
package findings

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/spellings"
)

// The limits of a report.
const (
	MaxFound       = 1000
	MaxComparisons = 100_000 // comparisons of unknown words with known words
)

// A Report contains the diagnostics of a file and of the template files that it names.
type Report struct {
	File      *syntax.File
	Templates map[string]*syntax.File // template files, by name
	Found     syntax.Diagnostics
	Compared  int  // number of known words that were compared with an unknown word
	Closed    bool // the file is too large; ignore further diagnostics
}

// AddTemplate adds a template file.
func (r *Report) AddTemplate(f *syntax.File) {
	if r.Templates == nil {
		r.Templates = map[string]*syntax.File{}
	}
	r.Templates[f.Name] = f
}

// Position returns the position of a value. The position of nil is the beginning of the file.
func (r *Report) Position(n *yaml.Node) syntax.Position {
	if n == nil {
		return syntax.Position{File: r.File.Name, Line: 1, Column: 1}
	}
	return syntax.Position{File: r.File.Name, Line: max(n.Line, 1), Column: max(n.Column, 1)}
}

// Error reports an error at a value.
func (r *Report) Error(n *yaml.Node, code, format string, args ...any) {
	r.add(syntax.Wrong, r.Position(n), r.end(n), code, format, args...)
}

// ErrorAt reports an error at the word at a position.
func (r *Report) ErrorAt(at syntax.Position, code, format string, args ...any) {
	r.addWord(syntax.Wrong, at, code, format, args...)
}

// Warn reports a warning at a value.
func (r *Report) Warn(n *yaml.Node, code, format string, args ...any) {
	r.add(syntax.Warning, r.Position(n), r.end(n), code, format, args...)
}

// WarnAt reports a warning at the word at a position.
func (r *Report) WarnAt(at syntax.Position, code, format string, args ...any) {
	r.addWord(syntax.Warning, at, code, format, args...)
}

func (r *Report) addWord(severity string, at syntax.Position, code, format string, args ...any) {
	if r.Full() {
		return
	}
	end := r.textOf(at.File).Word(syntax.Point{Line: at.Line, Column: at.Column}).End
	r.add(severity, at, end, code, format, args...)
}

// end returns the end of a value.
func (r *Report) end(n *yaml.Node) syntax.Point {
	switch {
	case r.Full():
		return syntax.Point{}
	case n == nil:
		return r.File.Word(syntax.Point{Line: 1, Column: 1}).End
	}
	return r.File.Range(n).End
}

func (r *Report) add(severity string, at syntax.Position, end syntax.Point, code, format string, args ...any) {
	switch {
	case r.Full():
		return
	case len(r.Found) == MaxFound: // an error, because the rest may contain one
		severity, code, format, args = syntax.Wrong, codes.TooLarge, "more than %d mistakes: the rest is not listed", []any{MaxFound}
	}
	r.Found = append(r.Found, syntax.Diagnostic{Position: at, EndLine: end.Line, EndColumn: end.Column, Code: code, Message: fmt.Sprintf(format, args...), Severity: severity})
}

// Full reports whether the report accepts no more diagnostics.
func (r *Report) Full() bool { return r.Closed || len(r.Found) > MaxFound }

// Compare adds a number of comparisons to the count. It reports whether the count is within
// the limit.
func (r *Report) Compare(words int) bool {
	r.Compared += words
	return r.Compared <= MaxComparisons
}

// Suggest finds the known word that is most similar to an unknown word. It adds this word to
// the last diagnostic.
func (r *Report) Suggest(word string, known func() []string) {
	if r.Compared > MaxComparisons || r.Full() {
		return
	}
	if words := known(); r.Compare(len(words)) {
		r.Propose(Nearest(word, words))
		r.PlaceFix(word)
	}
}

// Last returns the last diagnostic, so that the caller can add to it. If the report is full,
// it returns a diagnostic outside the report.
func (r *Report) Last() *syntax.Diagnostic {
	if len(r.Found) == 0 || r.Full() {
		return &syntax.Diagnostic{Position: r.Position(nil)}
	}
	return &r.Found[len(r.Found)-1]
}

// Propose adds a suggestion to the last diagnostic. The caller must then call
// [Report.PlaceFix].
func (r *Report) Propose(suggestion string, sure bool) {
	d := r.Last()
	if d.Suggestion = suggestion; suggestion != "" {
		d.Fix = &syntax.Fix{Text: suggestion, Sure: sure && d.Severity == syntax.Wrong}
	}
}

// Replace adds text as the only possible correction to the last diagnostic. The value of the
// diagnostic must be on one line.
func (r *Report) Replace(n *yaml.Node, text string) {
	d := r.Last()
	d.Suggestion = text
	rest := r.Rest(d.Position)
	as := n.Value
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		as = `"` + as + `"`
	case n.Style&yaml.SingleQuotedStyle != 0:
		as = "'" + as + "'"
	}
	if !strings.HasPrefix(rest, as) || strings.ContainsAny(text, "\n{},:#&*!|>%@`") {
		return
	}
	d.Fix = &syntax.Fix{Position: d.Position, EndColumn: d.Column + len([]rune(as)), Text: text, Sure: d.Severity == syntax.Wrong}
}

// PlaceFix sets the position of the fix of the last diagnostic to the word, in quotes or not.
// If the file does not contain the exact word there, PlaceFix removes the fix.
func (r *Report) PlaceFix(word string) {
	d := r.Last()
	if d.Fix == nil {
		return
	}
	edit := d.Fix
	d.Fix = nil
	rest, column := r.Rest(d.Position), d.Column
	if quoted := strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "'"); quoted && !strings.HasPrefix(rest, word) {
		rest, column = rest[1:], column+1
	}
	if !strings.HasPrefix(rest, word) || strings.ContainsFunc(edit.Text, unplain) || strings.TrimSpace(edit.Text) != edit.Text {
		return
	}
	edit.Position = syntax.Position{File: d.File, Line: d.Line, Column: column}
	edit.EndColumn = edit.Column + len([]rune(word))
	d.Fix = edit
}

// Rest returns the rest of a line after a position.
func (r *Report) Rest(at syntax.Position) string {
	return r.textOf(at.File).From(syntax.Point{Line: at.Line, Column: at.Column})
}

// Line returns the line of a position.
func (r *Report) Line(at syntax.Position) string { return r.textOf(at.File).Line(at.Line) }

// textOf returns the file with a name: the file of the report or one of its templates. For
// another name, it returns an empty file.
func (r *Report) textOf(file string) *syntax.File {
	if file == r.File.Name {
		return r.File
	}
	if template := r.Templates[file]; template != nil {
		return template
	}
	return syntax.New(file, nil)
}

// unplain reports whether a character may have a special meaning in YAML, JSON or a template.
func unplain(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-. =$", r)
}

// elsewhere maps words of other programs to words of cascades.
var elsewhere = map[string][]string{
	"before": {"pre"}, "after": {"post"}, "during": {"turn"}, "steps": {"phases"}, "stages": {"phases"}, "tasks": {"phases"},
	"prompt": {"instructions", "judge"}, "system_prompt": {"system"}, "persona": {"system"}, "few_shot": {"examples"}, "user": {"instructions"}, "id": {"name", "cascade_id"}, "tools": {"tackle"}, "next": {"handoffs"}, "goto": {"handoffs"},
	"if": {"when"}, "condition": {"when"}, "foreach": {"each"}, "for_each": {"each"}, "parallel": {"together"}, "retries": {"max_attempts"},
	"inputs": {"inputs_schema"}, "warn": {"advisory"}, "warning": {"advisory"}, "block": {"blocking"}, "error": {"blocking"}, "guards": {"wards"},
	"command": {"exec"}, "run": {"exec"}, "schema": {"output_schema"}, "params": {"with", "parameters"}, "args": {"with"}, "samples": {"soundings"},
	"max_tokens": {"max_output_tokens"}, "max_time": {"max_seconds"}, "time": {"max_seconds"}, "length": {"len"}, "size": {"len"}, "yes": {"true"}, "no": {"false"}, "null": {"nil"}, "none": {"nil"}, "undefined": {"nil"},
}

// Nearest returns the probable correction of a word among the known words, or "". sure reports
// whether no other known word is similar.
func Nearest(word string, known []string) (best string, sure bool) {
	for _, k := range elsewhere[strings.ToLower(word)] {
		if slices.Contains(known, k) {
			return k, false
		}
	}
	if best, sure = spellings.Near(word, known); best != "" {
		return best, sure
	}
	for _, k := range known { // word is a prefix of k, or k is a prefix of word
		if len(word) < 3 || len(k) < 3 || !strings.HasPrefix(k, word) && (3*len(k) < len(word) || !strings.HasPrefix(word, k)) {
			continue
		}
		if best != "" && best != k {
			return "", false
		}
		best = k
	}
	return best, false
}
