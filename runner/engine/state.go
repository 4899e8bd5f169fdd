package engine

import (
	"maps"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/runner/engine/internal/parallel"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// EarlierCall is a model call of an earlier start of the run.
type EarlierCall = parallel.EarlierCall

// A State is the complete state of a run between two phases. It is plain JSON.
// Any host can continue the run with it.
type State struct {
	RunID   string `json:"run_id"`
	Model   string `json:"model,omitempty"`    // overrides the cascade's models; a [cascades.Chosen]
	SeedRun string `json:"seed_run,omitempty"` // the run whose random choices are repeated, such as the order of an evaluator's candidates; "" for this run's own

	DefaultModel cascades.Model `json:"-"` // the default model of the enclosing cascade
	Task         string         `json:"-"` // the task of the whole cascade, which models read before their instructions

	Input   map[string]any `json:"input"`
	State   map[string]any `json:"state"`
	Outputs map[string]any `json:"outputs"`
	Output  any            `json:"output"` // of the last phase that released one

	Next            string         `json:"next,omitempty"` // the phase to run; "" for the first
	Last            string         `json:"last,omitempty"` // the run ends after the first visit to this phase; "" for the cascade's own end
	Done            bool           `json:"done,omitempty"`
	Previous        string         `json:"previous,omitempty"`
	ValidationError string         `json:"validation_error,omitempty"` // why the previous phase has no output
	Visits          map[string]int `json:"visits"`
	Visited         int            `json:"visited"`
	InPhase         bool           `json:"in_phase,omitempty"` // the visit to Next has begun: a phase with each
	Items           []Item         `json:"items,omitempty"`    // its completed items, in order of completion
	Lineage         []Passage      `json:"lineage"`

	Phases   []PhaseRecord   `json:"phases"`
	Verdicts []event.Verdict `json:"verdicts"`
	Answers  []event.Answer  `json:"answers,omitempty"`
	Degraded []Degraded      `json:"degraded"`
	Usage    model.Usage     `json:"usage"`
	Elapsed  time.Duration   `json:"elapsed"` // before this start of the run

	EarlierCalls map[string]EarlierCall `json:"-"` // calls of earlier starts whose cost is not in Usage

	reserved func(key string) bool // of the cascade that shares its state; nil for none

	seen   bool // Input comes from a file or a check, not from a model's call
	shared bool // Outputs is shared with the parent flow
}

// Set stores a value in the state. It copies the map, so that callers can
// restore the old one.
func (s *State) Set(key string, value any) {
	own := make(map[string]any, len(s.State)+1)
	maps.Copy(own, s.State)
	own[key] = value
	s.State = own
}

// release stores an output for later phases. It copies the map only in a branch
// that shares it.
func (s *State) release(name string, output any) {
	if s.shared {
		s.Outputs, s.shared = maps.Clone(s.Outputs), false
	}
	s.Outputs[name] = output
}

// A Passage is a phase that released an output.
type Passage = messages.Passage

// A PhaseRecord is the result of one visit to a phase.
type PhaseRecord struct {
	Name       string `json:"name"`
	Status     string `json:"status"`
	Attempts   int    `json:"attempts"`
	Turns      int    `json:"turns"`
	ModelCalls int    `json:"model_calls"`
	Items      int    `json:"items,omitempty"` // of each

	Failures []event.Failure `json:"failures,omitempty"` // of failed items, if the phase keeps the others
}

// A Degraded is an output that was released although checks failed.
type Degraded struct {
	Phase  string   `json:"phase"`
	Checks []string `json:"checks"` // the validators that failed
}

// The statuses of a run. A phase can also be skipped or degraded.
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

// A Result is the result of a run. Its JSON is the output of the commands run,
// resume and show.
type Result struct {
	RunID     string          `json:"run_id"`
	CascadeID string          `json:"cascade_id"`
	Status    string          `json:"status"`
	Output    any             `json:"output"` // of the last phase; nil unless succeeded
	Outputs   map[string]any  `json:"outputs"`
	Phases    []PhaseRecord   `json:"phases"`
	Verdicts  []event.Verdict `json:"verdicts"`
	Answers   []event.Answer  `json:"answers,omitempty"` // from people
	Usage     model.Usage     `json:"usage"`
	Error     *event.Error    `json:"error"`
	Degraded  []Degraded      `json:"degraded"`
}
