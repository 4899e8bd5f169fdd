package jinja

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/spellings"
)

// An Error is a mistake in a template, found by Parse, or a value that the
// template cannot use, found by Render. Line and Column start at 1. A column
// counts characters.
type Error struct {
	Line, Column int
	Message      string
	Word         string   // the unknown name, if that is the mistake
	Suggestion   string   // the nearest known name, or ""
	Further      []*Error // of Parse: the other mistakes, in the order of the source
}

// Error returns "line L, column C: message" with the suggestion, without the
// further mistakes.
func (e *Error) Error() string {
	text := fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	if e.Suggestion != "" {
		text += fmt.Sprintf("; did you mean %q?", e.Suggestion)
	}
	return text
}

// A failure stops the parser or the evaluator. It is raised with panic and
// never leaves Parse or Render.
type failure struct {
	at          int
	message     string
	word, meant string
}

func failAt(at int, format string, args ...any) {
	panic(failure{at: at, message: fmt.Sprintf(format, args...)})
}

// failNear fails for a name that is not one of the candidates.
func failNear(at int, name string, candidates []string, format string, args ...any) {
	panic(failure{at, fmt.Sprintf(format, args...), name, nearest(name, candidates)})
}

// mistakes are failures after which the rest of the source can still be parsed.
type mistakes []failure

// maxMistakes limits the number of reported mistakes of a source.
const maxMistakes = 50

// record runs a check, records its failure, and reports whether the check
// succeeded.
func (m *mistakes) record(check func()) (ok bool) {
	defer func() {
		thrown := recover()
		f, is := thrown.(failure)
		switch {
		case thrown == nil:
			ok = true
		case !is || len(*m) >= maxMistakes:
			panic(thrown)
		default:
			*m = append(*m, f)
		}
	}()
	check()
	return
}

// error returns all mistakes as one error, or nil.
func (m mistakes) error(source string) error {
	if len(m) == 0 {
		return nil
	}
	slices.SortStableFunc(m, func(a, b failure) int { return a.at - b.at })
	first := m[0].error(source)
	for _, f := range m[1:] {
		first.Further = append(first.Further, f.error(source))
	}
	return first
}

func (f failure) error(source string) *Error {
	e := errorAt(source, f.at, f.message)
	e.Word, e.Suggestion = f.word, f.meant
	return e
}

// catch stores a recovered failure in *target. A bug of the package is reported
// at the byte offset `at`.
func catch(source string, at *int, target *error) {
	switch thrown := recover().(type) {
	case nil:
	case failure:
		*target = thrown.error(source)
	default:
		*target = errorAt(source, *at, fmt.Sprintf("internal fault: %v", thrown))
	}
}

func errorAt(source string, at int, message string) *Error {
	p := beginning.to(source, at)
	return &Error{Line: p.line, Column: p.column, Message: message}
}

// A position is the place of a byte in a source: 1-based line and column in
// characters.
type position struct{ at, line, column int }

// beginning is the position of the first byte.
var beginning = position{0, 1, 1}

// to returns the position of a later byte. It reads the text between, so
// callers ask in ascending order.
func (p position) to(source string, at int) position {
	at = min(at, len(source))
	passed := source[p.at:at]
	if lines := strings.Count(passed, "\n"); lines > 0 {
		p.line, p.column = p.line+lines, 1
		passed = passed[strings.LastIndexByte(passed, '\n')+1:]
	}
	return position{at, p.line, p.column + utf8.RuneCountInString(passed)}
}

// suggestion returns `; did you mean "x"?` for the nearest candidate, or "".
func suggestion(name string, candidates []string) string {
	if best := nearest(name, candidates); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// nearest returns the nearest candidate, or "".
func nearest(name string, candidates []string) string {
	const longest, most = 40, 1000
	if len(name) > longest || len(candidates) > most {
		return ""
	}
	slices.Sort(candidates)
	best := spellings.Nearest(name, candidates)
	for _, candidate := range candidates {
		if best == "" && len(candidate) > 2 && strings.HasPrefix(name, candidate) {
			best = candidate // the name is a prefix, as in uppercase
		}
	}
	return best
}
