package engine

import (
	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// An effect is data: what a host is asked for says where in the cascade it
// stands, so that a process that has loaded the same files, and knows nothing of
// the run, can make it. What does it in the process of the run is at hand too,
// and does not travel.

// A Job is one call of a tool.
type Job struct {
	Place *cascades.Place `json:"place"`
	Call  tool.Call       `json:"call"`

	Tool tool.Tool `json:"-"` // what does it, found again by Place
}

// A Validation is one use of a validator on a text.
type Validation struct {
	Place     *cascades.Place    `json:"place"`
	Validator string             `json:"validator"`
	Pure      bool               `json:"pure,omitempty"`
	With      map[string]any     `json:"with,omitempty"` // parameters that came with the run
	Subject   validators.Subject `json:"subject"`

	Check validators.Check `json:"-"` // what does it, found again by Place
}

// A Finding is what came of a validation: a verdict, or why there is none.
type Finding struct {
	Verdict validators.Verdict `json:"verdict"`
	Failure string             `json:"failure,omitempty"`
}

// Key is the idempotency key of an effect of a run.
func Key(run string, at event.Path) string { return run + ":" + string(at) }

// nth is the address of what is done at a place again and again: model, then model[1].
func nth(at event.Path, name string, n int) event.Path {
	if n == 0 {
		return at.Join(name)
	}
	return at.At(name, n)
}
