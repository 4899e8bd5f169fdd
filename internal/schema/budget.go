package schema

import "errors"

// Stop is called from time to time during long work. The work ends if it
// returns an error. The Err method of a context is a Stop; nil never stops.
type Stop func() error

// Errors of a check that could not finish. They do not mean that the value is
// invalid.
var (
	ErrUnchecked = errors.New("JSON schema: no telling") // wraps all of them
	ErrWork      = errors.New("too much work for one check")
)

// textError is the error for a text whose format or pattern could not be
// checked.
type textError struct {
	path string
	err  error
}

// Error implements error.
func (u *textError) Error() string { return u.path + ": " + u.err.Error() }

// Unwrap returns the exceeded limit.
func (u *textError) Unwrap() error { return u.err }

// maxWork is the maximum work of one check, in units of about 100 ns.
// Evaluation is polynomial (see [Schema.Check]); only a large value under a
// large union reaches the maximum.
const maxWork = 20_000_000

// Costs, in units.
const (
	costResult    = 20 // a stored result, for its memory
	costViolation = 10 // a violation
	bytesPerUnit  = 64 // bytes read for one unit
)

// A budget counts the remaining work. Once it is exhausted or stopped, it stays
// so.
type budget struct {
	left, checkedAt int
	stop            Stop
	err             error
}

func newBudget(stop Stop) *budget { return &budget{left: maxWork, checkedAt: maxWork, stop: stop} }

// Spend implements [patterns.Meter].
func (w *budget) Spend(units int) error {
	w.spend(units)
	return w.err
}

// end ends the work with an error.
func (w *budget) end(err error) {
	if w.err == nil {
		w.err = err
	}
}

// stopInterval is the number of units between two calls of stop.
const stopInterval = 1 << 14

// spend pays units and reports whether the work may continue.
func (w *budget) spend(units int) (ok bool) {
	if w.err != nil {
		return false
	}
	if w.left -= units; w.left < 0 || units < 0 {
		w.err = ErrWork
		return false
	}
	if w.checkedAt-w.left >= stopInterval && w.stop != nil {
		w.checkedAt = w.left
		w.err = w.stop()
	}
	return w.err == nil
}
