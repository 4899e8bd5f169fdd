package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/wards"
)

// A candidate is an attempt's final text with what was found of it.
type candidate struct {
	text   string
	value  any         // the phase's output, if this is released
	number int         // of the attempt
	at     event.Path  // where it was made; "" of what is put together from others
	failed []Objection // checks that said no and count
	unmet  []string    // their names, and those of judges that were not asked
	score  float64     // the mean of its scores; of none it is no number, which is less than any
	passed *wards.Ward
	spent  *wards.Decision // a turn ward used up its budget on this text
	barred bool            // it is never let out: a blocking check could not be asked, or the soundings' validator accepts it not
	unsaid bool            // there is no text: a tool ward used up its budget before it was said
	unfit  bool            // it breaks its output_schema: a pure check that cannot read it is not asked

	unasked []wards.Outcome // turn wards that could not read it for that
	found   []wards.Outcome // what all but the post-wards said
	state   map[string]any  // as the attempt left it
	chosen  string          // where the model wants to go on
	left    *State          // of a try at a whole cascade: what it left
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

// valueOr is the value a tool gave, or the text.
func (c *candidate) valueOr(text string) any {
	if c.value != nil {
		return c.value
	}
	return text
}

// exhausted does what the phase says of a check that used up its budget.
func (t *try) exhausted(d wards.Decision) (release, error) {
	where := t.p.Rules.OnExhausted
	free := slices.DeleteFunc(slices.Clone(t.past), func(c candidate) bool { return c.barred })
	if t.p.Rules.Releases() && len(free) == 0 {
		where = cascades.OnExhaustedFail // nothing was said that could be let out
	}
	switch where {
	case cascades.OnExhaustedLast:
		return t.letOut(free[len(free)-1], d), nil
	case cascades.OnExhaustedBest:
		best := slices.MinFunc(free, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.failed), len(b.failed)), cmp.Compare(b.number, a.number))
		})
		return t.letOut(best, d), nil
	case cascades.OnExhaustedFail:
		e := decided(t.at, d)
		for _, c := range t.past {
			e.Attempts = append(e.Attempts, Attempt{c.number, c.text, c.failed})
		}
		e.Message = fmt.Sprintf("%s (attempt %d)", e.Message, t.attempt)
		return release{}, e
	default:
		return release{route: where, left: words.Elsewhere(t.p, d.Failed)}, nil
	}
}

// letOut releases a text that did not pass. As the winner of soundings it is sent
// back no more.
func (t *try) letOut(c candidate, d wards.Decision) release {
	if c.spent == nil {
		c.spent = &wards.Decision{Action: wards.Exhausted, By: d.By}
	}
	return t.release(c)
}

// release lets a candidate out, with what its attempt put into the state and
// where the model wanted to go then.
func (t *try) release(c candidate) release {
	t.s.State, t.chosen = c.state, c.chosen
	return release{candidate: c, route: t.chosen, by: t}
}
