// Package trust tells how strong the gates of a cascade are, of what kept runs,
// people's labels and planted faults say of them.
//
// In come the gates as they are now, every kept attempt of the cascade's runs in
// one pass ([journal.Journal.Attempts]) and a ledger of labels; out comes a
// [Report]: of each gate how often it lets bad texts by and refuses good ones, on
// natural and on planted texts apart, how far its votes agree, what a verdict
// costs, whether its rate has drifted; of each phase how many of the released texts
// are bad, and how many good texts its gates refuse.
//
// A verdict counts for a gate only where the gate was then exactly what it is now,
// by the digest of what it is; what is stale is counted and told, and used for
// nothing. A text counts once for a gate, by its first verdict there, however
// many runs gave it. Nothing here reads a file, a clock or a model.
package trust

import (
	"cmp"
	"fmt"
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

// A Report is how strong the gates of a cascade are.
type Report struct {
	CascadeID      string                  `json:"cascade_id"`
	Runs           int                     `json:"runs"`
	Attempts       int                     `json:"attempts"`
	Shared         int                     `json:"shared_attempts"` // of them, which another run had and which count once
	Gates          []*Gate                 `json:"gates"`
	Phases         []*Phase                `json:"phases"`
	People         []People                `json:"people"`
	Contradictions []measure.Contradiction `json:"contradictions"`  // cases to settle, which count for nothing
	Unknown        int                     `json:"unknown_texts"`   // labelled, and given by no run that was looked at
	Uncounted      int                     `json:"uncounted_texts"` // labelled, but nobody knows how they were drawn
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
	Since   *Change      `json:"since"`   // nil if it never was another

	Natural    measure.Tally      `json:"natural"` // texts that people labelled
	Anew       int                `json:"anew"`    // of these it was asked now, since it had said nothing of them as it is
	FalsePass  measure.Estimate   `json:"false_pass"`
	FalseBlock measure.Estimate   `json:"false_block"`
	Next       string             `json:"next"`  // what to do; "" for nothing
	Kappa      *float64           `json:"kappa"` // of random draws; nil where it is unknown
	Base       measure.Rate       `json:"base"`  // the good among these
	Steps      []measure.Estimate `json:"steps"` // the false passes after so many bad texts

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
	from  time.Time // verdicts before are of what it was before it drifted
	since time.Time // when its evidence ends
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

// A Phase is the result of all its gates together. An attempt counts only if no gate that
// releases texts has changed since.
type Phase struct {
	Phase      string           `json:"phase"`
	Accepted   measure.Rate     `json:"first_accepted"` // first attempts that all gates passed
	Texts      measure.Tally    `json:"texts"`          // that people labelled, by what all gates say together
	Released   measure.Estimate `json:"bad_released"`   // the bad among the texts that all gates passed
	FalseBlock measure.Estimate `json:"false_block"`
	ByAttempt  []measure.Rate   `json:"bad_released_by_attempt"` // from the first attempt on
	Since      *Change          `json:"since"`                   // nil if its gates never were others
	Attempts   int              `json:"attempts"`                // that count
	Stale      int              `json:"stale_attempts"`          // of other gates, and not counted

	counted []*Gate
	seen    map[string]bool
}

// A Change is when a gate became what it is now.
type Change struct {
	Gate  string    `json:"gate"`
	How   string    `json:"how"`   // changed, was added, was removed or drifted
	Last  time.Time `json:"last"`  // when it was last asked, or its run began, before
	First time.Time `json:"first"` // and first after; zero if it was not yet
}

// String is "tone changed on 2026-01-03", or "tone changed after 2026-01-02" if there
// is no run since.
func (c *Change) String() string {
	if c.First.IsZero() {
		return fmt.Sprintf("%s %s after %s", c.Gate, c.How, c.Last.Format(time.DateOnly))
	}
	return fmt.Sprintf("%s %s on %s", c.Gate, c.How, c.First.Format(time.DateOnly))
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

// Released returns the bad among the released texts of each phase, by its name, in words.
func (r *Report) Released() map[string]string {
	words := map[string]string{}
	for _, p := range r.Phases {
		words[p.Phase] = p.Bad()
	}
	return words
}

// Since returns the question about the gates as they are since the alarms of a report:
// what they said before counts no more.
func (q Question) Since(r *Report) Question {
	alarms := map[string]*Gate{}
	for _, g := range r.Gates {
		if g.Drift != nil && g.Drift.Alarm != nil {
			alarms[g.gate.At()] = g
		}
	}
	known := q.Evidence
	q.Evidence = func(g cascades.Gate) (e measure.Evidence, found, stale bool) {
		if was := alarms[g.At()]; was != nil {
			at := was.Drift.Alarm.Time.Add(1) // what raised the alarm may still be of before
			return measure.Evidence{Since: at, Time: at.Add(-1)}, true, false
		}
		if known == nil {
			return e, false, false
		}
		return known(g)
	}
	return q
}

// Drifted tells whether some gate's rate has left its limits.
func (r *Report) Drifted() bool {
	return slices.ContainsFunc(r.Gates, func(g *Gate) bool { return g.Drift != nil && g.Drift.Alarm != nil })
}
