package wards

import "errors"

// An Action is what follows from the outcomes on one text.
type Action int

// The actions.
const (
	Release   Action = iota // every check that counts has passed
	Again                   // do it again, with the failed outcomes as feedback
	Block                   // a blocking check said no
	Break                   // a check that counts could not say: fail closed
	Exhausted               // a check said no for the last time its budget allows
)

// A Decision is an action and the outcome that decided it.
type Decision struct {
	Action Action
	By     Outcome   // for Block, Break and Exhausted
	Failed []Outcome // every check that said no and counts, in file order
	Unmet  []Outcome // Failed, and what was not asked and would count, in file order
}

// errSkipped is why a text is not released that one was not asked about and no
// other has refused: what was not asked is no yes.
var errSkipped = errors.New("it was not asked, and no other check has refused the text")

// A Budget counts how often each check has sent a text back. Use one for the
// attempts of a phase, a new one for each turn, and another for the tool calls
// of each turn. The zero Budget has no cap, and asks no attempt's number.
type Budget struct {
	cap   int
	spent map[*Ward]int // of nil: what the phase's rules have between them
}

// NewBudget makes a budget with a hard cap on attempts over all causes; 0 is
// no cap.
func NewBudget(limit int) *Budget { return &Budget{cap: limit} }

// Decide says what follows from the outcomes of one text, given in file order,
// at the attempt of that number (from 1), and spends the budgets of the checks
// that said no.
func (b *Budget) Decide(attempt int, outcomes []Outcome) Decision {
	var d Decision
	for _, o := range outcomes {
		switch {
		case o.Stops() && o.Err != nil:
			return Decision{Action: Break, By: o}
		case o.Stops():
			return Decision{Action: Block, By: o}
		case o.Failed() && o.Ward.Mode == Retry:
			d.Failed, d.Unmet = append(d.Failed, o), append(d.Unmet, o)
		case o.Skipped && o.Ward.Mode.Stands():
			d.Unmet = append(d.Unmet, o)
		}
	}
	switch {
	case len(d.Failed) == 0 && len(d.Unmet) > 0:
		o := d.Unmet[0]
		o.Err = errSkipped
		return Decision{Action: Break, By: o}
	case len(d.Failed) == 0:
		return d
	}
	d.Action = Again
	if o, over := b.spend(d.Failed); over {
		d.Action, d.By = Exhausted, o
	} else if b.cap > 0 && attempt >= b.cap {
		d.Action, d.By = Exhausted, d.Failed[0]
	}
	return d
}

// spend counts one failure for each budget among the failed, and gives the
// first whose budget that used up. output_schema and loop_until have one between
// them: a text that both refuse is one failure of it.
func (b *Budget) spend(failed []Outcome) (last Outcome, over bool) {
	if b.spent == nil {
		b.spent = map[*Ward]int{}
	}
	shared := false
	for _, o := range failed {
		budget := o.Ward
		if budget.sharesRules() {
			budget = nil
		}
		if budget != nil || !shared {
			b.spent[budget]++
		}
		shared = shared || budget == nil
		if !over && b.spent[budget] >= o.Ward.MaxAttempts {
			last, over = o, true
		}
	}
	return last, over
}
