package engine

import (
	"errors"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/lots"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// A shadow is a check that is counted and does nothing, with the text that it is to
// see. It is asked when the visit, or the item that it stands in, has come to its
// end: so no attempt, and no time limit of one, has to wait for it.
type shadow struct {
	path    event.Path
	at      place
	check   *cascades.Check
	subject validators.Subject
	by      string // the free check that refused the text
}

// maxShadows is how many checks are asked at the same time.
const maxShadows = 8

// shadowed asks the shadows of a visit that has come to an end of its own, and
// tells what they say, in the order in which their texts came.
func (v *visit) shadowed(err error) error {
	if len(v.shadows) == 0 {
		return err
	}
	list := v.shadows
	v.shadows = nil
	if err != nil && (fault(err).Code == Cancelled || fault(err).Code == Waiting) {
		return err // the run is cut here: they come when it goes on
	}
	found := make([]wards.Outcome, len(list))
	cut := v.fan(len(list), maxShadows, func(b *flow, i int) (err error) {
		found[i], err = b.shadow(list[i])
		b.s.Degraded = nil // of a cascade that judges
		return err
	})
	if cut != nil {
		return cut
	}
	for i, s := range list {
		v.tell(s.path, s.at, found[i])
	}
	return err
}

// shadow asks one about its text. That the budget forbids it, or that it
// waits for a person, is what it could not say; a script without an answer ends
// the run, as everywhere.
func (f *flow) shadow(s shadow) (wards.Outcome, error) {
	if s.check.AfterFree && s.by != "" {
		return lots.NotAsked(s.check.Ward, s.by), nil
	}
	o, err := f.validate(s.path, s.at, s.check, s.subject)
	var e *Error
	var unscripted *model.Failure
	if errors.As(err, &e) && !errors.As(err, &unscripted) && (e.Code == OverBudget || e.Code == Waiting) {
		o.Err, err = e, nil
	}
	return o, err
}
