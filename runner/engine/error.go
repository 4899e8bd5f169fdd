package engine

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/wards"
)

// An Error is why a run did not succeed.
type Error struct {
	Code     string // a run's status, [Invalid] or [TakenOver]
	Phase    string // where; "" outside any phase
	Path     event.Path
	Check    string // the validator that decided, for blocked and exhausted
	Message  string
	Attempts []Attempt // every attempt made, for exhausted
	Err      error     // the host's error, for cancelled and waiting; what could not be read, for invalid; what is behind it, for failed, where there is that

	Position cascades.Position // of what ended the run in its file; zero where it has no place there

	beside  []event.Path    // see Broken
	useless []event.Path    // see Broken
	by      []wards.Outcome // the checks that have failed
	decider wards.Outcome   // the one of them that decided
	way     []string        // of keys, from the phase or the file's top, to what ended the run
	told    string          // see abroad
	heavy   bool            // a conversation weighs more than its phase has room for
}

// Invalid is the code of an error that is the caller's: an input that the
// cascade does not take, a template that reads what is not there.
const Invalid = "invalid"

// TakenOver is the code of an error that ends a run here because another
// process goes on with it. What became of the run, only that one knows.
const TakenOver = "taken_over"

// An Attempt is one try at a phase that was not released.
type Attempt struct {
	Number     int
	Text       string
	Objections []Objection
}

// An Objection is a check that said no of an attempt.
type Objection struct {
	Validator string
	Reason    string
}

// Error gives phase, code and message, of those what there is.
func (e *Error) Error() string { return e.Told().String() }

// Unwrap gives the host's error.
func (e *Error) Unwrap() error { return e.Err }

// Broken gives the paths of all that broke: that of the error and those of what broke
// side by side with it, before it could be cancelled; and of what has given
// answers that were of no use. A run that is gone on with tries all of them again.
func (e *Error) Broken() (at, useless []event.Path) {
	return append([]event.Path{e.Path}, e.beside...), e.useless
}

// with adds what broke besides.
func (e *Error) with(other *Error) {
	at, useless := other.Broken()
	e.beside, e.useless = append(e.beside, at...), append(e.useless, useless...)
}

// of says that it broke because of the answer of a call.
func (e *Error) of(call event.Path) *Error {
	e.useless = append(e.useless, call)
	return e
}

// because adds why a check could not say a verdict: an answer that was none, or what
// broke in a cascade that is the check.
func (e *Error) because(unsaid error) *Error {
	var n nonsense
	var inner *Error
	switch {
	case errors.As(unsaid, &n):
		e.of(n.at)
	case errors.As(unsaid, &inner):
		e.with(inner)
	}
	return e
}

// nonsense is an answer that is no verdict, with the path of the call, or of the
// cascade that gave it.
type nonsense struct {
	error
	at event.Path
}

func (n nonsense) Unwrap() error { return n.error }

// Status is the status of a run that ended with the error.
func (e *Error) Status() string {
	if e.Code == Invalid || e.Code == TakenOver {
		return Failed
	}
	return e.Code
}

// fault makes an error from whatever ended a phase: the host's is one that cancels.
func fault(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: Cancelled, Message: err.Error(), Err: err}
}

// contained gives the error of a nested cascade where it ends that cascade
// alone: the one that uses it as a tool or a validator may go on.
func contained(err error) (*Error, bool) {
	var e *Error
	if !errors.As(err, &e) {
		return nil, false
	}
	switch e.Code {
	case Blocked, Exhausted, Invalid:
		return e, true
	default:
		return e, broke(err) != nil
	}
}

func failed(at event.Path, format string, args ...any) *Error {
	return &Error{Code: Failed, Path: at, Message: fmt.Sprintf(format, args...)}
}

// reached returns the message of a budget that is used up, with the key to raise.
func reached(limit, key string) string { return limit + "; raise budget." + key }

// unread makes the error of a template or an expression, by what it is called and
// the way to it where that is not the same.
func unread(at event.Path, what string, err error, way ...string) *Error {
	if len(way) == 0 {
		way = strings.Split(what, ": ")
	}
	return &Error{Code: Invalid, Path: at, Err: err, way: way, Message: fmt.Sprintf("%s: %v", what, err)}
}

// decided makes the error of a decision that ends the phase.
func decided(at event.Path, d wards.Decision) *Error {
	name := d.By.Ward.Name
	if d.Action == wards.Break {
		e := &Error{Code: Failed, Path: at, Check: name, by: []wards.Outcome{d.By}, decider: d.By, Message: fmt.Sprintf("%s gave no verdict: %v", d.By.Ward, d.By.Err)}
		return e.because(d.By.Err)
	}
	code := Blocked
	if d.Action == wards.Exhausted {
		code = Exhausted
	}
	by := d.Failed
	if len(by) == 0 {
		by = []wards.Outcome{d.By}
	}
	return &Error{Code: code, Path: at, Check: name, by: by, decider: d.By, Message: d.By.Ward.String() + ": " + d.By.Verdict.Reason}
}

// locate finds the place in the file of what ended the run, unless a cascade
// within it has. Who waits or was cancelled has none.
func (e *Error) locate(c *cascades.Cascade) {
	if e.Position.Line == 0 && e.Code != Waiting && e.Code != Cancelled && e.Code != TakenOver {
		e.Position = c.Where(cascades.Ending{Phase: e.Phase, Way: e.way, Ward: e.decider.Ward, Err: cmp.Or(e.decider.Err, e.Err)})
	}
}

// Told is the error as events and results have it.
func (e *Error) Told() *event.Error {
	return &event.Error{Code: e.Code, Phase: e.Phase, Message: e.Message, Position: event.Position(e.Position)}
}

// tellable is what may be told elsewhere of an error that ended the phase.
func (v *visit) tellable(e *Error) string {
	switch {
	case e.told != "":
		return e.told
	case len(e.by) > 0:
		return words.Elsewhere(v.p, e.by)
	default:
		return e.Message
	}
}

// abroad is the error as another phase or cascade may hear of it: no content of
// a text that was refused.
func (e *Error) abroad() string {
	if e.told == "" {
		return e.Message
	}
	return fmt.Sprintf("%s: %s", e.Code, e.told)
}
