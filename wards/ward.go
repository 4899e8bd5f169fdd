// Package wards decides what follows from the verdicts on one text. It is pure
// policy (LANGUAGE §3 and §4): it runs no validator and knows no phase.
//
// The caller passes the outcomes of all checks of one text, in file order. The
// package returns a [Decision]: release the text, send it back, or end the run.
//
//	budget := wards.NewBudget(5)
//	decision := budget.Decide(attempt, outcomes)
//
// Begin with [Outcome] and [Budget.Decide].
package wards

import "github.com/seed61713e19/capstan/validators"

// A Moment is the point in a phase at which a check runs.
type Moment string

// The moments, in the order in which a phase reaches them.
const (
	Pre          Moment = "pre"
	Tool         Moment = "tool"   // before a tool call of the model runs
	Result       Moment = "result" // the tool's result, before the model reads it
	Turn         Moment = "turn"
	OutputSchema Moment = "output_schema"
	LoopUntil    Moment = "loop_until"
	Post         Moment = "post"
)

// The moments of a validator of soundings. Its wards and its verdicts have the
// moment [Post], but they judge other texts. Filter judges the text of every
// try. Threshold judges the winner after each step of a reforge.
const (
	Filter    Moment = "filter"
	Threshold Moment = "threshold"
)

// A Mode is the effect of a failed check.
type Mode string

// The modes.
const (
	Blocking Mode = "blocking" // ends the run
	Retry    Mode = "retry"    // sends the text back with the reason
	Advisory Mode = "advisory" // records the verdict
	Shadow   Mode = "shadow"   // records the verdict too, but runs after the visit
)

// Enforces reports whether a failed check of the mode withholds the text. The
// other modes only record failures and errors.
func (m Mode) Enforces() bool { return m == Blocking || m == Retry }

// DefaultAttempts is the number of attempts, the first included, for a retry
// check without a limit of its own.
const DefaultAttempts = 3

// A Ward is one check at one place of a cascade. Wards are compared by
// identity: each place must have its own Ward.
type Ward struct {
	Name        string // the validator's name
	Moment      Moment
	Mode        Mode
	MaxAttempts int  // attempts in total, the first included; only for Retry
	Silent      bool // the author sees neither the name nor the reason
}

// String returns the moment and the validator's name, or the name alone if both
// are equal.
func (w *Ward) String() string {
	if w.Name == string(w.Moment) {
		return w.Name
	}
	return string(w.Moment) + " " + w.Name
}

// sharesPhaseBudget reports whether the ward uses the phase's own max_attempts.
// The checks output_schema and loop_until share one budget.
func (w *Ward) sharesPhaseBudget() bool { return w.Moment == OutputSchema || w.Moment == LoopUntil }

// An Outcome is the result of a ward's validator for one text. If Err is set,
// the validator returned no verdict. If Skipped is set, the validator did not
// run, because a free check had refused the text. Verdict then contains only
// the reason.
type Outcome struct {
	Ward    *Ward
	Verdict validators.Verdict
	Err     error
	Skipped bool
}

// Failed reports whether the validator rejected the text. Errors and skipped
// checks are not failures.
func (o Outcome) Failed() bool { return o.Err == nil && !o.Skipped && !o.Verdict.Valid }

// Refuses reports whether the outcome withholds the text: an enforced check
// failed.
func (o Outcome) Refuses() bool { return o.Failed() && o.Ward.Mode.Enforces() }

// Stops reports whether the outcome ends the run regardless of other outcomes.
// That is a failure of a blocking ward, or an error of an enforced one.
func (o Outcome) Stops() bool {
	if o.Err != nil {
		return o.Ward.Mode.Enforces()
	}
	return o.Failed() && o.Ward.Mode == Blocking
}
