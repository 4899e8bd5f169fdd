package cascades

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/documents"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/validators/expressions"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// variables are the names a template may read.
type variables []string

// The variables of the places where templates stand (LANGUAGE §6, §4).
var (
	phaseVariables = variables{"input", "state", "outputs", "lineage", "history", "turn", "turn_number", "max_turns", "attempt", "validation_error", "schema_error", "output_schema"}
	retryVariables = append(slices.Clone(phaseVariables), "max_attempts")
	loopVariables  = append(slices.Clone(phaseVariables), "max_attempts", "validator", "description")
	checkVariables = append(slices.Clone(phaseVariables[:len(phaseVariables)-1]), "content", "output", "tool")
	judgeVariables = append(slices.Clone(checkVariables), "findings")
)

// Variables are those that a template under a key may read, besides the item of
// each.
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

// maxTemplate bounds a template, in bytes: the places of its variables are
// found one by one.
const maxTemplate = 256 << 10

// template reads a template that must say something; @file.md in its place
// reads the file beside the cascade.
func (p *parser) template(n *yaml.Node, what string, scope variables) *templates.Template {
	if n == nil {
		return nil
	}
	source := p.word(n, what)
	p.halved(n)
	if name, ok := ownFile(source); ok {
		return p.templateFile(n, name, scope)
	}
	return p.compile(n, source, scope, p.inside(n))
}

// halved warns of a text that YAML ends at a # which is hardly meant as a comment.
func (p *parser) halved(n *yaml.Node) {
	n = p.resolve(n)
	if cut := n.LineComment; n.Kind == yaml.ScalarNode && n.Style == 0 && len(cut) > 1 && !strings.ContainsRune(" \t#!", rune(cut[1])) {
		p.warn(n, CodeOtherwise, "in YAML the text ends before %q, which is a comment: quote the text", model.Cut(cut, 40))
	}
}

// braces warns of {name} and ${name} where an input has that name: they stay as they
// are. CrewAI, LangChain and shells put the value there.
func (p *parser) braces(source string, scope variables, at func(line, column int) Position) {
	if len(p.declared) == 0 || !slices.Contains(scope, "input") {
		return
	}
	for _, m := range inBraces().FindAllStringSubmatchIndex(source, -1) {
		name, before := source[m[2]:m[3]], source[:m[0]]
		if !p.declared[name] || strings.HasSuffix(before, "{") || strings.HasPrefix(source[m[1]:], "}") {
			continue
		}
		line := strings.Count(before, "\n") + 1
		column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
		p.note(Warning, at(line, column), CodeOtherwise, "template: %s stays as it is: write {{ input.%s }} for the input", source[m[0]:m[1]], name)
	}
}

var inBraces = patterns.Lazy(`\$?\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// ownFile is the file that a template stands in, where it is not written out. With
// blanks in it a name must end as files do: else it is a text that begins so.
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
	source = documents.Unmarked(source)
	switch {
	case err != nil:
		p.report(n, CodeFile, "%v", err)
	case !utf8.Valid(source):
		p.report(n, CodeFile, "%s is not UTF-8 text", file)
	case len(bytes.TrimSpace(source)) == 0:
		p.report(n, CodeFile, "%s is empty", file)
	default:
		p.foreign, p.foreignFile = strings.Split(string(source), "\n"), file
		return p.compile(n, string(source), scope, func(line, column int) Position { return Position{file, line, column} })
	}
	return nil
}

// compile parses a template and checks the variables it reads. The place of a
// line and column of the source is asked for only where there is something to
// report.
func (p *parser) compile(n *yaml.Node, source string, scope variables, at func(line, column int) Position) *templates.Template {
	if len(source) > maxTemplate {
		p.report(n, CodeTooLarge, "a template of %d bytes; one may have %d", len(source), maxTemplate)
		return nil
	}
	t, err := p.known.Memo.template(source)
	if first, ok := errors.AsType[*templates.Error](err); ok {
		for _, e := range append([]*templates.Error{first}, first.Further...) {
			p.reportAt(at(e.Line, e.Column), CodeTemplate, "template: %s", e.Message)
			p.suggest(e.Word, func() []string { return []string{e.Suggestion} })
		}
	}
	if t == nil {
		return nil
	}
	p.braces(source, scope, at)
	for _, name := range t.Names() {
		root := name.Path[0]
		for i := 3; root == "outputs" && i <= len(name.Path); i++ { // outputs.a.b.c reads b of a, and c of that
			p.fieldReads = append(p.fieldReads, fieldRead{name.Path[1], name.Path[2:i], func() Position { return p.past(at(name.Line, name.Column), name.Path[:i-1]) }})
		}
		switch {
		case p.full():
			return nil
		case name.Guarded && root == "outputs" && len(name.Path) > 1:
			p.uses = append(p.uses, use{name.Path[1], p.reading, true, func() Position { return at(name.Line, name.Column) }})
		case root == "input" && len(name.Path) > 1 && slices.Contains(scope, root): // guarded or not: nobody can give it
			p.checkDeclared(name.Path[1], func() Position { return at(name.Line, name.Column) })
		case name.Guarded:
		case root == "state" && len(name.Path) > 1 && slices.Contains(scope, root):
			p.stateReads = append(p.stateReads, stateRead{name.Path[1], func() Position { return at(name.Line, name.Column) }})
		case !slices.Contains(scope, root) && !slices.Contains(p.locals, root):
			p.reportAt(at(name.Line, name.Column), CodeVariable, "template: no variable is called %q here; %s", root, inPlaceOf(root, slices.Concat(scope, p.locals)))
			p.suggest(root, func() []string { return slices.Concat(scope, p.locals) })
			p.bare(root, scope)
		case root == "outputs" && len(name.Path) > 1:
			p.uses = append(p.uses, use{name.Path[1], p.reading, false, func() Position { return at(name.Line, name.Column) }})
		}
	}
	return t
}

// bare suggests where to read a variable that is an input's name, or a phase's.
func (p *parser) bare(name string, scope variables) {
	_, phase := p.lineOf[name]
	switch {
	case p.declared[name] && slices.Contains(scope, "input"):
		p.meant("input."+name, false)
	case phase && slices.Contains(scope, "outputs"):
		p.meant("outputs."+name, false)
	default:
		return
	}
	p.fix(name)
}

// checkDeclared warns of an input that is read and not declared, in a file that
// declares its inputs.
func (p *parser) checkDeclared(name string, at func() Position) {
	if len(p.declared) > 0 && !p.declared[name] {
		p.note(Warning, at(), CodeUndeclared, "template: inputs_schema has no %q", name)
		p.suggest(name, func() []string { return slices.Sorted(maps.Keys(p.declared)) })
	}
}

// A use is an output that a template or an expression reads, to be checked when
// all phases are known.
type use struct {
	phase  string
	by     string // the phase that reads it
	spared bool   // it does without it: there may be no such phase
	at     func() Position
}

// templated reads a text among values: a plain variable stands for its value,
// a text with template marks is rendered, any other is itself.
func (p *parser) templated(n *yaml.Node, scope variables) any {
	if !strings.Contains(n.Value, "{{") && !strings.Contains(n.Value, "{%") && !strings.Contains(n.Value, "{#") {
		return n.Value
	}
	t := p.compile(n, n.Value, scope, p.inside(n))
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
		if source = p.word(n, what); source == "" {
			return nil
		}
	}
	e, err := p.known.Memo.expression(source, p.locals)
	if err != nil {
		p.mistaken(n, what, err)
		return nil
	}
	for _, f := range p.fieldsOf(n, e) {
		if f.path[0] == "outputs" && len(f.path) > 2 {
			p.fieldReads = append(p.fieldReads, fieldRead{f.path[1], f.path[2:], f.at})
		}
	}
	for _, name := range e.Reads() {
		p.uses = append(p.uses, use{name, p.reading, true, func() Position { return p.position(n) }})
	}
	return e
}

// mistaken reports all that is wrong with an expression.
func (p *parser) mistaken(n *yaml.Node, what string, err error) {
	var first *expressions.Error
	if !errors.As(err, &first) {
		p.report(n, CodeExpression, "%s: %v", what, err)
		return
	}
	at := p.inside(n)
	for _, one := range append([]*expressions.Error{first}, first.Further...) {
		place := at(one.Line, one.Column)
		if phase := p.subtracted(place); one.Word != "" && phase != "" {
			p.reportAt(place, CodeExpression, "%s: - subtracts: write outputs['%s']", what, phase)
			continue
		}
		p.reportAt(place, CodeExpression, "%s: %s", what, one.Message)
		p.suggest(one.Word, func() []string {
			return slices.Concat(expressions.Variables(), expressions.Functions(), p.locals, []string{"==", "and", "or", "not", "true", "false", "nil"})
		})
	}
}

// subtracted is the phase of whose output the name at a place is a part, where its
// own name has a hyphen and stands behind a dot; "" for none.
func (p *parser) subtracted(at Position) (phase string) {
	line := p.lineOfFile(at)
	before := line[:len(line)-len(p.behind(at))]
	if i := strings.LastIndex(before, "outputs."); i >= 0 && strings.HasSuffix(before, "-") {
		begin := i + len("outputs.")
		for name := range p.lineOf {
			if len(name) > max(len(before)-begin, len(phase)) && strings.HasPrefix(line[begin:], name) {
				phase = name
			}
		}
	}
	return phase
}

// past is the place behind names that are written with dots between them.
func (p *parser) past(at Position, names []string) Position {
	rest := []rune(p.lineOfFile(at))
	if before := strings.Join(names, ".") + "."; at.Column <= len(rest) && strings.HasPrefix(string(rest[at.Column-1:]), before) {
		at.Column += utf8.RuneCountInString(before)
	}
	return at
}

// fieldsOf are the fields that an expression reads, with their places.
func (p *parser) fieldsOf(n *yaml.Node, e *expressions.Expression) []fieldRead {
	var list []fieldRead
	for _, f := range e.Fields() {
		list = append(list, fieldRead{path: f.Path, at: func() Position { return p.inside(n)(f.Line, f.Column) }})
	}
	return list
}
