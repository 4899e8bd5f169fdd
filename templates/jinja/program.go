// Package jinja is the language of templates: Jinja2 3.1 with its default settings
// and StrictUndefined, as far as a cascade may use it, on plain data.
//
// A source comes in as bytes and goes out as a [Program]; a program and variables
// come in and a text goes out. On the way:
//
//   - lexer.go cuts the source as Jinja2's own lexer does.
//   - parser.go, postfix.go and literals.go (expressions) and blocks.go (tags) follow
//     Jinja2's grammar rule by rule.
//   - scopes.go decides where each variable lives when the source is parsed, as
//     Jinja2 compiles it; resolver.go notes which are read from outside
//     ([Program.Names]), so that a cascade can be told at load that nobody sets one.
//   - render.go, loops.go and macros.go run the statements.
//   - values.go, numbers.go, comparisons.go, dicts.go, members.go and text.go are
//     Python's values: truth, order, equality, repr; methods*.go and formats*.go what
//     their methods do.
//   - library.go lists all that can be called. Begin there to add a filter.
//
// Three decisions shaped it. It is written anew rather than taken from pongo2, whose
// language is Django's: a Windlass cascade would render another text without a word.
// What is not supported is therefore a mistake that [Parse] tells, never a different
// text: where Jinja2 would print an address, or hand out what changes a value, there
// is an error too. And work is counted, not timed: every operation charges for what it
// reads and makes (render.charge), so that the same template on the same values always
// ends in the same way, in about a second at most. A range has at most 100,000
// elements; blocks, brackets, values and calls of macros nest at most 100 deep.
//
// Values are plain data as JSON has it. Maps are read in the order of their keys. An
// int is a Python int of any size, a float64 a Python float: decode JSON with
// UseNumber to keep integers integers.
//
// A template reaches no file, no clock, no chance, no Go method and no field. Inside
// the package a failure is thrown with panic (error.go) and caught in Parse and Render.
// testdata/jinja.json holds what Jinja2 itself makes of the templates there.
package jinja

import (
	"fmt"
	"slices"
)

// maxOutput is the most bytes a template may render, and the longest string it may make on the way.
const maxOutput = 64 << 20

// A Program is a parsed template. It does not change after Parse, so that any number of goroutines may render it.
type Program struct {
	source     string // normalized
	statements body
	frame      *functionScope // nil where there is nothing but text
	root       *scope
	library    *library
	reads      []read
	mistake    error // why it cannot be rendered
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
	// Spared is how many elements Path ends with that may be absent: {{ input.a.b|default(1) }} spares b, and fails
	// without input.a.
	Spared int
}

// Parse compiles a template. Its error is an *Error at the place of the first mistake, with the further ones that can be
// told from there. Where the grammar is whole but for single {{ }}, a program comes with the error: it has its Names and
// cannot be rendered.
func Parse(source string) (_ *Program, err error) {
	t := &Program{source: normalized(source)}
	l := lexer{source: t.source}
	if l.nextOpening() < 0 {
		return t, nil
	}
	p := &parser{lexer: l, library: standard()}
	defer func() {
		if told := p.found.error(t.source); told != nil {
			err, t.mistake = told, told
		}
	}()
	defer catch(t.source, &p.pos, &err)
	var statements body
	if !p.found.tell(func() { statements = p.body() }) {
		return nil, nil
	}
	t.library = p.library
	t.resolve(statements, &p.found)
	t.statements = statements
	return t, nil
}

func (p *Program) resolve(statements body, found *mistakes) {
	p.root = newScope(nil, false)
	p.root.declare(statements)
	v := resolver{library: p.library, found: found}
	v.body(p.root, statements)
	p.reads, p.frame = v.reads, p.root.function
}

// Render executes the program on plain values: maps with string keys, slices, strings, booleans, numbers, json.Number
// and nil, nested at will. It neither keeps nor changes vars. Text that comes out of vars is never read as a template. Its
// error is an *Error.
//
// carry walks the blocks of the whole program, as [Walk] says; nobody asks it where [Program.Outline] has none.
func (p *Program) Render(vars map[string]any, carry func(*Walk) error) (_ string, err error) {
	if p.mistake != nil {
		return "", p.mistake
	}
	if p.frame == nil {
		if len(p.source) > maxOutput {
			return "", errorAt(p.source, 0, fmt.Sprintf("the output is longer than %d bytes", maxOutput))
		}
		return p.source, nil
	}
	r := &render{program: p, vars: vars}
	r.walk.render = r
	defer catch(p.source, &r.at, &err)
	r.frame = &frame{slots: make([]any, p.frame.slots)}
	r.enter(p.root)
	out := r.builder()
	r.body(p.statements, program(carry), out)
	return out.String(), nil
}

// Source is the text that was parsed, its line ends as "\n".
func (p *Program) Source() string { return p.source }

// Names lists the variables that the template reads from Render's vars, in the order of the source: not its own loop and
// set variables, not functions such as range. A variable read twice is listed twice.
func (p *Program) Names() []Name {
	names, inOrder := make([]Name, len(p.reads)), make([]int, len(p.reads))
	for i := range inOrder {
		inOrder[i] = i
	}
	slices.SortFunc(inOrder, func(a, b int) int { return p.reads[a].at - p.reads[b].at })
	here := beginning
	for _, i := range inOrder {
		one := p.reads[i]
		here = here.to(p.source, one.at)
		names[i] = Name{Path: one.path, Line: here.line, Column: here.column, Guarded: one.guarded, Spared: one.spared}
	}
	return names
}

// Reads tells whether the template reads the variable from Render's vars.
func (p *Program) Reads(name string) bool {
	return slices.ContainsFunc(p.reads, func(one read) bool { return one.path[0] == name })
}
