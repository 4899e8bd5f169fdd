package schema

import "errors"

// Stop is asked now and then whether to go on with long work; its error ends
// it. It is the Err of a context, which packages that take values do not see;
// nil never stops.
type Stop func() error

// The errors of a check that could not be made to the end. They are no verdict:
// the value may be right.
var (
	ErrUntold = errors.New("JSON schema: no telling") // every one of them
	ErrWork   = errors.New("too much work for one check")
)

// unchecked is the error of a text that its format cannot be checked of.
type unchecked struct {
	path string
	err  error
}

// Error implements error.
func (u *unchecked) Error() string { return u.path + ": " + u.err.Error() }

// Unwrap returns the limit that the text exceeds.
func (u *unchecked) Unwrap() error { return u.err }

// maxWork bounds one check, in units of some 100 ns. Evaluation is polynomial
// (see [Schema.Check]); what comes here is a large value under a large union.
const maxWork = 20_000_000

// Prices, in units.
const (
	priceKept  = 20 // a result that is remembered: memory more than time
	priceSaid  = 10 // a violation
	priceBytes = 64 // bytes looked at for one unit
)

// A work counts what is done down. Spent or stopped, it stays so.
type work struct {
	left, asked int
	stop        Stop
	err         error
}

func newWork(stop Stop) *work { return &work{left: maxWork, asked: maxWork, stop: stop} }

// Spend implements [patterns.Meter].
func (w *work) Spend(units int) error {
	w.spend(units)
	return w.err
}

// end ends the work with an error.
func (w *work) end(err error) {
	if w.err == nil {
		w.err = err
	}
}

// askEvery is how many units are done between two questions whether to stop.
const askEvery = 1 << 14

// spend pays units; ok tells whether to go on.
func (w *work) spend(units int) (ok bool) {
	if w.err != nil {
		return false
	}
	if w.left -= units; w.left < 0 || units < 0 {
		w.err = ErrWork
		return false
	}
	if w.asked-w.left >= askEvery && w.stop != nil {
		w.asked = w.left
		w.err = w.stop()
	}
	return w.err == nil
}
