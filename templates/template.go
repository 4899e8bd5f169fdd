// Package templates renders the texts of a cascade: Jinja2 in a cage.
//
// What a template says is read by Jinja2's own grammar (3.1, its default settings, StrictUndefined), so that a Windlass
// cascade renders here to the byte as it does there; what lies outside the supported part is an error of Parse, never a
// different text. A template reaches no file, no clock, no chance, and no Go method or field.
//
// What is whose: pongo2 carries the statements: it reads a skeleton of them, a numbered tag each, pairs the tags with their
// bodies, walks these, and collects the output. The lexer and the grammar of tags, expressions, filters, tests, methods, loops, scopes and macros are this
// package's: pongo2's are those of Django, which differ from Jinja2 in what they render (truth, undefined, filter arguments,
// whitespace, the loop variable) and reach Go values. Its own tags, filters and loaders are shut off.
//
// Values are plain data as JSON has it. Maps are read in the order of their keys. An int is a Python int; a float64 is a
// Python float, so that float64(3) prints as 3.0: decode JSON with UseNumber to keep integers integers.
//
// Where Jinja2 would print an address or the word Undefined, or would hand out what changes or breaks a value, there is an
// error instead: for a generator or method printed as it is, an undefined value inside a list, data.items where a key is
// meant, append and its like, names that begin with two underscores. Integers have any size, as Python's have. A block, comment or raw block that is not closed never passes.
//
// A render is deterministic and bounded: loops, strings, lists, calls and output count against fixed limits, not against a
// clock. A range has at most 100,000 elements; blocks, brackets, values and macro calls nest at most 100 deep.
package templates

import (
	"slices"
	"strings"

	"github.com/flosch/pongo2/v6"
)

// MaxOutput is the most bytes a template may render, and the longest string it may make on the way.
const MaxOutput = 64 << 20

// A Template is a parsed template. It does not change after Parse, so that any number of goroutines may render it.
type Template struct {
	source     string // normalized
	document   *pongo2.Template
	statements []statement
	frame      *functionScope
	root       *scope
	library    *library
	reads      []read
}

// A Name is one place where a template reads a variable that Render must be given.
type Name struct {
	// Path is the variable and the attributes read from it, as far as the source alone tells: {{ outputs.draft.title }}
	// is outputs, draft, title; {{ outputs[which] }} is outputs.
	Path []string
	// Line and Column tell where the variable stands.
	Line, Column int
	// Guarded is true where the template handles that the last element of Path is absent: default(…), is defined,
	// is undefined, and whatever stands under a condition that asked one of these about the path, its beginning or its end.
	Guarded bool
}

// Parse compiles a template. Its error is an *Error at the place of the first mistake, with the further ones that can be
// told from there. Where the grammar is whole but for single {{ }}, a template comes with the error: it has its Names and
// cannot be rendered.
func Parse(source string) (_ *Template, err error) {
	t := &Template{source: normalized(source)}
	if !hasTags(t.source) {
		return t, nil
	}
	p := &parser{lexer: lexer{source: t.source}, library: standard()}
	defer func() {
		if told := p.found.error(t.source); told != nil {
			err = told
		}
	}()
	defer catch(t.source, &p.pos, &err)
	var statements body
	if !p.found.tell(func() { statements = p.body() }) {
		return nil, nil
	}
	t.library = p.library
	t.resolve(statements, &p.found)
	if len(p.found) > 0 {
		return t, nil
	}
	if t.document, t.statements, err = compile(statements); err != nil {
		return nil, errorAt(t.source, 0, err.Error())
	}
	return t, nil
}

func (t *Template) resolve(statements body, found *mistakes) {
	t.root = newScope(nil, false)
	t.root.declare(statements)
	v := resolver{library: t.library, found: found}
	v.body(t.root, statements)
	t.reads, t.frame = v.reads, t.root.function
}

// Render executes the template on plain values: maps with string keys, slices, strings, booleans, numbers, json.Number
// and nil, nested at will. It neither keeps nor changes vars. Text that comes out of vars is never read as a template. Its error
// is an *Error.
func (t *Template) Render(vars map[string]any) (_ string, err error) {
	if t.document == nil {
		if len(t.source) > MaxOutput {
			return "", errorAt(t.source, 0, "the output is longer than MaxOutput")
		}
		return t.source, nil
	}
	r := &render{template: t, vars: vars}
	defer catch(t.source, &r.at, &err)
	r.frame = &frame{slots: make([]any, t.frame.slots)}
	r.enter(t.root)
	if plain := t.only(); plain != nil {
		out := r.builder()
		plain.run(r, nil, out)
		return out.String(), nil
	}
	text, err := t.document.Execute(pongo2.Context{renderKey: r})
	if err != nil {
		return "", errorAt(t.source, r.at, err.Error())
	}
	return text, nil
}

// only is the statement of a template that is nothing but text and values, nil for any other: it needs nobody to walk
// it.
func (t *Template) only() *outputStatement {
	if len(t.statements) != 1 {
		return nil
	}
	plain, _ := t.statements[0].(*outputStatement)
	return plain
}

// Source is the text that was parsed, its line ends as "\n".
func (t *Template) Source() string { return t.source }

// Names lists the variables that the template reads from Render's vars, in the order of the source: not its own loop and
// set variables, not functions such as range. A variable read twice is listed twice.
func (t *Template) Names() []Name {
	names := make([]Name, len(t.reads))
	for i, one := range t.reads {
		line, column := position(t.source, one.at)
		names[i] = Name{Path: one.path, Line: line, Column: column, Guarded: one.guarded}
	}
	return names
}

// Reads tells whether the template reads the variable from Render's vars.
func (t *Template) Reads(name string) bool {
	return slices.ContainsFunc(t.reads, func(one read) bool { return one.path[0] == name })
}

// builder makes a string that counts against the limits of its render. It also is the output of a captured body.
type builder struct {
	strings.Builder
	render *render
}

func (r *render) builder() *builder { return &builder{render: r} }

// text appends s.
func (b *builder) text(s string) {
	b.render.grow(b.Len(), len(s))
	b.WriteString(s)
}

// value appends str(v).
func (b *builder) value(v any) {
	if s, ok := v.(string); ok {
		b.text(s)
		return
	}
	b.text(b.render.str(v))
}
