package backtest

// A Kind says how a verdict compares with the recorded one.
type Kind string

// The kinds.
const (
	Same   Kind = "same"
	ToNo   Kind = "to_no"   // it was yes
	ToYes  Kind = "to_yes"  // it was no
	New    Kind = "new"     // none was recorded, or that the check could not say or was not asked
	Gone   Kind = "gone"    // the cascade does not have the check any more
	Unsaid Kind = "unsaid"  // the check could not say
	NotRun Kind = "not_run" // it may not be asked: see Test
	Spared Kind = "skipped" // it was asked and would not be: a free check refuses the text
)

// An Answer is a verdict in a word.
type Answer string

// The answers; "" is none.
const (
	Yes   Answer = "yes"
	No    Answer = "no"
	Error Answer = "error"
	Skip  Answer = "skipped" // it was not asked: a free check had refused the text
)

// Counts are how many verdicts of a check compare how.
type Counts struct {
	Same   int `json:"same"`
	ToNo   int `json:"to_no"`
	ToYes  int `json:"to_yes"`
	NewYes int `json:"new_yes"`
	NewNo  int `json:"new_no"`
	Gone   int `json:"gone"`
	Unsaid int `json:"unsaid"`
	NotRun int `json:"not_run"`
	Spared int `json:"skipped"`
}

// add counts one change.
func (c *Counts) add(kind Kind, now Answer) {
	if kind == New && now == No {
		c.NewNo++
		return
	}
	counts := map[Kind]*int{
		Same: &c.Same, ToNo: &c.ToNo, ToYes: &c.ToYes, New: &c.NewYes, Gone: &c.Gone, Unsaid: &c.Unsaid, NotRun: &c.NotRun, Spared: &c.Spared,
	}
	*counts[kind]++
}

// plus is the sum of two.
func (c Counts) plus(d Counts) Counts {
	return Counts{
		c.Same + d.Same, c.ToNo + d.ToNo, c.ToYes + d.ToYes, c.NewYes + d.NewYes,
		c.NewNo + d.NewNo, c.Gone + d.Gone, c.Unsaid + d.Unsaid, c.NotRun + d.NotRun,
		c.Spared + d.Spared,
	}
}

// Flips are the verdicts that turned.
func (c Counts) Flips() int { return c.ToNo + c.ToYes }

// kind compares an answer with the recorded one.
func kind(was, now Answer) Kind {
	switch {
	case was == now:
		return Same
	case now == Error:
		return Unsaid
	case now == Skip:
		return Spared
	case was == "" || was == Error || was == Skip:
		return New
	case now == No:
		return ToNo
	default:
		return ToYes
	}
}

// A Change is a verdict that is not what it was.
type Change struct {
	Run       string `json:"run_id"`
	Path      string `json:"path"`    // of the attempt, the turn or the visit
	Cascade   string `json:"cascade"` // as in [Row]
	Phase     string `json:"phase"`
	Attempt   int    `json:"attempt"` // 0 for a pre-ward
	Turn      int    `json:"turn"`
	Moment    string `json:"moment"` // that of the verdict; "filter" for the validator of soundings
	Validator string `json:"validator"`
	Mode      string `json:"mode"`
	Kind      Kind   `json:"kind"`
	Was       Answer `json:"was"`
	WasReason string `json:"was_reason"`
	Now       Answer `json:"now"`
	NowReason string `json:"now_reason"`
	Text      string `json:"text"` // the beginning of what was judged
}

// A Fate is what became of an attempt, or would have.
type Fate string

// The fates.
const (
	Released  Fate = "released" // its checks let it pass; a sounding's, as a candidate
	Retried   Fate = "retried"
	Blocked   Fate = "blocked"
	Exhausted Fate = "exhausted"
	Failed    Fate = "failed"   // a check could not say
	NotMade   Fate = "not_made" // the run would not have come to it
)

// A Move is an attempt, or the beginning of a visit, that would have fared
// otherwise.
type Move struct {
	Run     string `json:"run_id"`
	Path    string `json:"path"`
	Cascade string `json:"cascade"` // as in [Row]
	Phase   string `json:"phase"`
	Attempt int    `json:"attempt"` // 0 where pre-wards decide
	Was     Fate   `json:"was"`
	Would   Fate   `json:"would"`
	By      string `json:"by"` // the check that decides now; "" where all pass
	Reason  string `json:"reason"`
	Saved   int    `json:"calls_saved"` // of models, that the run would not have made
	Added   int    `json:"calls_added"` // at least
	Text    string `json:"text"`

	again bool // a whole attempt more, or the first
}
