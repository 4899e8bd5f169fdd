// Package expressions answers questions that an author writes in place, in the
// language of expr-lang: [Parse] reads one and checks its types, [Expression.Eval]
// answers true or false of a subject, [Expression.Check] is the validator that a
// ward's expr: makes. Where one cannot say, it is an [Error] with its place.
//
// An expression is read by the library, and then rewritten before it is compiled,
// for two reasons. The library bounds neither time nor memory, so what costs goes
// through a meter (meter.go) that spends one budget, and functions whose result is
// larger than their operands are ours (functions.go, matches.go); and its numbers
// are float64, so what compares or computes does it by the digits (numbers.go). A
// question about each piece of a split text is made a Go function afterwards, which
// pays the same and has no calls to make arguments for (sweep.go, asking.go). What a
// no saw is computed again, part by part (values.go). Nothing that an expression can
// call looks at a clock, at chance or at the order of a map.
//
// Begin with expression.go.
package expressions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

// An Expression is a question about a subject, in expr-lang, answered by true
// or false (LANGUAGE §9). It is safe for concurrent use.
//
// It sees content (a string), output (the parsed JSON; where nothing has been
// parsed, what can be taken out of content, else nil), input, state and
// outputs (maps), turn and attempt (integers). len, indexes and slices
// count characters in a string. A key that is missing is nil: comparing nil is fine, a field of nil
// is an error; ?. and ?? guard. Held against "" by == or !=, nil counts as
// empty. Nothing it can call looks at a clock, at chance or at the order of a
// map.
//
// Numbers compare by the decimal digits that they are written with, however many
// there are. What computes with one that int and float64 have no room for is an
// error, and so is an integer that would wrap around.
//
// The work of one evaluation is bounded, not the length of the text: reading,
// building and matching text and going round in a loop are all paid for from
// one budget, that lasts for a few plain questions about a text of 100 MB and
// for some seconds at worst. Spent, it is an error, never a false.
type Expression struct {
	source  string
	locals  []string
	program *vm.Program
	parses  bool // it mentions output
	looks   bool // it mentions content
	reads   []string
	fields  []Field
}

// A Field is a way through what an expression sees that it reads, as far as names
// lead: output.title, outputs.draft.title.
type Field struct {
	Path         []string
	Line, Column int // of the last name, as [Error] has them
}

// An Error says where an expression is wrong, or where it broke.
type Error struct {
	Line, Column int // from 1, the column in characters
	Message      string
	Word         string // the name or sign that is not known, where it is that

	Further []*Error // of Parse: the other mistakes, where they can be told from the first
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("expression: line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Failure is why a check could not say, of the text that a host keeps of it: an
// [*Error] where it is one's, else an error of that text.
func Failure(text string) error {
	e := &Error{}
	if n, _ := fmt.Sscanf(text, "expression: line %d, column %d:", &e.Line, &e.Column); n == 2 {
		e.Message = strings.TrimPrefix(text, fmt.Sprintf("expression: line %d, column %d: ", e.Line, e.Column))
		return e
	}
	return errors.New(text)
}

// maxExpression bounds an expression's source, in bytes: the parser recurses.
const maxExpression = 16 << 10

// scope is what an expression sees.
type scope struct {
	Content string         `expr:"content"`
	Output  any            `expr:"output"`
	Input   map[string]any `expr:"input"`
	State   map[string]any `expr:"state"`
	Outputs map[string]any `expr:"outputs"`
	Turn    int            `expr:"turn"`
	Attempt int            `expr:"attempt"`
	Tool    string         `expr:"tool"`
	Locals  map[string]any `expr:" locals"`
	Meter   meter          `expr:" meter"` // no identifier has a blank in it
}

// language is a copy of the configuration that all expressions share. The
// library keeps what it finds out of a type with the type, which is shared too:
// so one expression at a time is read or compiled.
func language() *conf.Config {
	own := *sharedLanguage()
	return &own
}

var oneAtATime sync.Mutex

// parse reads an expression.
func parse(source string, config *conf.Config) (*parser.Tree, error) {
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	return parser.ParseWithConfig(source, config)
}

var sharedLanguage = sync.OnceValue(func() *conf.Config {
	config := conf.New(scope{})
	config.Expect, config.ExpectAny, config.Optimize = reflect.Bool, true, false
	config.Functions = functionTable()
	return config
})

// Parse compiles an expression and checks its types. Beside what every
// expression sees it may read the locals named, of a subject's Locals. The error
// is an [*Error].
func Parse(source string, locals ...string) (e *Expression, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, err = nil, located(fmt.Errorf("%v", r))
		}
	}()
	if len(source) > maxExpression {
		return nil, located(fmt.Errorf("longer than %d bytes", maxExpression))
	}
	config := language()
	tree, err := parse(source, config)
	if err != nil {
		syntax := located(err).(*Error)
		if told, word := usual(source, err.Error()); told != "" {
			syntax.Message, syntax.Word = told, word
		}
		return nil, syntax
	}
	program, found, err := compiled(tree, config, locals)
	if err != nil {
		first := located(err).(*Error)
		first.Further = further(source, locals)
		return nil, first
	}
	return &Expression{source, locals, program, found.output, found.content, found.reads, found.fields}, nil
}

// compiled checks a tree, which it changes, and makes a program of it that pays
// for what it does.
func compiled(tree *parser.Tree, config *conf.Config, locals []string) (*vm.Program, *inspection, error) {
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	found, err := paid(tree, config, locals)
	if err != nil {
		return nil, nil, err
	}
	ast.Walk(&tree.Node, sweeping{tree.Source})
	config.Expect = reflect.Invalid // a result of type any is checked when it is there
	if _, err := checker.Check(tree, config); err != nil {
		return nil, nil, err
	}
	program, err := compiler.Compile(tree, config)
	return program, found, err
}

// paid checks a tree and has it pay for what it does.
func paid(tree *parser.Tree, config *conf.Config, locals []string) (*inspection, error) {
	if err := readLocals(tree, locals); err != nil {
		return nil, err
	}
	found, err := inspect(tree)
	if err != nil {
		return nil, err
	}
	if _, err := checker.Check(tree, config); err != nil {
		return nil, err
	}
	ast.Walk(&tree.Node, metering{found.nodes})
	return found, nil
}

// readLocals has the names of locals read from the subject's Locals.
func readLocals(tree *parser.Tree, names []string) error {
	if len(names) == 0 {
		return nil
	}
	v := &localNames{names: names}
	ast.Walk(&tree.Node, v)
	return v.err
}

type localNames struct {
	names []string
	err   error
}

// Visit implements ast.Visitor.
func (v *localNames) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.VariableDeclaratorNode:
		if slices.Contains(v.names, n.Name) {
			v.err = fmt.Errorf("let cannot name %s: it is the item's here", n.Name)
		}
	case *ast.IdentifierNode:
		if slices.Contains(v.names, n.Value) {
			ast.Patch(node, &ast.MemberNode{Node: &ast.IdentifierNode{Value: " locals"}, Property: &ast.StringNode{Value: n.Value}})
		}
	}
}

// Reads are the phases whose outputs the expression names, as outputs.NAME or
// outputs["NAME"].
func (e *Expression) Reads() []string { return e.reads }

// Variables are what every expression sees.
func Variables() []string {
	return []string{"content", "output", "input", "state", "outputs", "turn", "attempt", "tool"}
}

// Functions are what every expression may call, sorted.
func Functions() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(functions)), maps.Keys(builtins))
	slices.Sort(names)
	return slices.Compact(names)
}

// Judges tells whether the expression looks at the text, or at its JSON.
func (e *Expression) Judges() bool { return e.looks || e.parses }

// Fields are the ways that the expression reads, each with its beginnings.
func (e *Expression) Fields() []Field { return e.fields }

// String is the expression's source.
func (e *Expression) String() string { return e.source }

// Eval answers the expression for a subject. An error, an [*Error],
// says that there is no answer: a nil where there must be a value, a result
// that is not a boolean, too much work.
func (e *Expression) Eval(s validators.Subject) (answer bool, err error) { return e.EvalUntil(nil, s) }

// EvalUntil is [Expression.Eval] that asks now and then whether to go on, as
// [schema.Schema.Check] does.
func (e *Expression) EvalUntil(stop schema.Stop, s validators.Subject) (answer bool, err error) {
	answer, _, err = e.answer(stop, s)
	return answer, err
}

// answer also gives what the expression saw.
func (e *Expression) answer(stop schema.Stop, s validators.Subject) (answer bool, saw scope, err error) {
	defer func() {
		if r := recover(); r != nil {
			answer, err = false, located(fmt.Errorf("%v", r))
		}
	}()
	saw, err = e.scope(stop, s)
	if err != nil {
		return false, saw, err
	}
	result, err := vm.Run(e.program, saw)
	if err != nil {
		return false, saw, located(err)
	}
	answer, ok := result.(bool)
	if !ok {
		return false, saw, located(fmt.Errorf("the result must be true or false, not %s", kindOf(result)))
	}
	return answer, saw, nil
}

func (e *Expression) scope(stop schema.Stop, s validators.Subject) (scope, error) {
	output := s.Output
	if output == nil && e.parses {
		v, broken, err := schema.Extract(stop, s.Content, nil)
		if errors.Is(err, schema.ErrUntold) {
			return scope{}, err
		}
		if err == nil && len(broken) == 0 {
			output = v
		}
	}
	return scope{s.Content, output, s.Input, s.State, s.Outputs, s.Turn, s.Attempt, s.Tool, s.Locals, newMeter(stop)}, nil
}

// Check is the check that the expression is true. The reason is what a false
// says; empty, it quotes the expression and tells the values it saw:
// "len(content) >= 500: len(content) is 312".
func (e *Expression) Check(reason string) validators.Check {
	return func(ctx context.Context, s validators.Subject) (validators.Verdict, error) {
		valid, saw, err := e.answer(ctx.Err, s)
		switch {
		case err != nil:
			return validators.Verdict{}, err
		case valid:
			return validators.Verdict{Valid: true, Reason: e.source}, nil
		case reason != "":
			return validators.Fail("%s", reason), nil
		}
		saw.Meter = newMeter(ctx.Err)
		return validators.Fail("%s", e.why(saw)), nil
	}
}

// why is the reason of a false that was given none.
func (e *Expression) why(saw scope) string {
	if told := e.values(saw); len(told) > 0 {
		return strings.TrimSpace(e.source) + ": " + strings.Join(told, ", ")
	}
	return "this must be true and is not: " + e.source
}

// located turns an error of the expression library into ours.
func located(err error) error {
	out := &Error{Line: 1, Column: 1}
	message := err.Error()
	var at *file.Error
	for errors.As(err, &at) { // the innermost knows best
		err = at.Prev
		out.Line, out.Column, message = max(at.Line, 1), at.Column+1, at.Message
	}
	message, _, _ = strings.Cut(message, "\n") // a stack may follow
	out.Message = plainWords(message)
	if name, ok := strings.CutPrefix(message, "unknown name "); ok {
		out.Word, _, _ = strings.Cut(name, " ")
	} else if told, _ := usual("", message); told != "" {
		out.Message = told
	}
	return out
}

// plainWords says in an author's words what Go says of a wrong dynamic type, or of a
// number that it has no room for.
func plainWords(message string) string {
	if rest, ok := strings.CutPrefix(message, "interface conversion: interface {} is "); ok {
		if got, want, ok := strings.Cut(rest, ", not "); ok {
			message = "got " + got + ", want " + want
		}
	}
	if rest, ok := strings.CutPrefix(message, `invalid integer literal: strconv.ParseInt: parsing "`); ok {
		if digits, ok := strings.CutSuffix(rest, `": value out of range`); ok {
			return "the number " + digits + ` has more than 64 bits: write fromJSON("` + digits + `")`
		}
	}
	message = strings.ReplaceAll(message, "<nil>", "nil")
	return strings.ReplaceAll(message, "interface {}", "any")
}
