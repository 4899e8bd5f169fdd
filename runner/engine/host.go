// Package engine runs cascades. The caller passes a [Host], a cascade and a
// [State], and gets a [Result]. The host performs the effects (models, tools,
// validators, people, time) and receives the events. The engine decides what
// happens next.
//
//	result, err := engine.Run(host, cascade, engine.State{RunID: "r1", Input: input})
//
// A flow moves from phase to phase (flow.go, route.go). A visit to a phase
// (phase.go) does its work once, for each item of a list (each.go), in parallel
// with others (group.go), or several times to choose the best (soundings.go,
// tries.go). The work is a series of attempts (try.go). An attempt consists of
// turns with the model and its tools (converse.go, call.go), or of a tool or a
// composed text (work.go). Checks then judge the text (check.go, candidate.go).
// Their reasons are the feedback for the next attempt. Package wards decides
// what the verdicts mean. Only released texts are visible to later phases.
//
// Two decisions shape the engine. First, it uses no clock, goroutines, random
// numbers, environment, files or map order of its own. The same results of
// effects always produce the same run. A run is resumed or replayed by a host
// that answers from its records. Second, each effect has a unique path, which
// is the key of its record. Parallel work uses [Host.Each] on copies of the
// state, which are joined in file order (fan.go).
//
// A verdict is never an error, and an error is never a verdict. A failed check
// is data, and an error ends its scope (error.go). A text must pass its checks
// before it is released, stored or used. State is never changed in place.
//
// Begin with [Host], then [Run] in flow.go, then try.go. Package storytest
// documents the behaviour as transcripts.
package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A Host performs the effects of one scope of one run. Failures of an effect
// are data in its result. An error means that the engine must stop: the scope
// is cancelled or suspended, or the engine's own body returned the error to
// Each or Within.
//
// The path of an effect is unique in its run. It is the same whenever the run
// is repeated, so hosts record the effect under it.
type Host interface {
	// Model sends a request to a model. If all retries failed, the response has
	// its Failure set.
	Model(at event.Path, req model.Request) (model.Response, error)
	// Tool calls a tool. It returns [ErrUnfinished] if an earlier start of the
	// run called the tool and died before the result, and the tool must not be
	// called twice ([tool.Tool.Repeatable]).
	Tool(at event.Path, job Job) (tool.Result, error)
	// Validate runs a validator that uses neither a model nor a cascade.
	Validate(at event.Path, v Validation) (Finding, error)
	// Ask asks a person and may wait for the answer indefinitely. It returns
	// [ErrSuspended] if no person can answer now.
	Ask(at event.Path, q Question) (Answer, error)
	// Each runs body for 0 to n-1, each with its own host, and waits for all.
	// At most limit bodies run at once; 0 means no limit. Each returns the
	// first error and cancels the other bodies. It starts no further body after
	// an error or when the host's scope is over.
	Each(n, limit int, body func(h Host, i int) error) error
	// Within runs body with a host that is cancelled after d. If that ends the
	// body, Within returns an [*Overtime] with the path, which is an effect
	// too.
	Within(at event.Path, d time.Duration, body func(h Host) error) error
	// Stopped returns the reason why the host's scope is over, or nil. Long
	// computations must call it from time to time.
	Stopped() error
	// Now returns the time.
	Now() time.Time
	// Checkpoint reports that s contains all completed work. The engine calls
	// Checkpoint after a phase of the run's own cascade, and after an item of
	// each while other items may still run. The host must not retain s. If
	// Checkpoint returns [ErrYield], running work finishes, and [Run] returns a
	// [*Yield].
	Checkpoint(s State) error
	// Emit reports an event. The host sets its number and time. A host that
	// repeats a run from its records receives the events again: see
	// [event.Deduplicator].
	Emit(e event.Event)
}

// The host's errors that the engine handles.
var (
	ErrSuspended = errors.New("waiting for a person")
	ErrTimedOut  = errors.New("out of time")

	ErrUnfinished = errors.New("nobody knows whether it happened")
	ErrYield      = errors.New("to be gone on with elsewhere")
)

// A Yield ends a run that its host wants to continue elsewhere. State is plain
// JSON and works on any host. No end of the run is reported. errors.Is(y,
// ErrYield) is true.
type Yield struct{ State State }

// Error returns the text of [ErrYield].
func (y *Yield) Error() string { return ErrYield.Error() }

// Is reports whether target is [ErrYield].
func (y *Yield) Is(target error) bool { return target == ErrYield }

// An Overtime names the time limit that ended a scope, because time limits may
// be nested. errors.Is(o, ErrTimedOut) is true.
type Overtime struct{ At event.Path }

// Error returns the text of [ErrTimedOut].
func (o *Overtime) Error() string { return ErrTimedOut.Error() }

// Is reports whether target is [ErrTimedOut].
func (o *Overtime) Is(target error) bool { return target == ErrTimedOut }

// IsOver reports whether err means that the time limit at the path is over.
func IsOver(err error, at event.Path) bool {
	var o *Overtime
	return errors.As(err, &o) && o.At == at
}

// Beside returns the error of a branch that was cancelled because another
// branch ended with err. It does not wrap err, so errors.Is cannot mistake it
// for the branch's own error.
func Beside(err error) error { return fmt.Errorf("cancelled beside: %v", err) }
