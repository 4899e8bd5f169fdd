package cascades

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/spellings"
)

// Bounds of what is reported, so that a file of a million mistakes is answered
// as fast as one of ten.
const (
	maxFound       = 1000
	maxComparisons = 100_000 // of words with those that could have been meant
)

func (p *parser) position(n *yaml.Node) Position {
	if n == nil {
		return Position{p.file, 1, 1}
	}
	return Position{p.file, max(n.Line, 1), max(n.Column, 1)}
}

func (p *parser) report(n *yaml.Node, code, format string, args ...any) {
	p.reportAt(p.position(n), code, format, args...)
}

func (p *parser) reportAt(at Position, code, format string, args ...any) {
	p.note(Wrong, at, code, format, args...)
}

// warn reports what a file may say and should not.
func (p *parser) warn(n *yaml.Node, code, format string, args ...any) {
	p.note(Warning, p.position(n), code, format, args...)
}

func (p *parser) note(severity string, at Position, code, format string, args ...any) {
	switch {
	case p.full():
		return
	case len(p.found) == maxFound: // of what is not told something may be wrong
		severity, code, format, args = Wrong, CodeTooLarge, "more than %d mistakes: the rest is not told", []any{maxFound}
	}
	p.found = append(p.found, Diagnostic{Position: at, Code: code, Message: fmt.Sprintf(format, args...), Severity: severity})
}

// full tells whether nothing more is told.
func (p *parser) full() bool { return p.nodes > maxNodes || len(p.found) > maxFound }

// suggest adds what was probably meant by a word to the last diagnostic.
func (p *parser) suggest(word string, known func() []string) {
	if p.compared > maxComparisons || p.full() {
		return
	}
	words := known()
	p.compared += len(words)
	if p.compared <= maxComparisons {
		p.meant(nearest(word, words))
		p.fix(word)
	}
}

// last is the diagnostic that was told last, for what is added to it; where none is
// told any more it is nobody's.
func (p *parser) last() *Diagnostic {
	if len(p.found) == 0 || p.full() {
		return &Diagnostic{Position: p.position(nil)}
	}
	return &p.found[len(p.found)-1]
}

// meant adds a suggestion to the last diagnostic.
func (p *parser) meant(suggestion string, sure bool) {
	d := p.last()
	if d.Suggestion = suggestion; suggestion != "" {
		d.Fix = &Fix{Text: suggestion, Sure: sure && d.Severity == Wrong}
	}
}

// put has the last diagnostic, of a value on one line, suggest what it is to be
// written as: nothing else can be meant.
func (p *parser) put(n *yaml.Node, text string) {
	d := p.last()
	d.Suggestion = text
	rest := p.behind(d.Position)
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
	d.Fix = &Fix{Position: d.Position, EndColumn: d.Column + len([]rune(as)), Text: text, Sure: d.Severity == Wrong}
}

// fix gives the edit of the last diagnostic its place: where the word stands
// letter for letter, in quotes or not. Elsewhere there is no edit.
func (p *parser) fix(word string) {
	d := p.last()
	if d.Fix == nil {
		return
	}
	edit := d.Fix
	d.Fix = nil
	rest, column := p.behind(d.Position), d.Column
	if quoted := strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "'"); quoted && !strings.HasPrefix(rest, word) {
		rest, column = rest[1:], column+1
	}
	if !strings.HasPrefix(rest, word) || strings.ContainsFunc(edit.Text, unplain) || strings.TrimSpace(edit.Text) != edit.Text {
		return
	}
	edit.Position = Position{d.File, d.Line, column}
	edit.EndColumn = edit.Column + len([]rune(word))
	d.Fix = edit
}

// unplain tells of a character that YAML, JSON or a template could read as more
// than itself.
func unplain(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-. =$", r)
}

// behind is what stands in the line of a place from there on.
func (p *parser) behind(at Position) string {
	line := []rune(p.lineOfFile(at))
	return string(line[min(at.Column-1, len(line)):])
}

// lineOfFile is the line of a place, of this file or of the template beside it
// that is being read; "" of any other.
func (p *parser) lineOfFile(at Position) string {
	lines := p.foreign
	if at.File == p.file {
		lines = p.sourceLines()
	} else if at.File != p.foreignFile {
		return ""
	}
	if at.Line > len(lines) {
		return ""
	}
	return lines[at.Line-1]
}

// elsewhere are words of other programs for what is called otherwise here.
var elsewhere = map[string][]string{
	"before": {"pre"}, "after": {"post"}, "during": {"turn"}, "steps": {"phases"}, "stages": {"phases"}, "tasks": {"phases"},
	"prompt": {"instructions", "judge"}, "system_prompt": {"system"}, "persona": {"system"}, "few_shot": {"examples"}, "user": {"instructions"}, "id": {"name", "cascade_id"}, "tools": {"tackle"}, "next": {"handoffs"}, "goto": {"handoffs"},
	"if": {"when"}, "condition": {"when"}, "foreach": {"each"}, "for_each": {"each"}, "parallel": {"together"}, "retries": {"max_attempts"},
	"inputs": {"inputs_schema"}, "warn": {"advisory"}, "warning": {"advisory"}, "block": {"blocking"}, "error": {"blocking"}, "guards": {"wards"},
	"command": {"exec"}, "run": {"exec"}, "schema": {"output_schema"}, "params": {"with", "parameters"}, "args": {"with"}, "samples": {"soundings"},
	"max_tokens": {"max_output_tokens"}, "max_time": {"max_seconds"}, "time": {"max_seconds"}, "length": {"len"}, "size": {"len"}, "yes": {"true"}, "no": {"false"}, "null": {"nil"}, "none": {"nil"}, "undefined": {"nil"},
}

// nearest is the known word that was probably meant by another, "" where there is
// none, and whether it is the only one near.
func nearest(word string, known []string) (best string, sure bool) {
	for _, k := range elsewhere[strings.ToLower(word)] {
		if slices.Contains(known, k) {
			return k, false
		}
	}
	if best, sure = spellings.Near(word, known); best != "" {
		return best, sure
	}
	for _, k := range known { // the beginning of one, or with more behind it
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

// unreadable returns why a file cannot be read, with its name.
func unreadable(name string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file: " + name
	case !strings.Contains(err.Error(), name):
		return name + ": " + err.Error()
	}
	return err.Error()
}
