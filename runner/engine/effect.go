package engine

import (
	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// Effects are data. A request to the host names its place in the cascade. A
// process that has loaded the same files can therefore perform it without the
// run. The fields without JSON hold the function for use within the process.

// A Job is one call of a tool.
type Job struct {
	Place *cascades.Place `json:"place"`
	Call  tool.Call       `json:"call"`

	Tool tool.Tool `json:"-"` // the implementation, found again by Place
}

// A Validation is one use of a validator on a text.
type Validation struct {
	Place     *cascades.Place    `json:"place"`
	Validator string             `json:"validator"`
	Pure      bool               `json:"pure,omitempty"`
	With      map[string]any     `json:"with,omitempty"` // parameters computed by the run
	Subject   validators.Subject `json:"subject"`

	Check validators.Check `json:"-"` // the implementation, found again by Place
}

// A Finding is the result of a validation: a verdict, or the reason why there
// is none.
type Finding struct {
	Verdict validators.Verdict `json:"verdict"`
	Failure string             `json:"failure,omitempty"`
}

// Key returns the idempotency key of an effect of a run.
func Key(run string, at event.Path) string { return run + ":" + string(at) }

// nth returns the path of a repeated effect: model, then model[1].
func nth(at event.Path, name string, n int) event.Path {
	if n == 0 {
		return at.Join(name)
	}
	return at.At(name, n)
}
