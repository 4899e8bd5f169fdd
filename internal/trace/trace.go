// Package trace folds the events of a run into the tree of what it did: phases,
// attempts, turns and calls, with their verdicts. It computes, and reads nothing.
//
// A cascade within a run (a sub-cascade, a tool, a validator) has phases of its
// own. They stand in the Phases of the attempt within which it ran, or of the
// phase where it ran outside any attempt; [Run.All] walks them all.
package trace

import (
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A Run is what a run did so far.
type Run struct {
	RunID     string
	CascadeID string
	Status    string // "" while it goes on
	Started   time.Time
	Finished  time.Time // of the last event
	Input     map[string]any
	Phases    []*Phase    // visits to the cascade's own phases, in the order in which they began
	Usage     model.Usage // while it goes on, of the calls that were answered
	Error     *event.Error
	Output    any
	Question  string // what it waits for; "" when it does not

	about map[event.Path]event.Path // by question: the attempt whose text it is about
}

// A Phase is one visit to a phase.
type Phase struct {
	Path              event.Path
	Name              string
	Cascade           string // the cascade it is of, within the run's own; "" for the run's own
	Shared            string // the name under which its cascade shares its output with the phase around it, "" for none
	Status            string // "" while it goes on
	Started, Finished time.Time
	Attempts          []*Attempt // those of soundings too, one sounding after another
	Edits             []*Attempt // a person's at the text that was let out, judged as the others are
	Verdicts          []Verdict  // of pre-wards, and of validators that are phases
	Calls             []*Call    // outside any attempt: a sounding's evaluator, judges of pre-wards
	Phases            []*Phase   // of cascades within the visit, outside its attempts
	Branches          []*Phase   // its items, of a phase with each, or the phases of a group
	Item              int        // of an item: its number, from 0; else -1
	Items             int        // how many there are
	Failures          []event.Failure
	Output            any
	Released          event.Path     // the attempt whose text was let out; "" where none was, and in runs kept before this was told
	Next              string         // where it led, "" for nowhere
	Left              string         // what the next phase hears of why there was no output
	Question          string         // what it asked a person last
	Answers           []event.Answer // to its questions; without a value where there is none yet
}

// HasOutput reports whether the visit released an output.
func (p *Phase) HasOutput() bool { return p.Status == "succeeded" || p.Status == "degraded" }

// Completed reports whether the visits to the phases of a cascade ended with an output. No
// event marks the end of a cascade within the run: any phase may be the last one.
func Completed(visits []*Phase) bool {
	last := visits[len(visits)-1]
	return last.Next == "" && (last.HasOutput() || last.Status == "skipped")
}

// Texts are the phase's attempts, and then a person's.
func (p *Phase) Texts() []*Attempt {
	if len(p.Edits) == 0 {
		return p.Attempts
	}
	return slices.Concat(p.Attempts, p.Edits)
}

// An Attempt is one attempt at a phase.
type Attempt struct {
	Path              event.Path
	Number            int  // from 1
	Sounding          int  // from 0; -1 outside soundings
	Edited            bool // a person made its text
	Status            string
	Started, Finished time.Time
	Text              string
	Turns             []*Turn
	Calls             []*Call   // of judges of its text, of route_to
	Tools             []*Use    // of a phase that is a tool, of route_to
	Phases            []*Phase  // of cascades within it, those of its turns too
	Verdicts          []Verdict // on its text; a sounding's filter too
	Feedback          []string
}

// A Turn is one turn of an attempt.
type Turn struct {
	Path     event.Path
	Number   int // from 0
	Started  time.Time
	Finished time.Time // of the last event within it
	Calls    []*Call   // the author's first, then judges'
	Tools    []*Use
	Verdicts []Verdict // of turn wards and of those around its tools, and of loop_until where it might end the turns
}

// A Call is one call of a model.
type Call struct {
	Path              event.Path
	Validator         string // the judge that called
	Role              string
	Started, Finished time.Time
	Request           *model.Request  // as the events carry it
	Response          *model.Response // nil while it is under way
}

// A Use is one call of a tool.
type Use struct {
	Path              event.Path
	Started, Finished time.Time
	Call              *tool.Call
	Result            *tool.Result
}

// A Verdict is a verdict with when it was given.
type Verdict struct {
	event.Verdict
	Time time.Time
}
