// Package jinja is the language of templates: Jinja2 3.1 with its default
// settings and StrictUndefined, on plain data. It supports the part of the
// language that a cascade may use.
//
// [Parse] turns a source into a [Program]. [Program.Render] turns a program and
// variables into a text. The files are:
//
//   - lexer.go splits the source as Jinja2's own lexer does.
//   - parser.go, postfix.go and literals.go (expressions) and blocks.go (tags) follow Jinja2's grammar rule by rule.
//   - scopes.go decides at parse time where each variable lives, as Jinja2 does. resolver.go collects the variables of the caller ([Program.Names]), so that lint reports a variable that is never set.
//   - render.go, loops.go and macros.go run the statements.
//   - values.go, numbers.go, comparisons.go, dicts.go, members.go and text.go are Python's values: truth, order, equality, repr.
//   - methods*.go and formats*.go are the methods of those values.
//   - library.go lists the functions that a template can call. Begin there to add a filter.
//
// The package does not use pongo2, which implements Django's language: a
// Windlass cascade would silently render another text. An unsupported construct
// is an error of [Parse] and never renders a different text. A template also
// fails where Jinja2 would print an address or return a function that changes a
// value.
//
// Each operation charges for its input and output (render.charge); nothing
// measures time. The same template with the same values always ends in the same
// way, after about a second at most. A range has at most 100,000 elements.
// Blocks, brackets, values and macro calls nest at most 100 deep.
//
// Values are plain data as in JSON. Maps are read in the order of their keys.
// An int is a Python int of any size, and a float64 is a Python float. Decode
// JSON with UseNumber, so that integers stay integers.
//
// A template has no access to files, the clock, random numbers, Go methods or
// fields. Inside the package, a failure is a panic (error.go), which Parse and
// Render recover. testdata/jinja.json has the output of Jinja2 for the
// templates there.
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

// A Name is a place at which a template reads a variable of Render's vars.
type Name struct {
	// Path is the variable and the attributes read from it, as far as the
	// source shows them. {{ outputs.draft.title }} is outputs, draft, title. {{
	// outputs[which] }} is outputs.
	Path []string
	// Line and Column are the place of the variable.
	Line, Column int
	// Guarded is true if the template handles a missing last element of Path:
	// with default(…), is defined or is undefined. It is also true under a
	// condition that tests the path, its beginning or a longer path in this
	// way.
	Guarded bool
	// Spared is the number of elements at the end of Path that may be missing.
	// {{ input.a.b|default(1) }} spares b, and fails without input.a.
	Spared int
}

// Parse compiles a template. Its error is an *Error for the first mistake, with
// the further mistakes that Parse could find. If only single {{ }} are wrong,
// Parse returns a program and an error. That program has its Names and must not
// be rendered.
func Parse(source string) (_ *Program, err error) {
	t := &Program{source: normalized(source)}
	l := lexer{source: t.source}
	if l.nextOpening() < 0 {
		return t, nil
	}
	p := &parser{lexer: l, library: standard()}
	defer func() {
		if mistake := p.found.error(t.source); mistake != nil {
			err, t.mistake = mistake, mistake
		}
	}()
	defer catch(t.source, &p.pos, &err)
	var statements body
	if !p.found.record(func() { statements = p.body() }) {
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

// Render executes the program on plain values: maps with string keys, slices,
// strings, booleans, numbers, json.Number and nil, nested without restriction.
// It neither retains nor changes vars. Text from vars is never parsed as a
// template. Its error is an *Error.
//
// carry walks the blocks of the whole program, see [Walk]. Render does not call
// carry if [Program.Outline] has no blocks.
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

// Names lists the variables that the template reads from Render's vars, in
// source order. Variables of loops and of set, and functions such as range, are
// not included. A variable that is read twice is listed twice.
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

// Reads reports whether the template reads the variable from Render's vars.
func (p *Program) Reads(name string) bool {
	return slices.ContainsFunc(p.reads, func(one read) bool { return one.path[0] == name })
}
