// Package trust measures the gates of a cascade with stored runs, labels and planted faults.
//
// The input ([Question]) is the present gates, a ledger of labels, and every stored attempt of the
// cascade's runs ([journal.Journal.Attempts]). The output is a [Result]. For each gate it has the
// false passes and false blocks of natural and planted texts, the agreement of votes, the cost of a
// verdict, and drift. For each phase it has the bad texts among the released texts, and the good
// texts that its gates rejected.
//
// A verdict counts only if the digest of its gate has not changed. Other verdicts are stale and
// counted apart. A text counts once for a gate, by its first verdict. The package reads no file and
// no clock, and calls no model.
package trust

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A Question is the input of a measurement.
type Question struct {
	CascadeID string
	Gates     []cascades.Gate // the present gates
	Gate      string          // only gates with this name; "" for all
	Labels    *stats.Ledger

	// Past returns the gates of a stored run at that time. It is called once for each version of
	// the cascade. If it returns an error, the verdicts of that version are stale.
	Past func(run string) ([]cascades.Gate, error)
	// Evidence returns the stored evidence of a gate, from which drift is measured. Without
	// evidence, the first [Baseline] verdicts are the baseline. It may be nil.
	Evidence func(g cascades.Gate) (e stats.Evidence, found, stale bool)

	// Judge runs a present gate on a labelled text without a verdict. text is the SHA-256. found is
	// false if the gate cannot run. It is for gates that need only the text and cost nothing, and
	// may be nil.
	Judge func(g cascades.Gate, text string) (passed, found bool)

	FalseAlarms int                    // minimum average number of verdicts between false alarms; 0 means [stats.FalseAlarms]
	Look        func(*journal.Attempt) // called with every attempt; may be nil
}

// Baseline is the number of verdicts from which drift is measured if there is no evidence.
const Baseline = 300

// A Result is the measurement of all gates of a cascade.
type Result struct {
	CascadeID      string                `json:"cascade_id"`
	Runs           int                   `json:"runs"`
	Attempts       int                   `json:"attempts"`
	Shared         int                   `json:"shared_attempts"` // attempts shared with another run, which count once
	Gates          []*Gate               `json:"gates"`
	Phases         []*Phase              `json:"phases"`
	People         []People              `json:"people"`
	Contradictions []stats.Contradiction `json:"contradictions"`  // labels that disagree, which do not count
	Unknown        int                   `json:"unknown_texts"`   // labelled texts in no run
	Uncounted      int                   `json:"uncounted_texts"` // labelled texts whose draw is unknown
	Notes          []string              `json:"notes"`
	FalseAlarms    int                   `json:"false_alarms"` // see [stats.Chart]
}

// A Gate is the measurement of one gate.
type Gate struct {
	Phase  string   `json:"phase"`
	Moment string   `json:"moment"`
	Gate   string   `json:"gate"`
	Mode   string   `json:"mode"`
	Digest string   `json:"digest"`
	Models []string `json:"models,omitempty"`

	Passed  stats.Rate `json:"passed"`  // of its verdicts
	Errors  int        `json:"errors"`  // without a verdict
	Skipped int        `json:"skipped"` // the gate did not run
	Stale   int        `json:"stale"`   // verdicts of an earlier version
	Since   *Change    `json:"since"`   // nil without an earlier version

	Natural    stats.Tally      `json:"natural"` // labelled texts
	Rerun      int              `json:"rerun"`   // labelled texts on which the gate ran now
	FalsePass  stats.Estimate   `json:"false_pass"`
	FalseBlock stats.Estimate   `json:"false_block"`
	Next       string           `json:"next"`  // what to do; "" for nothing
	Kappa      *float64         `json:"kappa"` // of random draws; nil if unknown
	Base       stats.Rate       `json:"base"`  // good texts among them
	Steps      []stats.Estimate `json:"steps"` // the false passes after some numbers of bad texts

	Planted        []stats.Planted `json:"planted"`
	PlantedAlways  stats.Rate      `json:"planted_false_pass"` // of faults that are always bad
	PlantedUsually stats.Rate      `json:"planted_usually_pass"`

	Unanimous stats.Rate `json:"unanimous"` // of verdicts with several votes
	Cost      float64    `json:"cost_usd_per_verdict"`
	Seconds   float64    `json:"seconds_per_verdict"`

	Drift      *Drift                 `json:"drift,omitempty"` // nil if there are too few verdicts
	Evidence   string                 `json:"evidence"`        // current, stale or none
	EmptyTexts *stats.EmptyTextResult `json:"empty_texts,omitempty"`

	gate        cascades.Gate
	names       []string // earlier names
	seen        map[string]bool
	inRuns      stats.Confusion // verdicts in runs
	chart       *stats.Chart
	from        time.Time // earlier verdicts belong to the gate before it drifted
	since       time.Time // the end of its evidence
	last        time.Time
	base        stats.Rate
	took        time.Duration
	lastVerdict *bool // on the text of the present attempt
	cost        float64
}

// Drift is the change of a gate's rate since its baseline.
type Drift struct {
	Baseline stats.Rate `json:"baseline"` // of passes
	Since    stats.Rate `json:"since"`
	Level    float64    `json:"level"` // 1 is the alarm
	Alarm    *Alarm     `json:"alarm"` // nil for none

	Course stats.Course `json:"-"` // the levels so far
}

// An Alarm is the verdict that raised the alarm.
type Alarm struct {
	Verdict int       `json:"verdict"` // number after the baseline
	RunID   string    `json:"run_id"`
	Path    string    `json:"path"`
	Time    time.Time `json:"time"`
}

// A Phase is the result of all its gates together. An attempt counts only if no gate that releases
// texts has changed since.
type Phase struct {
	Phase      string         `json:"phase"`
	Accepted   stats.Rate     `json:"first_accepted"` // first attempts that all gates passed
	Texts      stats.Tally    `json:"texts"`          // labelled texts, by the verdict of all gates
	Released   stats.Estimate `json:"bad_released"`   // the bad texts among those that all gates passed
	FalseBlock stats.Estimate `json:"false_block"`
	ByAttempt  []stats.Rate   `json:"bad_released_by_attempt"` // from the first attempt on
	Since      *Change        `json:"since"`                   // nil without earlier versions of its gates
	Attempts   int            `json:"attempts"`                // attempts that count
	Stale      int            `json:"stale_attempts"`          // attempts with other gates

	counted []*Gate
	seen    map[string]bool
}

// A Change is the time at which a gate became the present one.
type Change struct {
	Gate  string    `json:"gate"`
	How   string    `json:"how"`   // changed, was added, was removed or drifted
	Last  time.Time `json:"last"`  // the last verdict or run before
	First time.Time `json:"first"` // the first one after; zero for none
}

// String returns "tone changed on 2026-01-03". Without a later run, it returns "tone changed after
// 2026-01-02".
func (c *Change) String() string {
	if c.First.IsZero() {
		return fmt.Sprintf("%s %s after %s", c.Gate, c.How, c.Last.Format(time.DateOnly))
	}
	return fmt.Sprintf("%s %s on %s", c.Gate, c.How, c.First.Format(time.DateOnly))
}

// People is the agreement of two people who labelled the same texts.
type People struct {
	First     string     `json:"first"`
	Second    string     `json:"second"`
	Agreement stats.Rate `json:"agreement"`
	Kappa     *float64   `json:"kappa"`
	Base      stats.Rate `json:"base"` // good texts of the first person
}

// Ask reads the attempts and returns the result, or an error of attempts.
func (q Question) Ask(attempts iter.Seq2[journal.Attempt, error]) (*Result, error) {
	q.FalseAlarms = cmp.Or(max(q.FalseAlarms, 0), stats.FalseAlarms)
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

// Released returns the bad texts among the released texts of each phase, in words.
func (r *Result) Released() map[string]string {
	words := map[string]string{}
	for _, p := range r.Phases {
		words[p.Phase] = p.Bad()
	}
	return words
}

// Since returns the question about the gates since the alarms of a result. Earlier verdicts do not
// count.
func (q Question) Since(r *Result) Question {
	alarms := map[string]*Gate{}
	for _, g := range r.Gates {
		if g.drifted() {
			alarms[g.gate.At()] = g
		}
	}
	known := q.Evidence
	q.Evidence = func(g cascades.Gate) (e stats.Evidence, found, stale bool) {
		if was := alarms[g.At()]; was != nil {
			at := was.Drift.Alarm.Time.Add(1) // the alarm itself may belong to the earlier gate
			return stats.Evidence{Since: at, Time: at.Add(-1)}, true, false
		}
		if known == nil {
			return e, false, false
		}
		return known(g)
	}
	return q
}

// Drifted reports whether a gate has drifted.
func (r *Result) Drifted() bool {
	return slices.ContainsFunc(r.Gates, func(g *Gate) bool { return g.drifted() })
}
