// Package tool defines tools, which models and phases call during a run.
//
// A [Tool] gets a [Call] with arguments and returns a [Result] with a plain value. Its
// [Effect] decides whether a run may repeat a call. For example:
//
//	now := tool.New("now", "Return the time.", func(context.Context, struct{}) (any, error) {
//		return time.Now().Format(time.RFC3339), nil
//	}).WithEffect(tool.Reads)
//
// The package has the built-in tools, one in each file, and [Exec] for the programs of
// a cascade. Package query has sql_query, and package mcp has the tools of MCP servers.
// Begin with tool.go.
package tool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/schema"
)

// A Tool is a function that a model or a phase can call. [New] creates one.
type Tool struct {
	Name        string
	Description string
	Effect      Effect // "" counts as [Writes]
	Idempotent  bool   // reports whether the tool detects repeated calls by their key
	params      func() map[string]any
	run         func(ctx context.Context, c Call) (any, error)
	ask         func(ctx context.Context) (description string, params map[string]any, err error) // set for remote tools
	over        func([]Database) Tool                                                            // binds the tool to databases
}

// A Call is one call of a tool. In a run, the tool may change the arguments.
type Call struct {
	ID        string         `json:"id,omitempty"` // the id that the model chose; "" for a call of a phase
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
	Key       string         `json:"key,omitempty"` // the run and the path; a repeated call has the same key
}

// A Result is the result of a call. If Failed is set, a model gets the error as text,
// and a phase with tool: ends as failed. If Unavailable is set too, the phase of the
// model also ends as failed.
type Result struct {
	Value       any  `json:"value"` // a plain value
	Failed      bool `json:"failed,omitempty"`
	Unavailable bool `json:"unavailable,omitempty"`
}

// ErrUnavailable is the error of a call that did not start: the program cannot be
// started, the server cannot be reached, or the server does not have the tool.
var ErrUnavailable = errors.New("the tool is not there")

// An unavailableError is an ErrUnavailable with the message of another error.
type unavailableError struct{ error }

// Unwrap returns the error and ErrUnavailable.
func (g unavailableError) Unwrap() []error { return []error{g.error, ErrUnavailable} }

// Unavailable returns an error that matches [ErrUnavailable].
func Unavailable(err error) error { return unavailableError{err} }

// Text returns the result for a model: a string, or the JSON of another value.
func (r Result) Text() string {
	if s, ok := r.Value.(string); ok {
		return s
	}
	text, err := schema.Encode(r.Value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Fail returns the result of a failed call.
func Fail(err error) Result {
	return Result{Value: "error: " + err.Error(), Failed: true, Unavailable: errors.Is(err, ErrUnavailable)}
}

// New returns a tool with the arguments A, a struct. The json tags have the names of
// the arguments, and the jsonschema tags have their descriptions. The result of run
// must be encodable as JSON.
func New[A any](name, description string, run func(context.Context, A) (any, error)) Tool {
	params := sync.OnceValue(schema.NewParams[A])
	return Tool{
		Name:        name,
		Description: description,
		params:      func() map[string]any { return params().Schema() },
		run: func(ctx context.Context, c Call) (any, error) {
			a, err := params().Read(c.Arguments)
			if err != nil {
				return nil, fmt.Errorf("arguments: %w", err)
			}
			return run(ctx, a)
		},
	}
}

// WithEffect returns the tool with the effect.
func (t Tool) WithEffect(e Effect) Tool {
	t.Effect = e
	return t
}

// WithCheck returns the tool with a check of the arguments before each call. If the
// check returns an error, the call fails.
func (t Tool) WithCheck(check func(arguments map[string]any) error) Tool {
	run := t.run
	t.run = func(ctx context.Context, c Call) (any, error) {
		if err := check(c.Arguments); err != nil {
			return nil, fmt.Errorf("not called: %w", err)
		}
		return run(ctx, c)
	}
	return t
}

// Declared returns a tool with the JSON Schema of its parameters and a function
// for its calls.
func Declared(name, description string, params map[string]any, run func(context.Context, Call) (any, error)) Tool {
	return Tool{Name: name, Description: description, params: func() map[string]any { return params }, run: run}
}

// Missing returns the tool with calls that always fail.
func Missing(t Tool) Tool {
	t.run = func(context.Context, Call) (any, error) {
		return nil, fmt.Errorf("there is no tool %q here: continue without it", t.Name)
	}
	return t
}

// Remote returns a tool on a server. The function ask returns its description and
// parameters. It must have its own timeout and cache its result. If ask fails,
// [Tool.Params] returns a schema for any object.
func Remote(name string, ask func(context.Context) (string, map[string]any, error), run func(context.Context, Call) (any, error)) Tool {
	t := Tool{Name: name, run: run, ask: ask}
	t.params = func() map[string]any {
		_, params, err := t.Describe()
		if err != nil {
			return map[string]any{"type": "object"}
		}
		return params
	}
	return t
}

// Described returns the tool with its description and parameters. Only the description
// of a remote tool can fail.
func (t Tool) Described(ctx context.Context) (Tool, error) {
	if t.ask == nil {
		return t, nil
	}
	description, params, err := t.ask(ctx)
	if err != nil {
		return Tool{}, fmt.Errorf("tool %s: %w", t.Name, err)
	}
	described := Declared(t.Name, description, params, t.run)
	described.Effect, described.Idempotent = t.Effect, t.Idempotent
	return described, nil
}

// Describe returns the description and the JSON Schema of the arguments. Only the
// description of a remote tool can fail.
func (t Tool) Describe() (description string, params map[string]any, err error) {
	described, err := t.Described(context.Background())
	if err != nil {
		return t.Description, nil, err
	}
	return described.Description, described.params(), nil
}

// Remote reports whether the tool is on a server.
func (t Tool) Remote() bool { return t.ask != nil }

// Params returns the JSON Schema of the arguments as a plain value.
func (t Tool) Params() map[string]any { return t.params() }

// Repeatable reports whether a call that was interrupted can be repeated
// without a decision.
func (t Tool) Repeatable() bool { return t.Idempotent || !t.Writes() }

// Writes reports whether a call can change data. It is true for an unknown
// effect.
func (t Tool) Writes() bool { return t.Effect.Worse(None) == Writes }

// Run calls the tool. An error or panic of the tool is a failed result. Run returns
// only the error of ctx. If ctx has ended, it does not call the tool.
func (t Tool) Run(ctx context.Context, c Call) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	value, err := t.guarded(ctx, c)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		return Fail(err), nil
	}
	plain, err := schema.Plain(value)
	if err != nil {
		return Fail(fmt.Errorf("result: %w", err)), nil
	}
	return Result{Value: plain}, nil
}

func (t Tool) guarded(ctx context.Context, c Call) (value any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return t.run(ctx, c)
}

// A Set is a set of tools by name. The zero value is empty.
type Set struct{ byName map[string]Tool }

// NewSet returns a set of tools. A later tool replaces an earlier one with the
// same name.
func NewSet(list ...Tool) Set {
	s := Set{make(map[string]Tool, len(list))}
	for _, t := range list {
		s.byName[t.Name] = t
	}
	return s
}

// With returns a copy of the set with more tools. They replace tools with the
// same names.
func (s Set) With(list ...Tool) Set { return NewSet(append(s.List(), list...)...) }

// Find returns the tool with the name.
func (s Set) Find(name string) (Tool, error) {
	if t, ok := s.byName[name]; ok {
		return t, nil
	}
	return Tool{}, fmt.Errorf("no tool is called %q", name)
}

// List returns the tools in the order of their names.
func (s Set) List() []Tool {
	return slices.SortedFunc(maps.Values(s.byName), func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
}
