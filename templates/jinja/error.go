package jinja

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/spellings"
)

// An Error is a mistake in a template, found by Parse, or a value the template cannot use, found by Render.
// Line and Column are 1-based places in the source; a column counts characters, not bytes.
type Error struct {
	Line, Column int
	Message      string
	Word         string   // the name that is not known, where it is that
	Suggestion   string   // what was probably meant by it; "" where nothing is near
	Further      []*Error // of Parse: the other mistakes of the source, in its order
}

// Error returns "line L, column C: message", with the suggestion, if there is one, and without the further mistakes.
func (e *Error) Error() string {
	text := fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	if e.Suggestion != "" {
		text += fmt.Sprintf("; did you mean %q?", e.Suggestion)
	}
	return text
}

// failure is how the parser and the evaluator stop: it is thrown with panic and never leaves Parse or Render.
type failure struct {
	at          int
	message     string
	word, meant string
}

func failAt(at int, format string, args ...any) {
	panic(failure{at: at, message: fmt.Sprintf(format, args...)})
}

// failNear fails for a name that is none of the candidates.
func failNear(at int, name string, candidates []string, format string, args ...any) {
	panic(failure{at, fmt.Sprintf(format, args...), name, nearest(name, candidates)})
}

// mistakes are those after which the rest of the source can still be read.
type mistakes []failure

// maxMistakes bounds what is told of one source.
const maxMistakes = 50

// tell makes a check, notes what fails in it, and reports whether nothing did.
func (m *mistakes) tell(check func()) (ok bool) {
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

// error is all of them, nil where there are none.
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

// catch turns whatever was thrown into *target; a fault of our own is reported at the byte offset `at`.
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

// A position is where a byte of a source stands: its 1-based line and column (in characters).
type position struct{ at, line, column int }

// beginning is that of the first byte.
var beginning = position{0, 1, 1}

// to is where a later byte stands. What lies between is looked at: who asks for many asks in their order.
func (p position) to(source string, at int) position {
	at = min(at, len(source))
	passed := source[p.at:at]
	if lines := strings.Count(passed, "\n"); lines > 0 {
		p.line, p.column = p.line+lines, 1
		passed = passed[strings.LastIndexByte(passed, '\n')+1:]
	}
	return position{at, p.line, p.column + utf8.RuneCountInString(passed)}
}

// suggestion returns `; did you mean "x"?` for the candidate nearest to name, or nothing when none is near.
func suggestion(name string, candidates []string) string {
	if best := nearest(name, candidates); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// nearest is the candidate nearest to name, or nothing when none is near.
func nearest(name string, candidates []string) string {
	const longest, most = 40, 1000
	if len(name) > longest || len(candidates) > most {
		return ""
	}
	slices.Sort(candidates)
	best := spellings.Nearest(name, candidates)
	for _, candidate := range candidates {
		if best == "" && len(candidate) > 2 && strings.HasPrefix(name, candidate) {
			best = candidate // with more behind it, as uppercase
		}
	}
	return best
}
