// Package templates renders the texts of a cascade with the Jinja2 language, in
// a sandbox. A Windlass cascade gets the same text to the byte as in Windlass.
//
//	t, err := templates.Parse("Write about {{ input.topic }}.")
//	text, err := t.Render(map[string]any{"input": map[string]any{"topic": "owls"}})
//
// The package templates/internal/jinja implements the language: lexer, grammar,
// scopes, values, filters, tests, methods and limits. pongo2 pairs the
// beginning of each block with its bodies and its end, and executes the blocks
// during rendering; only document.go uses it. pongo2 evaluates no expression,
// writes no output and sees no text. Its own variables, filters and tags follow
// Django, with another truth, another undefined value, other white space and
// another loop variable. They also reach Go values, and nothing limits their
// output. A template without blocks needs no pongo2 document.
//
// The benchmarks compare the cost with pongo2 alone: go test -bench .
// ./templates.
//
// Begin with [Parse] and [Template.Render]. The package templates/prompts has
// Capstan's own prompts.
package templates

import (
	"github.com/flosch/pongo2/v6"

	"github.com/seed61713e19/capstan/templates/internal/jinja"
)

// An Error is a mistake in a template, found by Parse, or a value that the
// template cannot use, found by Render.
type Error = jinja.Error

// A Name is a place where a template reads a variable of Render's vars.
type Name = jinja.Name

// A Template is a parsed template. It does not change after Parse, so several
// goroutines may render it concurrently.
type Template struct {
	program  *jinja.Program
	document *pongo2.Template // nil if the template has no blocks
}

// Parse compiles a template. Its error is an *Error for the first mistake, with
// further mistakes that Parse found. If only single {{ }} are wrong, Parse
// returns a template and an error. That template has its Names and must not be
// rendered.
func Parse(source string) (*Template, error) {
	program, err := jinja.Parse(source)
	if program == nil {
		return nil, err
	}
	t := &Template{program: program}
	if err != nil {
		return t, err
	}
	if t.document, err = compile(program); err != nil {
		return nil, &Error{Line: 1, Column: 1, Message: err.Error()}
	}
	return t, nil
}

// Render executes the template with vars: nested maps with string keys, slices,
// strings, booleans, numbers, json.Number and nil. It does not keep or change
// vars. It never interprets text of vars as a template. Its error is an *Error.
func (t *Template) Render(vars map[string]any) (string, error) {
	if t.document == nil {
		return t.program.Render(vars, nil)
	}
	return t.program.Render(vars, t.carry)
}

// Source returns the parsed text, with "\n" as line ends.
func (t *Template) Source() string { return t.program.Source() }

// Names lists the variables that the template reads from vars, in the order of
// the source. Variables of loops and set, and functions such as range, are not
// listed. A variable that is read twice is listed twice.
func (t *Template) Names() []Name { return t.program.Names() }

// Reads reports whether the template reads the variable from vars.
func (t *Template) Reads(name string) bool { return t.program.Reads(name) }

// Filters returns the names of all filters, sorted.
func Filters() []string { return jinja.Filters() }

// Statements returns the names that may begin a {% %}.
func Statements() []string { return jinja.Statements() }

// Tests returns the names of all tests, sorted, without operators such as ==.
func Tests() []string { return jinja.Tests() }
