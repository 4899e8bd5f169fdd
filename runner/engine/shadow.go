package engine

import (
	"errors"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/checkorder"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// A shadow is a check that only records its verdict, with the text to check. It
// runs after the visit or the item, so that attempts and their time limits do
// not wait for it.
type shadow struct {
	path    event.Path
	at      place
	check   *cascades.Check
	subject validators.Subject
	by      string // the free check that refused the text
}

// maxShadows is the maximum number of shadows that run at once.
const maxShadows = 8

// shadowed runs the shadows of a finished visit and records their outcomes in
// the order of their texts.
func (v *visit) shadowed(err error) error {
	if len(v.shadows) == 0 {
		return err
	}
	list := v.shadows
	v.shadows = nil
	if err != nil && (fault(err).Code == Cancelled || fault(err).Code == Waiting) {
		return err // the run is interrupted: shadows run after it is resumed
	}
	found := make([]wards.Outcome, len(list))
	cut := v.fan(len(list), maxShadows, func(b *flow, i int) (err error) {
		found[i], err = b.shadow(list[i])
		b.s.Degraded = nil // drop entries of a judging cascade
		return err
	})
	if cut != nil {
		return cut
	}
	for i, s := range list {
		v.report(s.path, s.at, found[i])
	}
	return err
}

// shadow runs one shadow check. An exhausted budget or a question to a person
// becomes the outcome's error. A missing scripted answer ends the run, as in
// other checks.
func (f *flow) shadow(s shadow) (wards.Outcome, error) {
	if s.check.AfterFree && s.by != "" {
		return checkorder.Skipped(s.check.Ward, s.by), nil
	}
	o, err := f.validate(s.path, s.at, s.check, s.subject)
	var e *Error
	var unscripted *model.Failure
	if errors.As(err, &e) && !errors.As(err, &unscripted) && (e.Code == OverBudget || e.Code == Waiting) {
		o.Err, err = e, nil
	}
	return o, err
}
