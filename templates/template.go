// Package templates renders the texts of a cascade: Jinja2 in a cage, so that what a cascade of Windlass says to a model
// there it says here to the byte.
//
// What is whose. The language is jinja's, the room below: lexer, grammar, scopes, values, filters, tests, methods, limits.
// pongo2 carries a template's blocks: it reads a skeleton of them, pairs what opens a block with its bodies and its end, and
// walks them when the template is rendered; document.go is all that knows of it. It evaluates nothing, writes nothing and
// sees no text. More of the carrying cannot honestly be its own: its variables, filters and tags are Django's (truth,
// undefined, whitespace, the loop variable differ) and reach Go values; its lexer would take a part of a text for a tag;
// and no bound would hold what it writes. A template without blocks, as most are, has no document at all, and those of the
// same blocks share one. pongo2's own
// tags are banned and its loader has no files, should ever a text slip into a skeleton.
//
// What it costs is held against pongo2 alone: go test -bench . ./templates.
//
// Where to begin: [Parse] and [Template.Render] are all that a caller needs, the package jinja tells the language, and the
// package prompts has the texts that we ourselves say to models.
package templates

import (
	"github.com/flosch/pongo2/v6"

	"github.com/seed61713e19/capstan/templates/jinja"
)

// An Error is a mistake in a template, found by Parse, or a value the template cannot use, found by Render.
type Error = jinja.Error

// A Name is one place where a template reads a variable that Render must be given.
type Name = jinja.Name

// A Template is a parsed template. It does not change after Parse, so that any number of goroutines may render it.
type Template struct {
	program  *jinja.Program
	document *pongo2.Template // nil where there are no blocks
}

// Parse compiles a template. Its error is an *Error at the place of the first mistake, with the further ones that can be
// told from there. Where the grammar is whole but for single {{ }}, a template comes with the error: it has its Names and
// cannot be rendered.
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

// Render executes the template on plain values: maps with string keys, slices, strings, booleans, numbers, json.Number
// and nil, nested at will. It neither keeps nor changes vars. Text that comes out of vars is never read as a template. Its
// error is an *Error.
func (t *Template) Render(vars map[string]any) (string, error) {
	if t.document == nil {
		return t.program.Render(vars, nil)
	}
	return t.program.Render(vars, t.carry)
}

// Source is the text that was parsed, its line ends as "\n".
func (t *Template) Source() string { return t.program.Source() }

// Names lists the variables that the template reads from Render's vars, in the order of the source: not its own loop and
// set variables, not functions such as range. A variable read twice is listed twice.
func (t *Template) Names() []Name { return t.program.Names() }

// Reads tells whether the template reads the variable from Render's vars.
func (t *Template) Reads(name string) bool { return t.program.Reads(name) }

// Filters are the names of all filters, sorted.
func Filters() []string { return jinja.Filters() }

// Statements are the names that may stand first in {% %}.
func Statements() []string { return jinja.Statements() }

// Tests are the names of all tests, sorted, without the signs that stand for some.
func Tests() []string { return jinja.Tests() }
