package orders

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/validators"
)

// ErrNoGate is the error of a gate that an offered cascade does not define.
var ErrNoGate = errors.New("the cascade defines no validator of that name")

// A Gate is a validator as the API lists it.
type Gate struct {
	Name        string         `json:"name"` // CASCADE:NAME if a cascade defines it
	Kind        string         `json:"kind"` // computed, judge or effect
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters"` // as a JSON Schema
}

// Gates lists the validators that the offered cascades define as their files are now. It
// leaves out cascades that do not load.
func (p *Pool) Gates() []Gate {
	var list []Gate
	none := map[string]any{"type": "object", "additionalProperties": false}
	for _, name := range slices.Sorted(maps.Keys(p.o.Cascades)) {
		_, cascade, err := p.load(Order{Cascade: name}, p.settings(name), p.o.Store)
		if err != nil {
			continue
		}
		for _, own := range slices.Sorted(maps.Keys(cascade.Validators)) {
			v := cascade.Validators[own]
			list = append(list, Gate{name + ":" + own, kindOf(v), v.Description, none})
		}
	}
	return list
}

func kindOf(v *cascades.Validator) string {
	switch {
	case !v.Free():
		return "judge"
	case v.Pure:
		return "computed"
	}
	return "effect"
}

// Judge returns the verdict of a gate that an offered cascade defines, as its files are
// now. A judgement takes the place of a run. A [*NoVerdictError] wraps the errors of the
// gate itself.
func (p *Pool) Judge(ctx context.Context, cascade, gate string, s validators.Subject) (validators.Verdict, error) {
	if err := p.addJudgement(); err != nil {
		return validators.Verdict{}, err
	}
	defer p.removeJudgement()
	r, loaded, err := p.load(Order{Cascade: cascade}, p.settings(cascade), p.o.Store)
	if err != nil {
		return validators.Verdict{}, err
	}
	v := loaded.Validators[gate]
	if v == nil {
		return validators.Verdict{}, ErrNoGate
	}
	runner.WithSink(p.o.Metrics)(r)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	verdict, err := r.Judge(ctx, loaded, v, s)
	if err != nil {
		return verdict, &NoVerdictError{err}
	}
	return verdict, nil
}

// A NoVerdictError is the reason why a gate gave no verdict.
type NoVerdictError struct{ Err error }

// Error returns the reason.
func (e *NoVerdictError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *NoVerdictError) Unwrap() error { return e.Err }

func (p *Pool) addJudgement() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.ready(); err != nil {
		p.o.Metrics.Refused()
		return err
	}
	p.judging++
	p.jobs.Add(1)
	return nil
}

func (p *Pool) removeJudgement() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.judging--
	p.jobs.Done()
}
