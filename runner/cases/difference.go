package cases

import (
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
)

// What a difference is about.
const (
	Request   = "request"   // a model, tool, validator or person was asked something else
	Missing   = "missing"   // something was asked for that was not recorded
	Unused    = "unused"    // something that was recorded was not asked for
	Verdict   = "verdict"   // a check found something else
	Route     = "route"     // the phases, their order, or how they ended
	Output    = "output"    // of a phase, or what it was degraded by
	Status    = "status"    // of the run, with its error
	CallCount = "calls"     // of models
	Caught    = "caught"    // of planted faults, by the checks of a phase
	Invalid   = "invalid"   // the cascade cannot be loaded
	Broken    = "broken"    // the case cannot be read
	Cancelled = "cancelled" // the test was interrupted
)

// A Difference is one way in which a run was not what its case expects.
type Difference struct {
	About   string     `json:"about"`
	Path    event.Path `json:"path,omitempty"`
	Phase   string     `json:"phase,omitempty"`
	Message string     `json:"message"`        // one line
	Diff    string     `json:"diff,omitempty"` // a unified diff from expected to got, or what was asked for
}

// An Outcome is what came of running a case.
type Outcome struct {
	Name        string        `json:"name"`
	Dir         string        `json:"dir"`
	Differences []Difference  `json:"differences"` // in the order in which they came up
	Elapsed     time.Duration `json:"-"`
	Updated     bool          `json:"updated,omitempty"` // its files were rewritten to what the run is now

	// Unmeasured are the phases whose checks are to catch a share of planted faults,
	// and of which the run has released no text to plant any in.
	Unmeasured []string `json:"unmeasured,omitempty"`

	cascade string // its id; "" where it could not be run
	replay  *replay
	got     expectation
}

// OK tells whether the run was what its case expects.
func (o Outcome) OK() bool { return len(o.Differences) == 0 }

// Unmeasured are the phases, behind their cascade's id, of which no case that was
// run has told whether the checks catch what the cascade asks of them.
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

// broken is the outcome of a case that could not be run.
func broken(name, dir, about string, err error) Outcome {
	return Outcome{Name: name, Dir: dir, Differences: []Difference{{About: about, Message: err.Error()}}}
}
