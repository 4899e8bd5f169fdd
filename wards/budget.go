package wards

import "errors"

// An Action is the consequence of the outcomes for one text.
type Action int

// The actions.
const (
	Release   Action = iota // every enforced check passed
	SendBack                // try again, with the failed outcomes as feedback
	Block                   // a blocking check failed
	Abort                   // an enforced check returned an error: fail closed
	Exhausted               // a check failed and its budget is now used up
)

// A Decision is an action with the outcome that caused it.
type Decision struct {
	Action Action
	By     Outcome   // for Block, Abort and Exhausted
	Failed []Outcome // all failed retry checks, in file order
	Unmet  []Outcome // Failed and the skipped enforced checks, in file order
}

// errSkipped is the error of an enforced check that was skipped although no
// other check refused the text. A skipped check is not a pass.
var errSkipped = errors.New("it was not asked, and no other check has refused the text")

// A Budget counts how often each check has sent a text back. Use one Budget for
// the attempts of a phase and a new one for each turn. The tool calls of each
// turn need another one. The zero Budget has no cap and ignores the attempt
// number.
type Budget struct {
	cap   int
	spent map[*Ward]int // the key nil is the budget that output_schema and loop_until share
}

// NewBudget returns a Budget with a hard cap on attempts over all checks. A
// limit of 0 means no cap.
func NewBudget(limit int) *Budget { return &Budget{cap: limit} }

// Decide returns the decision for the outcomes of one text and charges the
// budgets of the failed checks. Outcomes must be in file order. The attempt
// number starts at 1.
func (b *Budget) Decide(attempt int, outcomes []Outcome) Decision {
	var d Decision
	for _, o := range outcomes {
		switch {
		case o.Stops() && o.Err != nil:
			return Decision{Action: Abort, By: o}
		case o.Stops():
			return Decision{Action: Block, By: o}
		case o.Failed() && o.Ward.Mode == Retry:
			d.Failed, d.Unmet = append(d.Failed, o), append(d.Unmet, o)
		case o.Skipped && o.Ward.Mode.Enforces():
			d.Unmet = append(d.Unmet, o)
		}
	}
	switch {
	case len(d.Failed) == 0 && len(d.Unmet) > 0:
		o := d.Unmet[0]
		o.Err = errSkipped
		return Decision{Action: Abort, By: o}
	case len(d.Failed) == 0:
		return d
	}
	d.Action = SendBack
	if o, over := b.spend(d.Failed); over {
		d.Action, d.By = Exhausted, o
	} else if b.cap > 0 && attempt >= b.cap {
		d.Action, d.By = Exhausted, d.Failed[0]
	}
	return d
}

// spend charges each failed check's budget once and returns the first check
// whose budget is now exhausted. The checks output_schema and loop_until share
// one budget: a text that fails both is charged once.
func (b *Budget) spend(failed []Outcome) (last Outcome, over bool) {
	if b.spent == nil {
		b.spent = map[*Ward]int{}
	}
	shared := false
	for _, o := range failed {
		budget := o.Ward
		if budget.sharesPhaseBudget() {
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
