// Package validators says what a validator is: a value that judges a text and
// answers with a [Verdict]. [New] makes one of a function with typed parameters, and
// [Main] a program of one. What a cascade file writes in place of a name becomes
// checks too: [JSONSchema], [Exec] and the criteria of a judge, [NewJudge];
// expressions are package expressions beside it, and the validators that come with
// the language package builtins.
//
// A verdict is not an error. A validator that says no returns a Verdict that
// is not valid; one that cannot say returns an error. What judges a text knows
// nothing of cascades: it sees a [Subject], and neither asks a model nor keeps
// anything. Parameters are read strictly, once, by [Validator.Bind], so that a
// mistake in a file is told before anything runs.
//
// Begin with validator.go, then verdict.go, where what programs and models answer is
// read without ever taking a no for a yes.
package validators

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed61713e19/capstan/validators/faults"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A Validator judges texts. Make one with [New]; the zero value is of no use.
type Validator struct {
	Name        string
	Description string   // one sentence that reads well behind "which checks: ": "Validates that the text is not empty"
	Pure        bool     // computed from the subject alone: no I/O, nothing to wait for
	OfRun       bool     // it looks at the run around the text, see [OfRun]
	Criteria    string   // what a model is asked to judge; set for judges alone, see [NewJudge]
	Operator    []string // parameters that are the operator's alone, see [Operator]

	faults func(with map[string]any) []faults.Operator
	opens  func(with map[string]any) []string // files and folders, see [Opens]
	params func() map[string]any
	bind   func(with map[string]any) (Check, error)
}

// A Check is a validator with its parameters: ready to judge, safe for
// concurrent use. An error says that there is no verdict.
type Check func(ctx context.Context, s Subject) (Verdict, error)

// A Subject is what is judged and what is known around it. Its maps are shared
// and must not be changed.
type Subject struct {
	Content string         `json:"content"` // the exact text
	Output  any            `json:"output"`  // its parsed JSON, where it has been parsed; else nil
	Input   map[string]any `json:"input"`   // the cascade's input
	State   map[string]any `json:"state"`
	Outputs map[string]any `json:"outputs"` // phase name → output
	Turn    int            `json:"turn"`
	Attempt int            `json:"attempt"`
	Tool    string         `json:"tool"`             // the tool that is called or has answered; "" at other moments
	Locals  map[string]any `json:"locals,omitempty"` // of an item of each: the item and its index, by their names
	Key     string         `json:"key,omitempty"`    // the run and the path: the same when the same check is started again
}

// An Option changes a validator under construction.
type Option func(*Validator)

// Impure marks a validator that does I/O or takes long: it runs after the pure
// ones of its moment, at the same time as others of its kind.
func Impure(v *Validator) { v.Pure = false }

// OfRun marks a validator that looks at the run around a text as well, such as its
// input: what it said of a text it may not say of it elsewhere.
func OfRun(v *Validator) { v.OfRun = true }

// Prepared is implemented by parameters (on the pointer) that are worth
// checking and preparing once, such as a pattern to compile. Its error is a
// diagnostic of the cascade file.
type Prepared interface{ Prepare() error }

// Publishing gives a validator operators that know what its texts are about: by
// them, and the general ones, it is measured how much it finds.
func Publishing(list ...faults.Operator) Option {
	return PublishingBy(func(map[string]any) []faults.Operator { return list })
}

// PublishingBy is [Publishing] for a validator whose parameters say what it looks
// for. A parameter that only a run knows is among them as something else than a
// plain value.
func PublishingBy(choose func(with map[string]any) []faults.Operator) Option {
	return func(v *Validator) { v.faults = choose }
}

// Faults lists the operators that the validator publishes with such parameters:
// faults of its texts that it should find, see [Publishing].
func (v Validator) Faults(with map[string]any) []faults.Operator {
	if v.faults == nil {
		return nil
	}
	return v.faults(with)
}

// New makes a pure validator from a function of its parameters P and the
// subject. P is a struct; its json tags name the parameters, its jsonschema
// tags describe them, and a field that is not omitempty is required. They are read
// once: what they point to is the same for all subjects and must not be changed.
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
// the model to read. The runner asks the model; bound alone, a judge can only
// give an error.
func NewJudge(name, description, criteria string) Validator {
	v := New(name, description, func(context.Context, struct{}, Subject) (Verdict, error) {
		return Verdict{}, fmt.Errorf("validator %s: a judge needs a model: run it in a cascade or with a runner", name)
	}, Impure)
	v.Criteria = criteria
	return v
}

// Kind says what a verdict costs, as lists of validators show it: "judge" asks a
// model, "effect" does I/O or waits, "computed" does neither.
func (v Validator) Kind() string {
	switch {
	case v.Criteria != "":
		return "judge"
	case !v.Pure:
		return "effect"
	}
	return "computed"
}

// Params is the JSON Schema of the validator's parameters as a plain value.
func (v Validator) Params() map[string]any { return v.params() }

// Bind reads parameters, a map of plain values, strictly and gives the check
// that they make. An error is the caller's mistake, in words for its author.
func (v Validator) Bind(with map[string]any) (Check, error) {
	check, err := v.bind(with)
	if err != nil {
		return nil, fmt.Errorf("validator %s: %w", v.Name, err)
	}
	check = guarded(v.Name, check)
	if v.Pure {
		check = heeding(check)
	}
	return check, nil
}

// longText is how many bytes a text has that some computed check may need longer
// for than one waits.
const longText = 64 << 10

// heeding lets a computed check of a long text be left when its context is over:
// regular expressions, Markdown and folding cannot be stopped in the middle. What
// is left behind ends by itself, since all that is computed is bounded.
func heeding(check Check) Check {
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
			a := answer{err: errGone}
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

// errGone is what is heard of a check that ends its goroutine, as a test's FailNow does.
var errGone = errors.New("the check ended without a verdict")

// guarded turns a panic of a check into an error, and a verdict that is none: a
// validator that breaks has not said no, and must not take the process down.
func guarded(name string, check Check) Check {
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
