// Package trace builds the tree of a run from its events: phases, attempts, turns
// and calls, with their verdicts. It reads no files and no database.
//
// A cascade within a run (a sub-cascade, a tool, a validator) has its own phases.
// They are in the Phases of the attempt that ran the cascade. If the cascade ran
// outside any attempt, they are in the Phases of the phase. [Run.All] returns all
// phases.
package trace

import (
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A Run is the tree of a run up to its latest event.
type Run struct {
	RunID     string
	CascadeID string
	Status    string // "" before the end
	Started   time.Time
	Finished  time.Time // the time of the latest event
	Input     map[string]any
	Phases    []*Phase    // visits to the cascade's own phases, in the order of their starts
	Usage     model.Usage // before the end, the usage of the replies so far
	Error     *event.Error
	Output    any
	Question  string // the open question; "" for none

	about map[event.Path]event.Path // by question: the attempt whose text the question is about
}

// A Phase is one visit to a phase.
type Phase struct {
	Path              event.Path
	Name              string
	Cascade           string // the nested cascade of the phase; "" for the cascade of the run
	Shared            string // the ID of its cascade if the outer phase can read the output; else ""
	Status            string // "" before the end
	Started, Finished time.Time
	Attempts          []*Attempt // including those of soundings, sorted by sounding
	Edits             []*Attempt // a person's edits of the released text; checks judge them too
	Verdicts          []Verdict  // of pre-wards, and of phases that are validators
	Calls             []*Call    // outside any attempt: the evaluator of soundings, judges of pre-wards
	Phases            []*Phase   // of nested cascades outside any attempt
	Branches          []*Phase   // the items of a phase with each, or the phases of a group
	Item              int        // the number of an item, from 0; else -1
	Items             int        // the number of items
	Failures          []event.Failure
	Output            any
	Released          event.Path     // the attempt with the released text; "" for none and in runs without this field
	Next              string         // the next phase; "" for none
	Left              string         // the reason for a missing output, for the next phase
	Question          string         // the last question to a person
	Answers           []event.Answer // answers to its questions; an open question has no value
}

// HasOutput reports whether the visit released an output.
func (p *Phase) HasOutput() bool { return p.Status == "succeeded" || p.Status == "degraded" }

// Completed reports whether the visits to the phases of a cascade ended with an output. No
// event marks the end of a nested cascade, because any phase may be the last phase.
func Completed(visits []*Phase) bool {
	last := visits[len(visits)-1]
	return last.Next == "" && (last.HasOutput() || last.Status == "skipped")
}

// Texts returns the attempts of the phase, followed by a person's edits.
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
	Edited            bool // whether a person wrote the text
	Status            string
	Started, Finished time.Time
	Text              string
	Turns             []*Turn
	Calls             []*Call   // calls of judges, and for route_to
	Tools             []*Use    // of a tool phase, and of route_to
	Phases            []*Phase  // of nested cascades, including those in turns
	Verdicts          []Verdict // on its text, including those of the filter of soundings
	Feedback          []string
}

// A Turn is one turn of an attempt.
type Turn struct {
	Path     event.Path
	Number   int // from 0
	Started  time.Time
	Finished time.Time // the time of the last event of the turn
	Calls    []*Call   // calls of the phase's model, then of judges
	Tools    []*Use
	Verdicts []Verdict // of turn wards, wards of tools and their results, and loop_until if it runs in each turn
}

// A Call is one call to a model.
type Call struct {
	Path              event.Path
	Validator         string // the name of the judge; "" for the model of the phase
	Role              string
	Started, Finished time.Time
	Request           *model.Request  // as in the event, which may have only the new messages
	Response          *model.Response // nil before the reply
}

// A Use is one call to a tool.
type Use struct {
	Path              event.Path
	Started, Finished time.Time
	Call              *tool.Call
	Result            *tool.Result
}

// A Verdict is a verdict with the time of its event.
type Verdict struct {
	event.Verdict
	Time time.Time
}
