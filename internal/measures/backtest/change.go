package backtest

// A Kind is the difference between a verdict and the recorded one.
type Kind string

// The kinds.
const (
	Same      Kind = "same"
	NowFails  Kind = "now_fails"  // the recorded verdict passed
	NowPasses Kind = "now_passes" // the recorded verdict failed
	New       Kind = "new"        // no verdict was recorded
	Removed   Kind = "removed"    // the cascade no longer has the check
	NoVerdict Kind = "no_verdict" // the check could not decide
	NotRun    Kind = "not_run"    // the check may not be asked, see Test
	Skipped   Kind = "skipped"    // the check would not be asked, because a free check rejects the text
)

// An Answer is a verdict as one word.
type Answer string

// The answers. "" means no answer.
const (
	Pass  Answer = "pass"
	Fail  Answer = "fail"
	Error Answer = "error"
	Skip  Answer = "skipped" // not asked, because a free check rejected the text
)

// Counts are the numbers of verdicts of a check by [Kind]. A new verdict counts as NewPass or NewFail.
type Counts struct {
	Same      int `json:"same"`
	NowFails  int `json:"now_fails"`
	NowPasses int `json:"now_passes"`
	NewPass   int `json:"new_pass"`
	NewFail   int `json:"new_fail"`
	Removed   int `json:"removed"`
	NoVerdict int `json:"no_verdict"`
	NotRun    int `json:"not_run"`
	Skipped   int `json:"skipped"`
}

// add counts one change.
func (c *Counts) add(kind Kind, now Answer) {
	if kind == New && now == Fail {
		c.NewFail++
		return
	}
	counts := map[Kind]*int{
		Same: &c.Same, NowFails: &c.NowFails, NowPasses: &c.NowPasses, New: &c.NewPass, Removed: &c.Removed, NoVerdict: &c.NoVerdict, NotRun: &c.NotRun, Skipped: &c.Skipped,
	}
	*counts[kind]++
}

// plus returns the sum of c and d.
func (c Counts) plus(d Counts) Counts {
	return Counts{
		c.Same + d.Same, c.NowFails + d.NowFails, c.NowPasses + d.NowPasses, c.NewPass + d.NewPass,
		c.NewFail + d.NewFail, c.Removed + d.Removed, c.NoVerdict + d.NoVerdict, c.NotRun + d.NotRun,
		c.Skipped + d.Skipped,
	}
}

// Changed returns the number of verdicts that changed between pass and fail.
func (c Counts) Changed() int { return c.NowFails + c.NowPasses }

// kind compares an answer with the recorded one.
func kind(was, now Answer) Kind {
	switch {
	case was == now:
		return Same
	case now == Error:
		return NoVerdict
	case now == Skip:
		return Skipped
	case was == "" || was == Error || was == Skip:
		return New
	case now == Fail:
		return NowFails
	default:
		return NowPasses
	}
}

// A Change is a verdict that differs from the recorded one.
type Change struct {
	Run          string `json:"run_id"`
	Path         string `json:"path"`    // of the attempt, the turn or the visit
	Cascade      string `json:"cascade"` // as in [Row]
	Phase        string `json:"phase"`
	Attempt      int    `json:"attempt"` // 0 for a pre-ward
	Turn         int    `json:"turn"`
	Moment       string `json:"moment"` // that of the verdict; "filter" for the validator of soundings
	Validator    string `json:"validator"`
	Mode         string `json:"mode"`
	Kind         Kind   `json:"kind"`
	Before       Answer `json:"before"`
	BeforeReason string `json:"before_reason"`
	After        Answer `json:"after"`
	AfterReason  string `json:"after_reason"`
	Text         string `json:"text"` // the beginning of the judged text
}

// An Outcome is the end of an attempt, as recorded or as computed.
type Outcome string

// The outcomes.
const (
	Released  Outcome = "released" // it passed its checks. For a sounding: it became a candidate.
	Retried   Outcome = "retried"
	Blocked   Outcome = "blocked"
	Exhausted Outcome = "exhausted"
	Failed    Outcome = "failed"   // a check could not decide
	NotMade   Outcome = "not_made" // the run would not have made the attempt
)

// An AttemptChange is an attempt, or the beginning of a visit, with another outcome.
type AttemptChange struct {
	Run     string  `json:"run_id"`
	Path    string  `json:"path"`
	Cascade string  `json:"cascade"` // as in [Row]
	Phase   string  `json:"phase"`
	Attempt int     `json:"attempt"` // 0 if pre-wards decide
	Before  Outcome `json:"before"`
	After   Outcome `json:"after"`
	By      string  `json:"by"` // the check that now decides; "" if all pass
	Reason  string  `json:"reason"`
	Saved   int     `json:"calls_saved"` // model calls that the run would not have made
	Added   int     `json:"calls_added"` // at least
	Text    string  `json:"text"`

	again bool // a further attempt, or the first
}
