// Package expressions implements conditions in the language of expr-lang. [Parse] parses a
// condition and checks its types. [Expression.Eval] evaluates it for a subject.
// [Expression.Check] is the validator of a ward's expr: key. Errors are of the type [Error] and
// have a position.
//
// The library parses an expression, and this package rewrites the tree before it is compiled, for
// two reasons:
//
//   - The library limits neither time nor memory. Expensive operations therefore pay a meter (meter.go) from one budget. Functions with a result larger than their operands are replaced (functions.go, matches.go).
//   - The library's numbers are float64. Comparisons and calculations are replaced by exact ones (numbers.go).
//
// If an expression is false, values.go evaluates its parts again for the reason. A result never
// depends on the clock, random numbers or the order of a map.
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

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/validators"
)

// An Expression is a condition on a subject in the language of expr-lang (LANGUAGE §9). It is
// safe for concurrent use.
//
// The variables are content (a string), output (the parsed JSON), input, state and outputs
// (maps), turn and attempt (integers). If the subject has no parsed JSON, output is the JSON
// found in content, or nil. len, indexes and slices count characters of a string.
//
// A missing key is nil. Comparing nil is valid, and a field of nil is an error; ?. and ?? guard.
// If == or != compare nil with "", nil counts as empty. A result never depends on the clock,
// random numbers or the order of a map.
//
// Comparisons of numbers use every decimal digit. A calculation with a number beyond int and
// float64 is an error, and an integer overflow is also an error.
//
// The work of one evaluation is limited, not the length of the text. Reading, building and
// matching text and the iterations of a loop share one budget. The budget is enough for a few
// simple conditions on a text of 100 MB, and lasts some seconds at most. An exhausted budget is
// an error and never false.
type Expression struct {
	source  string
	locals  []string
	program *vm.Program
	parses  bool // it mentions output
	looks   bool // it mentions content
	reads   []string
	fields  []Field
}

// A Field is the part of a path that consists of names, such as output.title or
// outputs.draft.title. The expression reads it.
type Field struct {
	Path         []string
	Line, Column int // of the last name, in the units of [Error]
}

// An Error is a mistake in an expression, or a failure during its evaluation,
// with the place.
type Error struct {
	Line, Column int // from 1, the column in characters
	Message      string
	Word         string // the unknown name or sign, if there is one

	Further []*Error // of Parse: the other mistakes, if they can be found despite the first
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("expression: line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Failure returns the error of a check from its stored text. If the text is that of an [*Error],
// the result is an [*Error] too; otherwise it is a plain error.
func Failure(text string) error {
	e := &Error{}
	if n, _ := fmt.Sscanf(text, "expression: line %d, column %d:", &e.Line, &e.Column); n == 2 {
		e.Message = strings.TrimPrefix(text, fmt.Sprintf("expression: line %d, column %d: ", e.Line, e.Column))
		return e
	}
	return errors.New(text)
}

// maxExpression is the maximum size of a source in bytes, because the parser
// recurses.
const maxExpression = 16 << 10

// scope has the variables of an expression.
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
	Meter   meter          `expr:" meter"` // no identifier contains a blank
}

// language returns a copy of the configuration that all expressions share. The
// library caches facts about a type in the shared type, so only one expression
// at a time is parsed or compiled.
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

// Parse compiles an expression and checks its types. Besides the common
// variables, the expression may read the named locals, which are keys of the
// subject's Locals. The error is an [*Error].
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
		if hint, word := usual(source, err.Error()); hint != "" {
			syntax.Message, syntax.Word = hint, word
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

// compiled checks a tree, rewrites it and returns its metered program.
func compiled(tree *parser.Tree, config *conf.Config, locals []string) (*vm.Program, *inspection, error) {
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	found, err := paid(tree, config, locals)
	if err != nil {
		return nil, nil, err
	}
	config.Expect = reflect.Invalid // a result of type any is checked after the evaluation
	if _, err := checker.Check(tree, config); err != nil {
		return nil, nil, err
	}
	program, err := compiler.Compile(tree, config)
	return program, found, err
}

// paid checks a tree and adds the meter.
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

// Reads returns the phases whose outputs the expression names, as outputs.NAME or
// outputs["NAME"].
func (e *Expression) Reads() []string { return e.reads }

// Variables returns the names of the variables of every expression.
func Variables() []string {
	return []string{"content", "output", "input", "state", "outputs", "turn", "attempt", "tool"}
}

// Functions returns the names of the functions that an expression may call,
// sorted.
func Functions() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(functions)), maps.Keys(builtins))
	slices.Sort(names)
	return slices.Compact(names)
}

// Judges reports whether the expression reads the text or its JSON.
func (e *Expression) Judges() bool { return e.looks || e.parses }

// Fields returns the paths that the expression reads, with the beginnings of each path.
func (e *Expression) Fields() []Field { return e.fields }

// String returns the expression's source.
func (e *Expression) String() string { return e.source }

// Eval evaluates the expression for a subject. An [*Error] means that there is no answer. Reasons
// are a nil without a guard, a result that is not a boolean, and too much work.
func (e *Expression) Eval(s validators.Subject) (answer bool, err error) { return e.EvalUntil(nil, s) }

// EvalUntil is like [Expression.Eval], with a stop function. It calls stop like
// [schema.Schema.Check] does.
func (e *Expression) EvalUntil(stop schema.Stop, s validators.Subject) (answer bool, err error) {
	answer, _, err = e.answer(stop, s)
	return answer, err
}

// answer also returns the variables of the expression.
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
		if errors.Is(err, schema.ErrUnchecked) {
			return scope{}, err
		}
		if err == nil && len(broken) == 0 {
			output = v
		}
	}
	return scope{s.Content, output, s.Input, s.State, s.Outputs, s.Turn, s.Attempt, s.Tool, s.Locals, newMeter(stop)}, nil
}

// Check returns a validator that passes if the expression is true. The reason
// of a failure is reason. If reason is empty, the failure quotes the expression
// and the values of its operands: "len(content) >= 500: len(content) is 312".
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
		return validators.Fail("%s", e.explanation(saw)), nil
	}
}

// explanation returns the reason of a failed check if the author has written none.
func (e *Expression) explanation(saw scope) string {
	if values := e.values(saw); len(values) > 0 {
		return strings.TrimSpace(e.source) + ": " + strings.Join(values, ", ")
	}
	return "this must be true and is not: " + e.source
}

// located turns an error of the expression library into ours.
func located(err error) error {
	out := &Error{Line: 1, Column: 1}
	message := err.Error()
	var at *file.Error
	for errors.As(err, &at) { // the innermost error is the most exact
		err = at.Prev
		out.Line, out.Column, message = max(at.Line, 1), at.Column+1, at.Message
	}
	message, _, _ = strings.Cut(message, "\n") // a stack may follow
	out.Message = plainWords(message)
	if name, ok := strings.CutPrefix(message, "unknown name "); ok {
		out.Word, _, _ = strings.Cut(name, " ")
	} else if hint, _ := usual("", message); hint != "" {
		out.Message = hint
	}
	return out
}

// plainWords rewrites Go's messages about wrong dynamic types and numbers out of range, in an
// author's words.
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
