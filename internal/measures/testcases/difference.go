package testcases

import (
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
)

// The subjects of a difference.
const (
	Request   = "request"   // a model, tool, validator or person gets another request
	Missing   = "missing"   // a request was not recorded
	Unused    = "unused"    // a recorded answer was not requested
	Verdict   = "verdict"   // of a check
	Route     = "route"     // the phases, their order or their status
	Output    = "output"    // of a phase, or the checks that degraded it
	Status    = "status"    // of the run, with its error
	CallCount = "calls"     // of models
	Caught    = "caught"    // planted faults that the checks of a phase caught
	Invalid   = "invalid"   // the cascade does not load
	Broken    = "broken"    // the files of the test case cannot be read
	Cancelled = "cancelled" // the test was interrupted
)

// A Difference is one way in which a replay differs from its test case.
type Difference struct {
	About   string     `json:"about"`
	Path    event.Path `json:"path,omitempty"`
	Phase   string     `json:"phase,omitempty"`
	Message string     `json:"message"`        // one line
	Diff    string     `json:"diff,omitempty"` // a unified diff, or the request
}

// An Outcome is the result of a test.
type Outcome struct {
	Name        string        `json:"name"`
	Dir         string        `json:"dir"`
	Differences []Difference  `json:"differences"` // in the order of the run
	Elapsed     time.Duration `json:"-"`
	Updated     bool          `json:"updated,omitempty"` // the expectations were rewritten

	// Unmeasured are the phases with an expected share of caught faults and without a released
	// text.
	Unmeasured []string `json:"unmeasured,omitempty"`

	cascade string // the id of the cascade; "" if it did not run
	replay  *replay
	got     expectation
}

// OK reports whether the test passed.
func (o Outcome) OK() bool { return len(o.Differences) == 0 }

// Unmeasured returns the phases, with the ids of their cascades, whose caught faults no test
// measures.
func Unmeasured(all []Outcome) (list []string) {
	ran, without := map[string]int{}, map[[2]string]int{}
	for _, o := range all {
		ran[o.cascade]++
		for _, phase := range o.Unmeasured {
			without[[2]string{o.cascade, phase}]++
		}
	}
	for at, n := range without {
		if n == ran[at[0]] {
			list = append(list, at[0]+": "+at[1])
		}
	}
	slices.Sort(list)
	return list
}

// failedOutcome returns the outcome of a test that could not run.
func failedOutcome(name, dir, about string, err error) Outcome {
	return Outcome{Name: name, Dir: dir, Differences: []Difference{{About: about, Message: err.Error()}}}
}
