package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/wards"
)

// A candidate is the final text of an attempt with the results of its checks.
type candidate struct {
	text   string
	value  any         // the phase's output if the candidate is released
	number int         // of the attempt
	at     event.Path  // path of the attempt; "" for an aggregated text
	failed []Objection // the enforced checks that failed
	unmet  []string    // names of the failed and the skipped enforced checks
	score  float64     // the mean score, or NaN if there is none, which sorts lowest
	passed *wards.Ward
	spent  *wards.Decision // a turn ward's budget is exhausted
	barred bool            // must never be released: a blocking check was skipped, or the soundings' validator rejected the text
	noText bool            // there is no text: a tool ward exhausted its budget first
	unfit  bool            // violates its output_schema: pure checks that cannot read it are skipped

	skipped []wards.Outcome // turn wards that were skipped because of the schema
	found   []wards.Outcome // outcomes of all checks except the post-wards
	state   map[string]any  // the state after the attempt
	chosen  string          // the phase that the model chose
	left    *State          // for a try at a whole cascade: its final state
}

func (c *candidate) note(outcomes []wards.Outcome, d wards.Decision) {
	c.failed, c.unmet = nil, nil
	sum, n := 0.0, 0.0
	for _, o := range outcomes {
		c.barred = c.barred || o.Skipped && o.Ward.Mode == wards.Blocking
		if o.Err == nil && !o.Skipped && o.Verdict.Score != nil {
			sum += *o.Verdict.Score
			n++
		}
	}
	c.score = sum / n
	for _, o := range d.Failed {
		c.failed = append(c.failed, Objection{o.Ward.Name, o.Verdict.Reason})
	}
	for _, o := range d.Unmet {
		c.unmet = append(c.unmet, o.Ward.Name)
	}
}

// valueOr returns the tool's value, or the text if there is none.
func (c *candidate) valueOr(text string) any {
	if c.value != nil {
		return c.value
	}
	return text
}

// exhausted applies the phase's on_exhausted to a decision whose budget is used
// up.
func (t *try) exhausted(d wards.Decision) (release, error) {
	where := t.p.Rules.OnExhausted
	free := slices.DeleteFunc(slices.Clone(t.past), func(c candidate) bool { return c.barred })
	if t.p.Rules.Releases() && len(free) == 0 {
		where = keywords.OnExhaustedFail // no text may be released
	}
	switch where {
	case keywords.OnExhaustedLast:
		return t.releaseUnmet(free[len(free)-1], d), nil
	case keywords.OnExhaustedBest:
		best := slices.MinFunc(free, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.failed), len(b.failed)), cmp.Compare(b.number, a.number))
		})
		return t.releaseUnmet(best, d), nil
	case keywords.OnExhaustedFail:
		e := decided(t.at, d)
		for _, c := range t.past {
			e.Attempts = append(e.Attempts, Attempt{c.number, c.text, c.failed})
		}
		e.Message = fmt.Sprintf("%s (attempt %d)", e.Message, t.attempt)
		return release{}, e
	default:
		return release{route: where, left: messages.RejectionSummary(t.p, d.Failed)}, nil
	}
}

// releaseUnmet releases a text that failed its checks. If it wins soundings, it
// is not sent back again.
func (t *try) releaseUnmet(c candidate, d wards.Decision) release {
	if c.spent == nil {
		c.spent = &wards.Decision{Action: wards.Exhausted, By: d.By}
	}
	return t.release(c)
}

// release releases a candidate and restores the state and the chosen phase of
// its attempt.
func (t *try) release(c candidate) release {
	t.s.State, t.chosen = c.state, c.chosen
	return release{candidate: c, route: t.chosen, by: t}
}
