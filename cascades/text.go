package cascades

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/expressions"
	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/templates"
)

// variables are the names that a template may read.
type variables []string

// The variables of the templates in a phase; see docs/reference/templates.md.
var (
	phaseVariables = variables{"input", "state", "outputs", "lineage", "history", "turn", "turn_number", "max_turns", "attempt", "validation_error", "schema_error", "output_schema"}
	retryVariables = append(slices.Clone(phaseVariables), "max_attempts")
	loopVariables  = append(slices.Clone(phaseVariables), "max_attempts", "validator", "description")
	checkVariables = append(slices.Clone(phaseVariables[:len(phaseVariables)-1]), "content", "output", "tool")
	judgeVariables = append(slices.Clone(checkVariables), "findings")
)

// Variables returns the variables of the template under a key. It omits the item of each.
func Variables(key string) []string {
	switch key {
	case "loop_until_prompt":
		return slices.Clone(loopVariables)
	case "retry_instructions":
		return slices.Clone(retryVariables)
	case "judge":
		return slices.Clone(judgeVariables)
	case "prompt":
		return slices.Clone(checkVariables)
	}
	return slices.Clone(phaseVariables)
}

// maxTemplate is the maximum size of a template in bytes.
const maxTemplate = 256 << 10

// template reads a template, which must not be empty. @file.md means the text of that file.
func (p *parser) template(n *yaml.Node, what string, scope variables) *templates.Template {
	if n == nil {
		return nil
	}
	source := p.Word(n, what)
	p.CheckComment(n)
	if name, ok := ownFile(source); ok {
		return p.templateFile(n, name, scope)
	}
	return p.compile(n, source, scope, p.Inside(n))
}

// ownFile returns the file of a template that begins with @. If the name contains a blank, it
// must have a file ending; otherwise the template is a text that begins with @.
func ownFile(source string) (name string, ok bool) {
	name, ok = strings.CutPrefix(strings.TrimSpace(source), "@")
	if !ok || name == "" || strings.ContainsAny(name, "{}\t\n") {
		return "", false
	}
	return name, !strings.Contains(name, " ") || fileEnding().MatchString(name)
}

var fileEnding = patterns.Lazy(`\.[A-Za-z]+$`)

func (p *parser) templateFile(n *yaml.Node, name string, scope variables) *templates.Template {
	file := p.beside(name)
	source, err := p.readFile(file)
	source = syntax.Unmarked(source)
	switch {
	case err != nil:
		p.Error(n, codes.File, "%v", err)
	case !utf8.Valid(source):
		p.Error(n, codes.File, "%s is not UTF-8 text", file)
	case len(bytes.TrimSpace(source)) == 0:
		p.Error(n, codes.File, "%s is empty", file)
	default:
		p.AddTemplate(syntax.New(file, source))
		return p.compile(n, string(source), scope, func(line, column int) syntax.Position { return syntax.Position{File: file, Line: line, Column: column} })
	}
	return nil
}

// compile parses a template and records the variables that it reads. at maps a line and a
// column of the source to a position.
func (p *parser) compile(n *yaml.Node, source string, scope variables, at func(line, column int) syntax.Position) *templates.Template {
	if len(source) > maxTemplate {
		p.Error(n, codes.TooLarge, "the template has %d bytes, and the limit is %d", len(source), maxTemplate)
		return nil
	}
	t, err := p.known.Cache.template(source)
	if first, ok := errors.AsType[*templates.Error](err); ok {
		for _, e := range append([]*templates.Error{first}, first.Further...) {
			p.ErrorAt(at(e.Line, e.Column), codes.Template, "template: %s", e.Message)
			p.Suggest(e.Word, func() []string { return []string{e.Suggestion} })
		}
	}
	if t == nil {
		return nil
	}
	if slices.Contains(scope, "input") {
		p.facts.Templates = append(p.facts.Templates, checks.Template{Source: source, At: at})
	}
	for _, name := range t.Names() {
		root := name.Path[0]
		for i := 3; root == "outputs" && i <= len(name.Path); i++ { // outputs.a.b.c reads the field b of a, and the field c of b
			p.facts.Fields = append(p.facts.Fields, checks.Field{Phase: name.Path[1], Path: name.Path[2:i], At: func() syntax.Position { return p.past(at(name.Line, name.Column), name.Path[:i-1]) }})
		}
		switch {
		case p.Full():
			return nil
		case name.Guarded && root == "outputs" && len(name.Path) > 1:
			p.facts.Outputs = append(p.facts.Outputs, checks.Output{Phase: name.Path[1], Reader: p.reading, Guarded: true, At: func() syntax.Position { return at(name.Line, name.Column) }})
		case root == "input" && len(name.Path) > 1 && slices.Contains(scope, root): // also if guarded: nobody can pass it
			p.facts.InputReads = append(p.facts.InputReads, checks.InputRead{Name: name.Path[1], At: func() syntax.Position { return at(name.Line, name.Column) }})
		case name.Guarded:
		case root == "state" && len(name.Path) > 1 && slices.Contains(scope, root):
			p.facts.State = append(p.facts.State, checks.StateRead{Key: name.Path[1], At: func() syntax.Position { return at(name.Line, name.Column) }})
		case !slices.Contains(scope, root) && !slices.Contains(p.locals, root):
			p.facts.Variables = append(p.facts.Variables, checks.Variable{Name: root, Known: slices.Concat(scope, p.locals), At: at(name.Line, name.Column)})
		case root == "outputs" && len(name.Path) > 1:
			p.facts.Outputs = append(p.facts.Outputs, checks.Output{Phase: name.Path[1], Reader: p.reading, At: func() syntax.Position { return at(name.Line, name.Column) }})
		}
	}
	return t
}

// templated reads a text in a value. The result is a variable, a template or a text.
func (p *parser) templated(n *yaml.Node, scope variables) any {
	if !strings.Contains(n.Value, "{{") && !strings.Contains(n.Value, "{%") && !strings.Contains(n.Value, "{#") {
		return n.Value
	}
	t := p.compile(n, n.Value, scope, p.Inside(n))
	if t == nil {
		return unread{}
	}
	if m := plainVariable().FindStringSubmatch(strings.TrimSpace(n.Value)); m != nil {
		return Reference{strings.Split(m[1], "."), n.Value}
	}
	return valueTemplate{t}
}

// expression reads an expression.
func (p *parser) expression(n *yaml.Node, what string) *expressions.Expression {
	if n == nil {
		return nil
	}
	source := strings.ToLower(n.Value)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		if source = p.Word(n, what); source == "" {
			return nil
		}
	}
	e, err := p.known.Cache.expression(source, p.locals)
	if err != nil {
		p.mistaken(n, what, err)
		return nil
	}
	for _, f := range p.fieldsOf(n, e) {
		if f.Path[0] == "outputs" && len(f.Path) > 2 {
			p.facts.Fields = append(p.facts.Fields, checks.Field{Phase: f.Path[1], Path: f.Path[2:], At: f.At})
		}
	}
	for _, name := range e.Reads() {
		p.facts.Outputs = append(p.facts.Outputs, checks.Output{Phase: name, Reader: p.reading, Guarded: true, At: func() syntax.Position { return p.Position(n) }})
	}
	return e
}

// mistaken reports all errors of an expression.
func (p *parser) mistaken(n *yaml.Node, what string, err error) {
	var first *expressions.Error
	if !errors.As(err, &first) {
		p.Error(n, codes.Expression, "%s: %v", what, err)
		return
	}
	at := p.Inside(n)
	for _, one := range append([]*expressions.Error{first}, first.Further...) {
		place := at(one.Line, one.Column)
		if phase := p.subtracted(place); one.Word != "" && phase != "" {
			p.ErrorAt(place, codes.Expression, "%s: - subtracts: write outputs['%s']", what, phase)
			continue
		}
		p.ErrorAt(place, codes.Expression, "%s: %s", what, one.Message)
		p.Suggest(one.Word, func() []string {
			return slices.Concat(expressions.Variables(), expressions.Functions(), p.locals, []string{"==", "and", "or", "not", "true", "false", "nil"})
		})
	}
}

// subtracted returns the phase whose name contains a hyphen, if an expression reads its output
// with a dot: outputs.my-phase. The hyphen must be directly before the position. It returns ""
// for other expressions.
func (p *parser) subtracted(at syntax.Position) (phase string) {
	line := p.Line(at)
	before := line[:len(line)-len(p.Rest(at))]
	if i := strings.LastIndex(before, "outputs."); i >= 0 && strings.HasSuffix(before, "-") {
		begin := i + len("outputs.")
		for name := range p.facts.Lines {
			if len(name) > max(len(before)-begin, len(phase)) && strings.HasPrefix(line[begin:], name) {
				phase = name
			}
		}
	}
	return phase
}

// past returns the position after names in the file, if each name has a dot after it. For
// other text, it returns at.
func (p *parser) past(at syntax.Position, names []string) syntax.Position {
	rest := []rune(p.Line(at))
	if before := strings.Join(names, ".") + "."; at.Column <= len(rest) && strings.HasPrefix(string(rest[at.Column-1:]), before) {
		at.Column += utf8.RuneCountInString(before)
	}
	return at
}

// fieldsOf returns the fields that an expression reads, with their positions.
func (p *parser) fieldsOf(n *yaml.Node, e *expressions.Expression) []checks.Field {
	var list []checks.Field
	for _, f := range e.Fields() {
		list = append(list, checks.Field{Path: f.Path, At: func() syntax.Position { return p.Inside(n)(f.Line, f.Column) }})
	}
	return list
}

// Values maps names to values. The texts in the values may be templates.
type Values map[string]any

// A valueTemplate is a template in [Values].
type valueTemplate struct{ *templates.Template }

// An unread replaces a text whose template has an error.
type unread struct{}

// A Reference is a text in [Values] that consists of one variable, such as outputs.plan.items.
// It has the value of the variable, which need not be a text.
type Reference struct {
	Path []string
	text string
}

var plainVariable = patterns.Lazy(`^\{\{-?\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*-?\}\}$`)

// Static reports whether the values do not read any variables.
func (v Values) Static() bool { return static(map[string]any(v)) }

func static(value any) bool {
	return !jsonvalue.Some(value, func(leaf any) bool {
		switch leaf.(type) {
		case valueTemplate, Reference, unread:
			return true
		}
		return false
	})
}

// Reads reports whether the values read a variable.
func (v Values) Reads(name string) bool {
	return jsonvalue.Some(map[string]any(v), func(leaf any) bool {
		switch leaf := leaf.(type) {
		case valueTemplate:
			return leaf.Reads(name)
		case Reference:
			return leaf.Path[0] == name
		}
		return false
	})
}

// Names returns the variables that the values read.
func (v Values) Names() (names []templates.Name) {
	jsonvalue.Some(map[string]any(v), func(leaf any) bool {
		switch leaf := leaf.(type) {
		case valueTemplate:
			names = append(names, leaf.Names()...)
		case Reference:
			names = append(names, templates.Name{Path: leaf.Path})
		}
		return false
	})
	return names
}

// A valueError is an error of one of the values.
type valueError struct {
	name   string
	listed bool // name is an index, counted from 0
	err    error
}

// Error returns the names of the path to the value, without indexes, and the error.
func (e *valueError) Error() string {
	if e.listed {
		return e.err.Error()
	}
	return e.name + ": " + e.err.Error()
}

// Unwrap returns the error of the value.
func (e *valueError) Unwrap() error { return e.err }

// Render returns the values after it has rendered their templates and references.
func (v Values) Render(vars map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(v))
	for name, value := range v {
		plain, err := render(value, vars)
		if err != nil {
			return nil, &valueError{name, false, err}
		}
		out[name] = plain
	}
	return out, nil
}

func render(value any, vars map[string]any) (any, error) {
	switch value := value.(type) {
	case valueTemplate:
		return value.Render(vars)
	case Reference:
		return value.lookup(vars)
	case []any:
		out := make([]any, len(value))
		for i, e := range value {
			plain, err := render(e, vars)
			if err != nil {
				return nil, &valueError{strconv.Itoa(i), true, err}
			}
			out[i] = plain
		}
		return out, nil
	case map[string]any:
		return Values(value).Render(vars)
	default:
		return value, nil
	}
}

func (r Reference) lookup(vars map[string]any) (any, error) {
	var at any = vars
	for i, name := range r.Path {
		object, ok := at.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: %s has no field %s", r.text, strings.Join(r.Path[:i], "."), name)
		}
		if at, ok = object[name]; !ok {
			return nil, fmt.Errorf("%s: %s is undefined", r.text, strings.Join(r.Path[:i+1], "."))
		}
	}
	if whole, is := at.(map[string]any); is && len(r.Path) == 1 {
		return maps.Clone(whole), nil // the run may change the result
	}
	return at, nil
}

// values reads named values whose texts may be templates.
func (p *parser) values(o *reader.Object, scope variables) Values {
	if o == nil {
		return nil
	}
	out := Values{}
	for _, key := range o.Order {
		out[key] = p.Plain(o.Value[key], func(n *yaml.Node) any { return p.templated(n, scope) })
	}
	return out
}
