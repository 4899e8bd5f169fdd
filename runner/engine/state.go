package engine

import (
	"maps"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/shared"
	"github.com/seed61713e19/capstan/runner/words"
)

// Made is a call that earlier starts of a run have made.
type Made = shared.Made

// A State is all that a run knows between two phases. It is plain JSON: a run
// goes on from one as it would have gone on without a break.
type State struct {
	RunID string `json:"run_id"`
	Model string `json:"model,omitempty"` // asked in place of what the cascade says, a [cascades.Chosen]
	Alike string `json:"alike,omitempty"` // a run whose lots are drawn again, such as the order in which an evaluator is shown its candidates; "" for this one's own

	Given cascades.Model `json:"-"` // the default of the cascade that this one is part of
	Asked string         `json:"-"` // what the whole is asked, which its models read before their instructions

	Input   map[string]any `json:"input"`
	State   map[string]any `json:"state"`
	Outputs map[string]any `json:"outputs"`
	Output  any            `json:"output"` // of the last phase that released one

	Next            string         `json:"next,omitempty"` // the phase to run; "" is the first
	Done            bool           `json:"done,omitempty"`
	Previous        string         `json:"previous,omitempty"`
	ValidationError string         `json:"validation_error,omitempty"` // why the phase before was left
	Visits          map[string]int `json:"visits"`
	Visited         int            `json:"visited"`
	Within          bool           `json:"within,omitempty"` // Next is under way: a phase with each
	Items           []Item         `json:"items,omitempty"`  // of it, those that have come to their end, in that order
	Lineage         []Passage      `json:"lineage"`

	Phases   []PhaseRecord   `json:"phases"`
	Verdicts []event.Verdict `json:"verdicts"`
	Answers  []event.Answer  `json:"answers,omitempty"`
	Degraded []Degraded      `json:"degraded"`
	Usage    model.Usage     `json:"usage"`
	Elapsed  time.Duration   `json:"elapsed"` // spent before this start of the run

	Made map[string]Made `json:"-"` // what each call has spent that earlier starts of the run have made, which Usage has not

	reserved func(key string) bool // of the cascade that shares its state with this one; nil for none

	seen   bool // Input is what a file gives, of which lint tells, or all that a check sees: not a model's call
	shared bool // Outputs is that of the flow that this one branched off from
}

// Set puts a value into the state. The map is a new one: who has kept the old
// one, to undo what a refused text has set, has it as it was.
func (s *State) Set(key string, value any) {
	own := make(map[string]any, len(s.State)+1)
	maps.Copy(own, s.State)
	own[key] = value
	s.State = own
}

// release puts an output where later phases read it. The map is a new one only
// where others share it: in a branch.
func (s *State) release(name string, output any) {
	if s.shared {
		s.Outputs, s.shared = maps.Clone(s.Outputs), false
	}
	s.Outputs[name] = output
}

// A Passage is one phase that released an output.
type Passage = words.Passage

// A PhaseRecord is what became of one visit to a phase.
type PhaseRecord struct {
	Name       string `json:"name"`
	Status     string `json:"status"`
	Attempts   int    `json:"attempts"`
	Turns      int    `json:"turns"`
	ModelCalls int    `json:"model_calls"`
	Items      int    `json:"items,omitempty"` // of each

	Failures []event.Failure `json:"failures,omitempty"` // of items that were kept
}

// A Degraded is an output that was released though checks did not pass.
type Degraded struct {
	Phase  string   `json:"phase"`
	Checks []string `json:"checks"` // the validators that said no
}

// The statuses of a run. Those of a phase are these, and skipped.
const (
	Succeeded  = "succeeded"
	Blocked    = "blocked"
	Exhausted  = "exhausted"
	Failed     = "failed"
	Waiting    = "waiting"
	OverBudget = "over_budget"
	Cancelled  = "cancelled"

	skipped  = "skipped"
	degraded = "degraded"
)

// A Result is what a run came to. Its JSON is that of run, resume and show.
type Result struct {
	RunID     string          `json:"run_id"`
	CascadeID string          `json:"cascade_id"`
	Status    string          `json:"status"`
	Output    any             `json:"output"` // of the last phase; nil unless succeeded
	Outputs   map[string]any  `json:"outputs"`
	Phases    []PhaseRecord   `json:"phases"`
	Verdicts  []event.Verdict `json:"verdicts"`
	Answers   []event.Answer  `json:"answers,omitempty"` // people's
	Usage     model.Usage     `json:"usage"`
	Error     *event.Error    `json:"error"`
	Degraded  []Degraded      `json:"degraded"`
}
