// Package trust tells how strong the gates of a cascade are, of what kept runs,
// people's labels and planted faults say of them.
//
// In come the gates as they are now, every kept attempt of the cascade's runs in
// one pass ([journal.Journal.Attempts]) and a ledger of labels; out comes a
// [Report]: of each gate how often it lets bad texts by and refuses good ones, on
// natural and on planted texts apart, how far its votes agree, what a verdict
// costs, whether its rate has drifted; of each phase what of the released texts is
// bad however often one tries.
//
// A verdict counts for a gate only where the gate was then exactly what it is now,
// by the digest of what it is; what is stale is counted and told, and used for
// nothing. A text counts once for a gate, by its first verdict there, however
// many runs gave it. Nothing here reads a file, a clock or a model.
package trust

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/measure"
)

// A Question is what trust is asked.
type Question struct {
	CascadeID string
	Gates     []cascades.Gate // as they are now
	Gate      string          // this name alone; "" for all
	Labels    *measure.Ledger

	// Past gives the gates of a run that was kept, as they were then. It is asked
	// once for each version of the cascade; where it fails all of that is stale.
	Past func(run string) ([]cascades.Gate, error)
	// Evidence is what was measured of a gate before; may be nil. Drift is then
	// looked for from there on, else behind the first [Baseline] verdicts.
	Evidence func(g cascades.Gate) (e measure.Evidence, found, stale bool)

	// Judge asks a gate as it is now about a labelled text, named by its SHA-256, of
	// which no verdict of it is kept; said is false where it cannot be asked. It is
	// for gates that judge by the text alone and cost nothing; nil asks none.
	Judge func(g cascades.Gate, text string) (passed, said bool)

	FalseAlarms int                    // verdicts between two false alarms on average, at the least; 0 is [measure.FalseAlarms]
	Look        func(*journal.Attempt) // is shown every attempt on its way; may be nil
}

// Baseline is how many of a gate's verdicts drift is measured from where nobody
// has measured before.
const Baseline = 300

// A Report tells how strong the gates of a cascade are.
type Report struct {
	CascadeID      string                  `json:"cascade_id"`
	Runs           int                     `json:"runs"`
	Attempts       int                     `json:"attempts"`
	Shared         int                     `json:"shared_attempts"` // of them, which another run had and which count once
	Gates          []*Gate                 `json:"gates"`
	Phases         []*Phase                `json:"phases"`
	People         []People                `json:"people"`
	Contradictions []measure.Contradiction `json:"contradictions"` // cases to settle, which count for nothing
	Unknown        int                     `json:"unknown_texts"`  // labelled, and given by no run that was looked at
	Notes          []string                `json:"notes"`
	FalseAlarms    int                     `json:"false_alarms"` // see [measure.Chart]
}

// A Gate is how strong one is.
type Gate struct {
	Phase  string   `json:"phase"`
	Moment string   `json:"moment"`
	Gate   string   `json:"gate"`
	Mode   string   `json:"mode"`
	Digest string   `json:"digest"`
	Models []string `json:"models,omitempty"`

	Passed  measure.Rate `json:"passed"`  // of its verdicts
	Errors  int          `json:"errors"`  // it could not say
	Skipped int          `json:"skipped"` // it was not asked
	Stale   int          `json:"stale"`   // verdicts of what it was before

	Natural    measure.Confusion `json:"natural"` // texts that people labelled
	Anew       int               `json:"anew"`    // of these it was asked now, since it had said nothing of them as it is
	FalsePass  measure.Rate      `json:"false_pass"`
	FalseBlock measure.Rate      `json:"false_block"`
	Kappa      *float64          `json:"kappa"` // nil where it is unknown
	Base       measure.Rate      `json:"base"`  // the good among the labelled
	Steps      []measure.Rate    `json:"steps"` // the false passes after so many bad texts

	Planted        []measure.Planted `json:"planted"`
	PlantedAlways  measure.Rate      `json:"planted_false_pass"` // of the faults that are bad for sure
	PlantedUsually measure.Rate      `json:"planted_usually_pass"`

	Unanimous measure.Rate `json:"unanimous"` // of the verdicts of several votes
	Cost      float64      `json:"cost_usd_per_verdict"`
	Seconds   float64      `json:"seconds_per_verdict"`

	Drift    *Drift          `json:"drift,omitempty"` // nil where there are too few verdicts
	Evidence string          `json:"evidence"`        // kept, stale or none
	Hollow   *measure.Hollow `json:"hollow,omitempty"`

	gate  cascades.Gate
	names []string // under which it was asked, and no gate of the phase is now
	seen  map[string]bool
	lived measure.Confusion // of what it said in the runs
	chart *measure.Chart
	since time.Time
	last  time.Time
	base  measure.Rate
	took  time.Duration
	says  *bool // of the text of the attempt that is looked at, its last word
	cost  float64
}

// Drift is what became of a gate's rate since it was measured.
type Drift struct {
	Baseline measure.Rate `json:"baseline"` // of passes
	Since    measure.Rate `json:"since"`
	Level    float64      `json:"level"` // 1 is the alarm
	Alarm    *Alarm       `json:"alarm"` // nil for none

	Course measure.Course `json:"-"` // how the level came to be
}

// An Alarm is where drift was first told.
type Alarm struct {
	Verdict int       `json:"verdict"` // so many behind the baseline
	RunID   string    `json:"run_id"`
	Path    string    `json:"path"`
	Time    time.Time `json:"time"`
}

// A Phase is what the gates of one come to.
type Phase struct {
	Phase     string            `json:"phase"`
	First     measure.Rate      `json:"first_good"`     // first tries that people call good
	Accepted  measure.Rate      `json:"first_accepted"` // first tries that the gates let by
	Together  measure.Confusion `json:"together"`       // all gates whose no counts, as one
	FalsePass measure.Rate      `json:"false_pass"`
	Ceiling   measure.Bound     `json:"ceiling"` // released and bad, however often one tries

	counted []*Gate
	first   map[string]bool
	seen    map[string]bool
}

// People is how two who have labelled the same texts agree.
type People struct {
	First     string       `json:"first"`
	Second    string       `json:"second"`
	Agreement measure.Rate `json:"agreement"`
	Kappa     *float64     `json:"kappa"`
	Base      measure.Rate `json:"base"` // what the first calls good
}

// Ask reads the attempts and tells. An error is theirs.
func (q Question) Ask(attempts iter.Seq2[journal.Attempt, error]) (*Report, error) {
	q.FalseAlarms = cmp.Or(max(q.FalseAlarms, 0), measure.FalseAlarms)
	b := newBuilder(q)
	for a, err := range attempts {
		if err != nil {
			return nil, err
		}
		if q.Look != nil {
			q.Look(&a)
		}
		b.attempt(&a)
	}
	return b.done(), nil
}

// Ceilings are those of the phases, by their names.
func (r *Report) Ceilings() map[string]measure.Bound {
	ceilings := map[string]measure.Bound{}
	for _, p := range r.Phases {
		ceilings[p.Phase] = p.Ceiling
	}
	return ceilings
}

// Drifted tells whether some gate's rate has left its limits.
func (r *Report) Drifted() bool {
	return slices.ContainsFunc(r.Gates, func(g *Gate) bool { return g.Drift != nil && g.Drift.Alarm != nil })
}
