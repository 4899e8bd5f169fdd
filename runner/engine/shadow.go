package engine

import (
	"errors"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/lots"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// A shadow is a text that checks in shadow are to see, which are counted and do
// nothing. They are asked when the visit, or the item that they stand in, has come
// to its end: so no attempt, and no time limit of one, has to wait for them.
type shadow struct {
	at      place
	list    []*cascades.Check // of the moment, those that are not in shadow too
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
	type one struct{ text, check int }
	var ask []one
	for n, s := range list {
		for i, c := range s.list {
			if c.Ward.Mode == wards.Shadow && c.Guards(s.at.tool) {
				ask = append(ask, one{n, i})
			}
		}
	}
	found := make([]wards.Outcome, len(ask))
	cut := v.fan(len(ask), maxShadows, func(b *flow, i int) (err error) {
		found[i], err = b.shadow(list[ask[i].text], ask[i].check)
		b.s.Degraded = nil // of a cascade that judges
		return err
	})
	if cut != nil {
		return cut
	}
	for i, one := range ask {
		s := list[one.text]
		v.tell(s.at.under(s.list[one.check].Ward, one.check), s.at, found[i])
	}
	return err
}

// shadow asks the i-th check about a text. That the budget forbids it, or that it
// waits for a person, is what it could not say; a script without an answer ends
// the run, as everywhere.
func (f *flow) shadow(s shadow, i int) (wards.Outcome, error) {
	c := s.list[i]
	if c.AfterFree && s.by != "" {
		return lots.NotAsked(c.Ward, s.by), nil
	}
	o, err := f.validate(s.at.under(c.Ward, i), s.at, c, s.subject)
	var e *Error
	var unscripted *model.Failure
	if errors.As(err, &e) && !errors.As(err, &unscripted) && (e.Code == OverBudget || e.Code == Waiting) {
		o.Err, err = e, nil
	}
	return o, err
}
