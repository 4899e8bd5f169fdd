// Package engine runs cascades. It is straight-line code over a [Host]: the host
// makes the effects (models, tools, validators, people, time), the engine decides
// what happens. A cascade and a [State] come in; a [Result] goes out, and on the
// way events are told to the host.
//
// A flow goes from phase to phase (flow.go, route.go). A visit to one (phase.go)
// does its work once, for each item of a list (each.go), side by side with others
// (group.go), or several times to choose (soundings.go, tries.go). Work is attempts
// (try.go): turns with the model and its tools (converse.go, call.go), a tool or a
// composed text (work.go), and then the checks of what came of it (check.go,
// candidate.go), whose noes are the feedback that the next attempt begins with.
// Package wards decides what a moment's verdicts come to. What has passed is
// released, and only that is seen by others.
//
// Two decisions shaped it. It has no clock, goroutine, random source, environment,
// file or map order of its own, so the same results of effects always give the same
// run: a run is resumed, frozen and tried against other rules by doing it again over
// a host that answers from what was kept. And each effect has a path that no other
// has, whatever runs beside it: that is what its answer is kept under. Work side by
// side is [Host.Each], on copies of the state that are joined in file order (fan.go).
//
// A verdict is never an error, nor an error a verdict: what says no is data, and an
// error ends the scope that it is of (error.go). Nothing is released, stored or acted
// on that a check has not seen. State is never changed in place.
//
// Begin with the [Host], then [Run] in flow.go and try.go. Package enginetest holds
// what is promised, as transcripts.
package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A Host makes the effects of one scope of one run. What an effect says no to
// is data in its result; an error means stop now: cancelled, suspended, or an
// error that the engine's own body returned to Each or Within.
//
// The path of an effect is unique in its run and the same whenever the run is
// done again: it is the key to record the effect under.
type Host interface {
	// Model asks a model. A call that failed after all retries is a response
	// with its Failure set.
	Model(at event.Path, req model.Request) (model.Response, error)
	// Tool calls a tool. [ErrUnfinished] means that an earlier start of the run
	// called it, died before it heard what came of it, and that the tool may not
	// be called twice ([tool.Tool.Repeatable]).
	Tool(at event.Path, job Job) (tool.Result, error)
	// Validate runs a validator that neither asks a model nor runs a cascade.
	Validate(at event.Path, v Validation) (Finding, error)
	// Ask puts a question to a person, and may wait for the answer for as long as
	// it takes. [ErrSuspended] means that nobody is there to answer now.
	Ask(at event.Path, q Question) (Answer, error)
	// Each runs body for 0 to n-1, at most limit at the same time (0: all), each
	// with a host of its own, and waits for all. The first error cancels the
	// others and is returned. What has not begun by then, or when the host's own
	// scope is over, does not.
	Each(n, limit int, body func(h Host, i int) error) error
	// Within runs body with a host that is cancelled after d, and gives an
	// [*Overtime] of at where that ended it, which is an effect too.
	Within(at event.Path, d time.Duration, body func(h Host) error) error
	// Stopped says why the host's scope is over, nil while it is not: what computes
	// for long asks now and then.
	Stopped() error
	// Now is the time.
	Now() time.Time
	// Checkpoint tells that all that came before is in s: after a phase of the
	// run's own cascade, and after an item of one with each, beside which others
	// may be at work. The host must not keep s. [ErrYield] says that the run is to
	// be gone on with elsewhere: what is under way comes to its end, and [Run] ends
	// with a [*Yield].
	Checkpoint(s State) error
	// Emit tells what happened; the host numbers and dates it. A host that does a
	// run over again, with what it has recorded, is told again what it was told:
	// see [event.Once].
	Emit(e event.Event)
}

// The errors of a host that the engine understands.
var (
	ErrSuspended = errors.New("waiting for a person")
	ErrTimedOut  = errors.New("out of time")

	ErrUnfinished = errors.New("nobody knows whether it happened")
	ErrYield      = errors.New("to be gone on with elsewhere")
)

// A Yield is how a run ends here that its host wants gone on with elsewhere: from
// State, which is plain JSON, on any host. Nobody is told of an end. It is
// [ErrYield].
type Yield struct{ State State }

// Error says where the run goes on.
func (y *Yield) Error() string { return ErrYield.Error() }

// Is tells that it is [ErrYield].
func (y *Yield) Is(target error) bool { return target == ErrYield }

// An Overtime says whose time is over: a limit's within another must not be
// taken for the other's. It is [ErrTimedOut].
type Overtime struct{ At event.Path }

// Error says that it is out of time.
func (o *Overtime) Error() string { return ErrTimedOut.Error() }

// Is tells that it is [ErrTimedOut].
func (o *Overtime) Is(target error) bool { return target == ErrTimedOut }

// IsOver tells whether err says that the time of at is over.
func IsOver(err error, at event.Path) bool {
	var o *Overtime
	return errors.As(err, &o) && o.At == at
}

// Beside is the error of a branch that is cancelled because another one ended
// with err, which is not its own: it cannot be taken for it.
func Beside(err error) error { return fmt.Errorf("cancelled beside: %v", err) }
