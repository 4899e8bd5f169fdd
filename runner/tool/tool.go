// Package tool says what a tool is: something a phase may have done outside
// the conversation. It holds the built-in ones, a file each, and the exec form.
package tool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/validators/schema"
)

// A Tool does something and says what came of it. Make one with [New].
type Tool struct {
	Name        string
	Description string
	Effect      Effect // "" is not told: taken for [Writes]
	Idempotent  bool   // it knows a call that is started again by its key, and does it once
	params      func() map[string]any
	run         func(ctx context.Context, c Call) (any, error)
	ask         func(ctx context.Context) (description string, params map[string]any, err error) // of a remote tool
	over        func([]Database) Tool                                                            // binds a tool that works on what a file names
}

// A Call is one use of a tool. In a run the arguments are the tool's own, and may be changed.
type Call struct {
	ID        string         `json:"id,omitempty"` // the model's, where a model asked
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
	Key       string         `json:"key,omitempty"` // the run and the path: the same when the same call is started again
}

// A Result is what came of a call. A tool that could not do it says so with
// Failed; a model that asked sees that, a tool: phase ends as failed. A tool
// that is not there says so with Gone as well: no model can mend that, and the
// phase ends as failed whoever asked.
type Result struct {
	Value  any  `json:"value"` // a plain value
	Failed bool `json:"failed,omitempty"`
	Gone   bool `json:"gone,omitempty"`
}

// ErrGone marks the error of a tool that is not there: its program cannot be
// started, its server cannot be reached, its server has no such tool. The call
// was not begun.
var ErrGone = errors.New("the tool is not there")

// gone marks an error without adding to its words.
type gone struct{ error }

// Unwrap gives the error and the mark.
func (g gone) Unwrap() []error { return []error{g.error, ErrGone} }

// Gone marks an error as [ErrGone].
func Gone(err error) error { return gone{err} }

// Text is the result as a model reads it: a string as it is, anything else as
// JSON in one line, its letters as they are.
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

// Fail is the result of a call that could not be done.
func Fail(err error) Result {
	return Result{Value: "error: " + err.Error(), Failed: true, Gone: errors.Is(err, ErrGone)}
}

// New makes a tool from a function of its arguments A, a struct whose json
// tags name them and whose jsonschema tags describe them. What it returns must
// encode as JSON.
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

// That is the tool with its effect told.
func (t Tool) That(e Effect) Tool {
	t.Effect = e
	return t
}

// Behind is the tool with a check before it: where that has an error, the call is
// not made, and fails with it.
func (t Tool) Behind(check func(arguments map[string]any) error) Tool {
	run := t.run
	t.run = func(ctx context.Context, c Call) (any, error) {
		if err := check(c.Arguments); err != nil {
			return nil, fmt.Errorf("not called: %w", err)
		}
		return run(ctx, c)
	}
	return t
}

// Declared makes a tool from a description of its parameters, a JSON Schema as
// a plain value, and a function of the call as it comes.
func Declared(name, description string, params map[string]any, run func(context.Context, Call) (any, error)) Tool {
	return Tool{Name: name, Description: description, params: func() map[string]any { return params }, run: run}
}

// Missing is a tool that is told of and is not there: every call of it fails, and
// says so to who made it.
func Missing(t Tool) Tool {
	t.run = func(context.Context, Call) (any, error) {
		return nil, fmt.Errorf("there is no tool %q here: do without it", t.Name)
	}
	return t
}

// Remote makes a tool that lives elsewhere. Its description and parameters are
// asked for when they are first needed: by Described, or by Params, which has
// an open object to show where ask fails. Ask must bound its own time and
// remember what it learnt.
func Remote(name string, ask func(context.Context) (string, map[string]any, error), run func(context.Context, Call) (any, error)) Tool {
	t := Tool{Name: name, run: run, ask: ask}
	t.params = func() map[string]any {
		_, params, err := t.Told()
		if err != nil {
			return map[string]any{"type": "object"}
		}
		return params
	}
	return t
}

// Described is the tool with its description and parameters at hand: what a
// model is told of it. Only a remote tool has to ask, and only it can give an
// error.
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

// Told is what a model is told of the tool: its description, and the JSON Schema
// of its arguments. An error says that a remote tool could not be asked.
func (t Tool) Told() (description string, params map[string]any, err error) {
	described, err := t.Described(context.Background())
	if err != nil {
		return t.Description, nil, err
	}
	return described.Description, described.params(), nil
}

// Remote tells whether the tool lives elsewhere.
func (t Tool) Remote() bool { return t.ask != nil }

// Params is the JSON Schema of the tool's arguments as a plain value.
func (t Tool) Params() map[string]any { return t.params() }

// Repeatable tells whether a call that was at work when its process died may be
// made again without asking anybody.
func (t Tool) Repeatable() bool { return t.Idempotent || !t.Writes() }

// Writes tells whether a call changes something, which it does where its effect
// is not told.
func (t Tool) Writes() bool { return t.Effect.Worse(None) == Writes }

// Run calls the tool. A tool's own error or panic is a failed result; Run's
// error is ctx's alone, and a call whose ctx is over is not begun.
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

// A Set is tools by name. The zero value is empty and ready for use.
type Set struct{ byName map[string]Tool }

// NewSet makes a set; of two tools with one name the later wins.
func NewSet(list ...Tool) Set {
	s := Set{make(map[string]Tool, len(list))}
	for _, t := range list {
		s.byName[t.Name] = t
	}
	return s
}

// With is a copy of the set with more tools, which win over those that have
// the same name.
func (s Set) With(list ...Tool) Set { return NewSet(append(s.List(), list...)...) }

// Find gives the tool of that name.
func (s Set) Find(name string) (Tool, error) {
	if t, ok := s.byName[name]; ok {
		return t, nil
	}
	return Tool{}, fmt.Errorf("no tool is called %q", name)
}

// List gives the tools sorted by name.
func (s Set) List() []Tool {
	return slices.SortedFunc(maps.Values(s.byName), func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
}
