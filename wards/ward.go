// Package wards says what a verdict means at a moment in a mode: what happens
// next, and how often a text may be sent back. It is pure policy (LANGUAGE §3
// and §4): it runs no validator and knows no phase.
package wards

import "github.com/seed61713e19/capstan/validators"

// A Moment is when a check runs.
type Moment string

// The moments, in the order in which they come in a phase.
const (
	Pre          Moment = "pre"
	Tool         Moment = "tool"   // before a call that a model asked for acts
	Result       Moment = "result" // what a tool gave, before the model reads it
	Turn         Moment = "turn"
	OutputSchema Moment = "output_schema"
	LoopUntil    Moment = "loop_until"
	Post         Moment = "post"
)

// Where a validator of soundings stands. Their wards are of [Post], and so are
// their verdicts, but they are asked about other texts: Filter about every try's,
// Threshold about the winner's after each step of its reforge.
const (
	Filter    Moment = "filter"
	Threshold Moment = "threshold"
)

// A Mode says what a failing check does.
type Mode string

// The modes.
const (
	Blocking Mode = "blocking" // ends the run
	Retry    Mode = "retry"    // sends the text back with the reason
	Advisory Mode = "advisory" // is noted
	Shadow   Mode = "shadow"   // is noted too, and is asked when the visit is over
)

// Stands tells whether what a check of the mode refuses goes no further. Of the
// other modes a no, and that the check could not say, is noted alone.
func (m Mode) Stands() bool { return m == Blocking || m == Retry }

// DefaultAttempts is how often a text is tried in all where a check that may
// send it back does not say.
const DefaultAttempts = 3

// A Ward is one check at its place: what a failing verdict of it means. Wards
// are compared by identity, so each place has a Ward of its own.
type Ward struct {
	Name        string // of the validator
	Moment      Moment
	Mode        Mode
	MaxAttempts int  // tries in all, the first included; counts for Retry alone
	Silent      bool // says neither its name nor its reason to the author
}

// String names the ward for a person: its moment and its validator, as one word
// where they are the same.
func (w *Ward) String() string {
	if w.Name == string(w.Moment) {
		return w.Name
	}
	return string(w.Moment) + " " + w.Name
}

// sharesRules tells whether the ward spends the phase's own max_attempts:
// output_schema and loop_until have one budget between them.
func (w *Ward) sharesRules() bool { return w.Moment == OutputSchema || w.Moment == LoopUntil }

// An Outcome is what a ward's validator said of a text; with Err, that it
// could not say; or Skipped, that it was not asked, since a check that costs
// nothing had refused the text. Its Verdict then has the reason alone.
type Outcome struct {
	Ward    *Ward
	Verdict validators.Verdict
	Err     error
	Skipped bool
}

// Failed tells whether the validator said no. An error is not a no, and nothing
// is what was not asked.
func (o Outcome) Failed() bool { return o.Err == nil && !o.Skipped && !o.Verdict.Valid }

// Refuses tells whether the text is not released as it is: somebody said no
// whose no counts.
func (o Outcome) Refuses() bool { return o.Failed() && o.Ward.Mode.Stands() }

// Stops tells whether the outcome ends the run whatever else is found: a no of
// a blocking ward, or no answer from one that must have one.
func (o Outcome) Stops() bool {
	if o.Err != nil {
		return o.Ward.Mode.Stands()
	}
	return o.Failed() && o.Ward.Mode == Blocking
}
