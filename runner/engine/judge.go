package engine

import (
	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine/internal/parallel"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
)

// Judge returns the verdict of one validator on a subject, outside any run. The
// cascade must be the one that the validator belongs to. An error means that
// there is no verdict.
func Judge(h Host, c *cascades.Cascade, v *cascades.Validator, s validators.Subject, name string) (validators.Verdict, error) {
	f := &flow{h: h, c: c, s: &State{Model: name, Input: s.Input, State: s.State, Outputs: s.Outputs}, meter: parallel.NewMeter(nil, c.Budget, model.Usage{})}
	f.prepare()
	s.Input, s.State, s.Outputs = f.s.Input, f.s.State, f.s.Outputs
	check := &cascades.Check{Validator: v, Place: &cascades.Place{Cascade: c.Digest(), File: c.File, Name: v.Name}}
	o, err := f.validate(event.Path(v.Name), place{}, check, s)
	if err == nil {
		err = o.Err
	}
	return o.Verdict, err
}
