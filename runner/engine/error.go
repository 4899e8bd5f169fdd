package engine

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/wards"
)

// An Error describes why a run did not succeed.
type Error struct {
	Code     string // a run's status, [Invalid] or [TakenOver]
	Phase    string // the phase; "" outside any phase
	Path     event.Path
	Check    string // the validator that decided, for blocked and exhausted
	Message  string
	Attempts []Attempt // all attempts, for exhausted
	Err      error     // the host's error for cancelled and waiting; the cause for invalid and failed, if any

	Position syntax.Position // the place in the file that ended the run; zero if there is none

	concurrent    []event.Path    // see RetryPaths
	unusable      []event.Path    // see RetryPaths
	by            []wards.Outcome // the checks that failed
	decider       wards.Outcome   // the failed check that decided
	keyPath       []string        // keys from the phase, or from the top of the file, to what ended the run
	publicMessage string          // see public
	overweight    bool            // a conversation exceeds the token budget of its phase
}

// Invalid is the code of an error of the caller, such as an input that the
// cascade does not accept or a template that reads a missing value.
const Invalid = "invalid"

// TakenOver is the code of an error that ends a run because another process
// continues it. Only that process knows the result.
const TakenOver = "taken_over"

// An Attempt is one attempt at a phase that was not released.
type Attempt struct {
	Number     int
	Text       string
	Objections []Objection
}

// An Objection is a check that failed on an attempt.
type Objection struct {
	Validator string
	Reason    string
}

// Error returns the phase, the code and the message. It omits empty parts.
func (e *Error) Error() string { return e.Event().String() }

// Unwrap returns the host's error.
func (e *Error) Unwrap() error { return e.Err }

// RetryPaths returns the paths that a resumed run tries again. The first list
// has the paths of this error and of errors in parallel branches. The second
// list has the calls whose answers were unusable.
func (e *Error) RetryPaths() (at, useless []event.Path) {
	return append([]event.Path{e.Path}, e.concurrent...), e.unusable
}

// with adds the paths of another error.
func (e *Error) with(other *Error) {
	at, useless := other.RetryPaths()
	e.concurrent, e.unusable = append(e.concurrent, at...), append(e.unusable, useless...)
}

// of records the path of the call whose answer caused the error.
func (e *Error) of(call event.Path) *Error {
	e.unusable = append(e.unusable, call)
	return e
}

// because adds the reason why a check returned no verdict: an unusable answer,
// or an error in a cascade that judges.
func (e *Error) because(unsaid error) *Error {
	var n unusableReply
	var inner *Error
	switch {
	case errors.As(unsaid, &n):
		e.of(n.at)
	case errors.As(unsaid, &inner):
		e.with(inner)
	}
	return e
}

// An unusableReply is an answer that contains no verdict, with the path of the
// call or the cascade.
type unusableReply struct {
	error
	at event.Path
}

func (n unusableReply) Unwrap() error { return n.error }

// Status returns the status of a run that ended with the error.
func (e *Error) Status() string {
	if e.Code == Invalid || e.Code == TakenOver {
		return Failed
	}
	return e.Code
}

// fault converts the error that ended a phase. An error of the host becomes
// Cancelled.
func fault(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: Cancelled, Message: err.Error(), Err: err}
}

// nestedError returns the error of a nested cascade if it ends only that
// cascade. A caller that uses the cascade as a tool or a validator may then
// continue.
func nestedError(err error) (*Error, bool) {
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

// reached returns the message for an exhausted budget, with the key to raise.
func reached(limit, key string) string { return limit + "; raise budget." + key }

// unreadable returns the error of a template or an expression. The key path
// defaults to the parts of its name.
func unreadable(at event.Path, what string, err error, way ...string) *Error {
	if len(way) == 0 {
		way = strings.Split(what, ": ")
	}
	return &Error{Code: Invalid, Path: at, Err: err, keyPath: way, Message: fmt.Sprintf("%s: %v", what, err)}
}

// decided returns the error of a decision that ends the phase.
func decided(at event.Path, d wards.Decision) *Error {
	name := d.By.Ward.Name
	if d.Action == wards.Abort {
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

// locate sets the place in the file that ended the run, unless a nested cascade
// has set it. Waiting and cancelled runs have none.
func (e *Error) locate(c *cascades.Cascade) {
	if e.Position.Line == 0 && e.Code != Waiting && e.Code != Cancelled && e.Code != TakenOver {
		e.Position = c.Where(cascades.Ending{Phase: e.Phase, Way: e.keyPath, Ward: e.decider.Ward, Err: cmp.Or(e.decider.Err, e.Err)})
	}
}

// Event returns the error in the form that events and results use.
func (e *Error) Event() *event.Error {
	return &event.Error{Code: e.Code, Phase: e.Phase, Message: e.Message, Position: event.Position(e.Position)}
}

// publicError returns the part of an error that other phases may read.
func (v *visit) publicError(e *Error) string {
	switch {
	case e.publicMessage != "":
		return e.publicMessage
	case len(e.by) > 0:
		return messages.RejectionSummary(v.p, e.by)
	default:
		return e.Message
	}
}

// public returns the error for another phase or cascade. It contains no part of
// a refused text.
func (e *Error) public() string {
	if e.publicMessage == "" {
		return e.Message
	}
	return fmt.Sprintf("%s: %s", e.Code, e.publicMessage)
}
