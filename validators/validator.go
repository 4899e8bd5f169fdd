// Package validators defines validators: values that check a text and return a [Verdict]. [New]
// makes one from a function with typed parameters:
//
//	short := validators.New("short", "Validates that the text has at most max characters",
//		func(_ context.Context, p params, s validators.Subject) (validators.Verdict, error) {
//			if utf8.RuneCountInString(s.Content) > p.Max {
//				return validators.Fail("the text has more than %d characters", p.Max), nil
//			}
//			return validators.Pass("the text is short enough"), nil
//		})
//
// [Main] makes a program of a validator. [JSONSchema], [Exec] and [NewJudge] make checks of the
// other forms that a cascade file may use. Package builtins has the validators of the language.
// Package expressions has its expressions.
//
// A verdict is not an error. A validator that rejects a text returns an invalid Verdict; one that
// cannot decide returns an error. A validator sees only a [Subject]. It does not call models and
// stores nothing. [Validator.Bind] checks the parameters once, so that a mistake in a file is
// reported before anything runs.
//
// Begin with validator.go, then read verdict.go. It parses the replies of programs and models. A
// rejection is never read as an acceptance.
package validators

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed61713e19/capstan/internal/faults"
	"github.com/seed61713e19/capstan/internal/schema"
)

// A Validator checks texts. Make one with [New]; the zero value is not usable.
type Validator struct {
	Name         string
	Description  string   // one sentence that completes "which checks: ", as "Validates that the text is not empty"
	Pure         bool     // computed from the subject alone, without I/O or waiting
	DependsOnRun bool     // the check reads more of the run than the text, see [DependsOnRun]
	Criteria     string   // the instructions for the model of a judge, see [NewJudge]; else empty
	Operator     []string // parameters that only an operator may set, see [Operator]

	faults func(with map[string]any) []faults.Operator
	opens  func(with map[string]any) []string // files and folders, see [Opens]
	params func() map[string]any
	bind   func(with map[string]any) (Check, error)
}

// A Check is a validator with its parameters. It is safe for concurrent use. An
// error means that there is no verdict.
type Check func(ctx context.Context, s Subject) (Verdict, error)

// A Subject is a text and the state of the run around it. Its maps are shared
// and must not be changed.
type Subject struct {
	Content string         `json:"content"` // the exact text
	Output  any            `json:"output"`  // the parsed JSON of the text; nil if it has not been parsed
	Input   map[string]any `json:"input"`   // the input of the cascade
	State   map[string]any `json:"state"`
	Outputs map[string]any `json:"outputs"` // by name of the phase
	Turn    int            `json:"turn"`
	Attempt int            `json:"attempt"`
	Tool    string         `json:"tool"`             // the tool of a call or of a result; empty at other moments
	Locals  map[string]any `json:"locals,omitempty"` // the item of each and its index, by their names
	Key     string         `json:"key,omitempty"`    // the run and the path; the same if a resumed run repeats the check
}

// An Option changes a validator under construction.
type Option func(*Validator)

// Impure marks a validator that performs I/O or takes long. It runs after the
// pure checks of its moment, concurrently with other impure checks.
func Impure(v *Validator) { v.Pure = false }

// DependsOnRun marks a validator that reads the run around a text, such as its
// input. Its verdict on a text must not be reused in another run.
func DependsOnRun(v *Validator) { v.DependsOnRun = true }

// Prepared is implemented by a pointer to parameters that need preparation,
// such as a pattern to compile. Bind calls Prepare once. Its error becomes a
// diagnostic of the cascade file.
type Prepared interface{ Prepare() error }

// WithFaults adds fault operators that suit the texts of a validator. `capstan
// mutate` uses them, beside the general ones, to measure how many faults the
// validator finds.
func WithFaults(list ...faults.Operator) Option {
	return WithFaultsFrom(func(map[string]any) []faults.Operator { return list })
}

// WithFaultsFrom is [WithFaults] for a validator whose parameters decide which
// operators fit. A parameter that only a run knows is present in with, but is
// not a plain value.
func WithFaultsFrom(choose func(with map[string]any) []faults.Operator) Option {
	return func(v *Validator) { v.faults = choose }
}

// Faults returns the operators that the validator offers for these parameters,
// see [WithFaults].
func (v Validator) Faults(with map[string]any) []faults.Operator {
	if v.faults == nil {
		return nil
	}
	return v.faults(with)
}

// New makes a pure validator from a function of its parameters P and the
// subject. P must be a struct. Its json tags name the parameters, and its
// jsonschema tags describe them. A field without omitempty is required.
//
// The parameters are decoded once. All subjects share the values that they
// point to, so judge must not change those.
func New[P any](name, description string, judge func(context.Context, P, Subject) (Verdict, error), options ...Option) Validator {
	params := sync.OnceValue(schema.NewParams[P])
	v := Validator{Name: name, Description: description, Pure: true}
	v.params = func() map[string]any { return params().Schema() }
	v.bind = func(with map[string]any) (Check, error) {
		p, err := params().Read(with)
		if err != nil {
			return nil, err
		}
		if prepared, ok := any(&p).(Prepared); ok {
			if err := prepared.Prepare(); err != nil {
				return nil, err
			}
		}
		return func(ctx context.Context, s Subject) (Verdict, error) { return judge(ctx, p, s) }, nil
	}
	for _, o := range options {
		o(&v)
	}
	return v
}

// NewJudge makes a validator that a model decides by the criteria, a text for
// the model. The runner calls the model. A judge that is bound without a runner
// returns an error.
func NewJudge(name, description, criteria string) Validator {
	v := New(name, description, func(context.Context, struct{}, Subject) (Verdict, error) {
		return Verdict{}, fmt.Errorf("validator %s: a judge needs a model: run it in a cascade or with a runner", name)
	}, Impure)
	v.Criteria = criteria
	return v
}

// Kind returns the cost of a verdict, for lists of validators. It is "judge"
// (asks a model), "effect" (performs I/O or waits) or "computed".
func (v Validator) Kind() string {
	switch {
	case v.Criteria != "":
		return "judge"
	case !v.Pure:
		return "effect"
	}
	return "computed"
}

// Params returns the JSON Schema of the parameters as a plain value.
func (v Validator) Params() map[string]any { return v.params() }

// Bind decodes the parameters, a map of plain values, and returns the check.
// Unknown parameters and wrong types are errors, with a message for the author
// of the cascade.
func (v Validator) Bind(with map[string]any) (Check, error) {
	check, err := v.bind(with)
	if err != nil {
		return nil, fmt.Errorf("validator %s: %w", v.Name, err)
	}
	check = recovered(v.Name, check)
	if v.Pure {
		check = cancellable(check)
	}
	return check, nil
}

// longText is the length of a text, in bytes, from which a computed check may
// take too long to wait for.
const longText = 64 << 10

// cancellable returns a check that ends with its context if the text is long.
// Regular expressions, Markdown and case folding cannot be interrupted, so the
// check runs in its own goroutine. The goroutine ends by itself later, because
// all computation is bounded.
func cancellable(check Check) Check {
	return func(ctx context.Context, s Subject) (Verdict, error) {
		if len(s.Content) < longText || ctx.Done() == nil {
			return check(ctx, s)
		}
		type answer struct {
			v   Verdict
			err error
		}
		done := make(chan answer, 1)
		go func() {
			a := answer{err: errNoVerdict}
			defer func() { done <- a }()
			a.v, a.err = check(ctx, s)
		}()
		select {
		case a := <-done:
			return a.v, a.err
		case <-ctx.Done():
			return Verdict{}, context.Cause(ctx)
		}
	}
}

// errNoVerdict is the error of a check that ends its goroutine, as FailNow of a
// test does.
var errNoVerdict = errors.New("the check ended without a verdict")

// recovered returns a check that turns a panic or a malformed verdict into an
// error. A broken validator has not rejected the text, and it must not end the
// process.
func recovered(name string, check Check) Check {
	return func(ctx context.Context, s Subject) (v Verdict, err error) {
		defer func() {
			if r := recover(); r != nil {
				v, err = Verdict{}, fmt.Errorf("validator %s: panic: %v", name, r)
			}
		}()
		if v, err = check(ctx, s); err == nil && v.check() != nil {
			v, err = Verdict{}, fmt.Errorf("validator %s: %w", name, v.check())
		}
		return v, err
	}
}
