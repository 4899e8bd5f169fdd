package engine

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/exchanges"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/wards"
)

// A try is a conversation about a phase over all attempts. A phase has its own
// try, and each sounding has one too.
type try struct {
	*visit
	at           event.Path
	asks         cascades.Model          // as the file names it
	talk         *exchanges.Conversation // nil without a model
	delta        event.Delta             // of the conversation
	budget       *wards.Budget
	attempt      int
	turn         int   // the last turn
	attemptPlace place // the place of the attempt
	chosen       string
	past         []candidate     // texts that were not released
	extracted    *extraction     // the JSON of the last text that was read
	unread       bool            // output_extraction could not read the text
	filter       bool            // a sounding: post-wards wait for the winner
	unready      []wards.Outcome // the previous turn's outcome of loop_until
	edit         *edit           // the person's edit; nil if the phase writes the text
	reasons      string          // why the previous attempt was refused
	broken       string          // the part of reasons from output_schema
}

func (v *visit) newTry(at event.Path) *try {
	t := &try{visit: v, at: at, asks: v.p.Model, budget: new(wards.Budget)}
	if v.p.Rules.Capped {
		t.budget = wards.NewBudget(v.p.Rules.MaxAttempts)
	}
	return t
}

// run makes attempts until one is released or the budget is exhausted. A first
// candidate has already passed all checks except the post-wards.
func (t *try) run(first *candidate) (release, error) {
	for c := first; ; c = nil {
		d, c, err := t.once(c)
		if err != nil {
			return release{}, err
		}
		switch d.Action {
		case wards.Release:
			return t.release(*c), nil
		case wards.Exhausted:
			return t.exhausted(d)
		case wards.SendBack:
			if t.edit != nil {
				t.again(c, d.Failed)
			} else if err := t.refused(d.Failed); err != nil {
				return release{}, err
			}
		default:
			return release{}, decided(t.at, d)
		}
	}
}

// once makes and judges one attempt, or judges the given candidate.
func (t *try) once(made *candidate) (d wards.Decision, c *candidate, err error) {
	if t.p.Rules.Timeout != 0 && t.edit == nil { // a person's limit is expires
		d, c, err = t.inTime(made)
	} else {
		d, c, err = t.attempted(made)
	}
	status := statuses[d.Action]
	if err != nil {
		status = fault(err).Status()
	}
	if made != nil && status == Succeeded {
		return d, c, nil // already reported when it became a candidate
	}
	done := event.Event{Kind: event.AttemptFinished, Path: t.place().at, Phase: t.p.Name, Attempt: t.attempt, Status: status}
	if c != nil {
		done.Text = c.text
	}
	t.emit(done)
	return d, c, err
}

// attempted makes an attempt, unless a candidate is given, and judges it.
func (t *try) attempted(made *candidate) (d wards.Decision, c *candidate, err error) {
	if c = made; c != nil {
		t.s.State = c.state
	} else if c, err = t.make(); err != nil {
		return d, c, err
	}
	d, err = t.judge(c, made != nil)
	return d, c, err
}

// inTime runs attempted within the attempt's time limit.
func (t *try) inTime(made *candidate) (d wards.Decision, c *candidate, err error) {
	bound := t.bound(made != nil)
	err = t.within(bound, t.p.Rules.Timeout, func() error {
		d, c, err = t.attempted(made)
		return err
	})
	if IsOver(err, bound) {
		err = &Error{Code: Failed, Path: t.place().at, keyPath: []string{"rules", "timeout"}, Message: fmt.Sprintf("the attempt took longer than %v", t.p.Rules.Timeout)}
	}
	return d, c, err
}

var statuses = map[wards.Action]string{
	wards.Release: Succeeded, wards.SendBack: "retry", wards.Block: Blocked, wards.Abort: Failed, wards.Exhausted: Exhausted,
}

// bound returns the path of the time limit for the next attempt or for the
// judgement of a given candidate.
func (t *try) bound(made bool) event.Path {
	if made {
		return t.place().at.Join("winner").Join("timeout")
	}
	return t.at.At("attempt", t.attempt+1).Join("timeout")
}

// place returns the place of the attempt.
func (t *try) place() place {
	if t.attemptPlace.at == "" || t.attemptPlace.attempt != t.attempt {
		t.attemptPlace = place{at: t.at.At("attempt", t.attempt), phase: t.p.Name, attempt: t.attempt}
	}
	at := t.attemptPlace
	at.turn = t.turn
	return at
}

// make begins an attempt and returns its candidate.
func (t *try) make() (*candidate, error) {
	t.attempt++
	t.chosen = ""
	if t.edit != nil {
		t.chosen, t.s.State = t.edit.of.chosen, t.edit.of.state
	} else {
		t.record.Attempts, t.s.State = max(t.record.Attempts, t.attempt), t.base
	}
	t.emit(event.Event{Kind: event.AttemptStarted, Path: t.place().at, Phase: t.p.Name, Attempt: t.attempt})
	t.s.Verdicts = slices.Grow(t.s.Verdicts, min(min(t.p.Rules.MaxTurns, verdictsAhead)*len(t.p.Wards.Turn)+len(t.p.Wards.Post)+1, verdictsAhead))
	c := &candidate{number: t.attempt, at: t.place().at}
	err := t.makeText(c)
	c.state, c.chosen = t.s.State, t.chosen
	return c, err
}

// verdictsAhead is the maximum number of verdicts to allocate in advance.
const verdictsAhead = 16

// makeText produces the text of the attempt.
func (t *try) makeText(c *candidate) (err error) {
	switch {
	case t.edit != nil:
		return t.change(c)
	case t.p.Tool != nil:
		return t.work(c)
	case t.p.Compose != nil:
		if c.text, err = t.p.Compose.Render(t.vars(t.p.Compose)); err != nil {
			return unreadable(t.place().at, "compose", err)
		}
		return t.settle(c, c.text)
	}
	if t.talk == nil {
		opening, err := t.opening()
		if err != nil {
			return err
		}
		t.talk = exchanges.Begin(opening...)
	}
	return t.converse(c)
}

// judge runs all checks of the final text, the cheapest first, and returns the
// decision. A winner needs only the post-wards.
func (t *try) judge(c *candidate, winner bool) (wards.Decision, error) {
	if c.noText || c.spent != nil && !t.p.Rules.Releases() {
		return t.decide(c, nil), nil
	}
	c.value = c.valueOr(c.text)
	if !winner {
		found := append(c.skipped, t.schemaCheck(c)...)
		if len(found) > 0 && found[len(found)-1].Err != nil {
			if err := t.h.Stopped(); err != nil {
				return wards.Decision{}, err
			}
		}
		more, err := t.loopCheck(c)
		if err != nil {
			return wards.Decision{}, err
		}
		if c.found = append(found, more...); !t.filter && t.p.Soundings != nil {
			filtered, err := t.filtered(c)
			if err != nil {
				return wards.Decision{}, err
			}
			c.found = append(c.found, filtered...)
			c.barred = slices.ContainsFunc(filtered, func(o wards.Outcome) bool { return !o.Verdict.Valid })
		}
	}
	outcomes := slices.Clip(c.found)
	if !t.filter && len(t.p.Wards.Post) > 0 {
		more, err := t.checks(t.judging(c), t.p.Wards.Post, t.subject(c.text, t.parsed(c), t.turn, t.attempt))
		if err != nil {
			return wards.Decision{}, err
		}
		outcomes = append(outcomes, more...)
	}
	return t.decide(c, outcomes), nil
}

// decide charges the budgets and records the failures of the candidate.
func (t *try) decide(c *candidate, outcomes []wards.Outcome) wards.Decision {
	d := t.budget.Decide(t.attempt, outcomes)
	if c.spent != nil && d.Action != wards.Block && d.Action != wards.Abort {
		d = wards.Decision{
			Action: wards.Exhausted, By: c.spent.By,
			Failed: append(c.spent.Failed, d.Failed...), Unmet: append(c.spent.Unmet, d.Unmet...),
		}
	}
	c.note(outcomes, d)
	if !c.noText && (d.Action == wards.SendBack || d.Action == wards.Exhausted) {
		t.past = append(t.past, *c)
	}
	return d
}

// parsed returns the output for checks: a tool's value, or the text's JSON.
func (t *try) parsed(c *candidate) any {
	if _, isText := c.value.(string); !isText {
		return c.value
	}
	return t.jsonIn(c.text)
}

// settle sets the candidate's text, see [try.plain]. An error comes from the
// host.
func (t *try) settle(c *candidate, text string) error {
	c.text = t.plain(text)
	if t.unread {
		return t.h.Stopped()
	}
	return nil
}

// plain returns a text without unnecessary JSON escapes if its JSON is the
// phase's output. Checks then read the plain letters and any text after the
// value.
func (t *try) plain(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	was, ok := t.taking(text)
	if !ok {
		return text
	}
	plain := schema.Unescape(text)
	if now, ok := t.taking(plain); ok && reflect.DeepEqual(now, was) {
		return plain
	}
	return messages.Text(was)
}

// taking returns the value that the phase reads from a text, if any.
func (t *try) taking(text string) (any, bool) {
	if e := t.p.Extraction; e != nil && e.JSON {
		found, _, err := e.In(t.h.Stopped, text)
		if t.unread = err != nil; t.unread {
			return nil, false
		}
		value, err := schema.ParseText(found)
		return value, err == nil
	}
	if t.p.OutputSchema == nil {
		return nil, false
	}
	x := t.extract(text)
	return x.value, x.err == nil
}

// jsonIn returns the JSON value of a text, or the one that a schema finds in
// it. It returns nil if there is none.
func (t *try) jsonIn(text string) any {
	if t.p.Tool != nil { // a tool's text has no prose around its JSON
		value, _ := schema.ParseText(text)
		return value
	}
	return t.extract(text).value
}

// An extraction is the JSON value of a text or the one that output_schema finds
// in it.
type extraction struct {
	text   string
	value  any
	broken []schema.Violation
	err    error
}

// extract parses a text and caches the result for the other readers.
func (t *try) extract(text string) *extraction {
	if t.extracted != nil && t.extracted.text == text {
		return t.extracted
	}
	if t.p.OutputSchema != nil {
		value, broken, err := schema.Extract(t.h.Stopped, text, t.p.OutputSchema)
		t.extracted = &extraction{text, value, broken, err}
	} else {
		value, err := schema.ParseText(text)
		t.extracted = &extraction{text, value, nil, err}
	}
	return t.extracted
}

// schemaCheck checks the text's JSON against the phase's schema. It needs no
// model.
func (t *try) schemaCheck(c *candidate) []wards.Outcome {
	if t.p.OutputSchema == nil {
		return nil
	}
	o := t.contracted(t.breaks(c))
	c.unfit = o.Failed()
	t.report(t.place().at.Join("output_schema"), t.place(), o)
	return []wards.Outcome{o}
}

// contracted returns the outcome of output_schema for violations or an error.
func (t *try) contracted(broken []schema.Violation, err error) wards.Outcome {
	o := wards.Outcome{Ward: t.p.SchemaWard}
	switch {
	case err == nil:
		o.Verdict = contract(broken)
	case errors.Is(err, schema.ErrUnchecked):
		o.Err = err
	default:
		o.Verdict.Reason = err.Error()
	}
	return o
}

// breaksSchema reports whether a turn's text violates the output_schema.
func (t *try) breaksSchema(text string) bool {
	if t.p.OutputSchema == nil {
		return false
	}
	x := t.extract(text)
	return len(x.broken) > 0 || x.err != nil && !errors.Is(x.err, schema.ErrUnchecked)
}

// breaks returns the schema violations of a tool's value or of the text's JSON.
// It returns an error if there is no JSON or the check could not finish.
func (t *try) breaks(c *candidate) ([]schema.Violation, error) {
	if _, isText := c.value.(string); !isText {
		return t.p.OutputSchema.Check(t.h.Stopped, c.value)
	}
	x := t.extract(c.text)
	if x.err == nil {
		c.value = x.value
	}
	return x.broken, x.err
}

// loopCheck runs the loop validator, unless it has passed this text.
func (t *try) loopCheck(c *candidate) ([]wards.Outcome, error) {
	loop := t.p.Rules.Loop
	if loop == nil || c.passed == loop.Ward {
		return nil, nil
	}
	return t.loopAt(t.judging(c), c.text)
}

// judging returns the place of the checks after output_schema.
func (t *try) judging(c *candidate) place {
	at := t.place()
	at.unfit = c.unfit
	return at
}

func (t *try) loopAt(at place, text string) ([]wards.Outcome, error) {
	return t.checks(at, []*cascades.Check{t.p.Rules.Loop}, t.subject(text, t.jsonIn(text), t.turn, t.attempt))
}
