package engine

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/exchanges"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/validators/schema"
	"github.com/seed61713e19/capstan/wards"
)

// A try is one conversation about a phase, over all its attempts: the phase's
// own, or one sounding's.
type try struct {
	*visit
	at      event.Path
	asks    cascades.Model  // as the file names it
	talk    *exchanges.Talk // nil where no model is asked
	told    event.Telling   // of the talk
	budget  *wards.Budget
	attempt int
	turn    int   // the last one made
	stands  place // of the attempt
	chosen  string
	past    []candidate     // the texts that were not released
	taken   *extraction     // of the text that was looked at last
	unread  bool            // output_extraction could not read it
	filter  bool            // a sounding: post-wards wait for the winner
	unready []wards.Outcome // what loop_until said of the turn before
	edit    *edit           // a person makes the text; nil: the phase does
	reasons string          // why the attempt before was refused
	broken  string          // what of that output_schema says
}

func (v *visit) newTry(at event.Path) *try {
	t := &try{visit: v, at: at, asks: v.p.Model, budget: new(wards.Budget)}
	if v.p.Rules.Capped {
		t.budget = wards.NewBudget(v.p.Rules.MaxAttempts)
	}
	return t
}

// run makes attempts until one is released, or none may be made any more. A
// first candidate is one that has passed all but the post-wards.
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
		case wards.Again:
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

// once makes one attempt, or takes the one that was made, and judges it.
func (t *try) once(made *candidate) (d wards.Decision, c *candidate, err error) {
	if t.p.Rules.Timeout != 0 && t.edit == nil { // a person's time is that of expires
		d, c, err = t.inTime(made)
	} else {
		d, c, err = t.attempted(made)
	}
	status := statuses[d.Action]
	if err != nil {
		status = fault(err).Status()
	}
	if made != nil && status == Succeeded {
		return d, c, nil // told when it became a candidate
	}
	done := event.Event{Kind: event.AttemptFinished, Path: t.place().at, Phase: t.p.Name, Attempt: t.attempt, Status: status}
	if c != nil {
		done.Text = c.text
	}
	t.emit(done)
	return d, c, err
}

// attempted makes an attempt, where none was made, and judges it.
func (t *try) attempted(made *candidate) (d wards.Decision, c *candidate, err error) {
	if c = made; c != nil {
		t.s.State = c.state
	} else if c, err = t.make(); err != nil {
		return d, c, err
	}
	d, err = t.judge(c, made != nil)
	return d, c, err
}

// inTime is attempted within the attempt's time.
func (t *try) inTime(made *candidate) (d wards.Decision, c *candidate, err error) {
	bound := t.bound(made != nil)
	err = t.within(bound, t.p.Rules.Timeout, func() error {
		d, c, err = t.attempted(made)
		return err
	})
	if IsOver(err, bound) {
		err = &Error{Code: Failed, Path: t.place().at, way: []string{"rules", "timeout"}, Message: fmt.Sprintf("the attempt took longer than %v", t.p.Rules.Timeout)}
	}
	return d, c, err
}

var statuses = map[wards.Action]string{
	wards.Release: Succeeded, wards.Again: "retry", wards.Block: Blocked, wards.Break: Failed, wards.Exhausted: Exhausted,
}

// bound is the address of the time limit of the attempt that comes, or of the
// judgement of one that was made.
func (t *try) bound(made bool) event.Path {
	if made {
		return t.place().at.Join("winner").Join("timeout")
	}
	return t.at.At("attempt", t.attempt+1).Join("timeout")
}

// place is where the attempt stands.
func (t *try) place() place {
	if t.stands.at == "" || t.stands.attempt != t.attempt {
		t.stands = place{at: t.at.At("attempt", t.attempt), phase: t.p.Name, attempt: t.attempt}
	}
	at := t.stands
	at.turn = t.turn
	return at
}

// make begins an attempt and gives its text.
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
	err := t.say(c)
	c.state, c.chosen = t.s.State, t.chosen
	return c, err
}

// verdictsAhead is for how many verdicts room is made before they come.
const verdictsAhead = 16

// say makes the attempt's text.
func (t *try) say(c *candidate) (err error) {
	switch {
	case t.edit != nil:
		return t.change(c)
	case t.p.Tool != nil:
		return t.work(c)
	case t.p.Compose != nil:
		if c.text, err = t.p.Compose.Render(t.vars(t.p.Compose)); err != nil {
			return unread(t.place().at, "compose", err)
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

// judge runs every check of the final text, cheapest first, and decides. Of a
// winner all has been said but by the post-wards.
func (t *try) judge(c *candidate, winner bool) (wards.Decision, error) {
	if c.unsaid || c.spent != nil && !t.p.Rules.Releases() {
		return t.decide(c, nil), nil
	}
	c.value = c.valueOr(c.text)
	if !winner {
		found := append(c.unasked, t.schemaCheck(c)...)
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

// decide spends the budgets and notes what the candidate is worth.
func (t *try) decide(c *candidate, outcomes []wards.Outcome) wards.Decision {
	d := t.budget.Decide(t.attempt, outcomes)
	if c.spent != nil && d.Action != wards.Block && d.Action != wards.Break {
		d = wards.Decision{
			Action: wards.Exhausted, By: c.spent.By,
			Failed: append(c.spent.Failed, d.Failed...), Unmet: append(c.spent.Unmet, d.Unmet...),
		}
	}
	c.note(outcomes, d)
	if !c.unsaid && (d.Action == wards.Again || d.Action == wards.Exhausted) {
		t.past = append(t.past, *c)
	}
	return d
}

// parsed is what checks see as output: a tool's value, or the text's JSON.
func (t *try) parsed(c *candidate) any {
	if _, isText := c.value.(string); !isText {
		return c.value
	}
	return t.jsonIn(c.text)
}

// settle makes a text the candidate's, see [try.plain]. An error is the host's.
func (t *try) settle(c *candidate, text string) error {
	c.text = t.plain(text)
	if t.unread {
		return t.h.Stopped()
	}
	return nil
}

// plain is a text whose JSON is the phase's output, with the letters that JSON need
// not escape as they are: checks read the text, and what comes behind the value.
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
	return words.Text(was)
}

// taking is the value that the phase takes out of a text, if it takes one.
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

// jsonIn is the JSON that a text is, or that it has where a schema asks for
// some; else nil.
func (t *try) jsonIn(text string) any {
	if t.p.Tool != nil { // what a tool says has no JSON around which there is prose
		value, _ := schema.ParseText(text)
		return value
	}
	return t.extract(text).value
}

// An extraction is the JSON that a text is, or that output_schema finds in it.
type extraction struct {
	text   string
	value  any
	broken []schema.Violation
	err    error
}

// extract reads a text once for all that look at it.
func (t *try) extract(text string) *extraction {
	if t.taken != nil && t.taken.text == text {
		return t.taken
	}
	if t.p.OutputSchema != nil {
		value, broken, err := schema.Extract(t.h.Stopped, text, t.p.OutputSchema)
		t.taken = &extraction{text, value, broken, err}
	} else {
		value, err := schema.ParseText(text)
		t.taken = &extraction{text, value, nil, err}
	}
	return t.taken
}

// schemaCheck takes the JSON out of the text and holds it against the phase's
// schema. It asks nobody.
func (t *try) schemaCheck(c *candidate) []wards.Outcome {
	if t.p.OutputSchema == nil {
		return nil
	}
	o := t.contracted(t.breaks(c))
	c.unfit = o.Failed()
	t.tell(t.place().at.Join("output_schema"), t.place(), o)
	return []wards.Outcome{o}
}

// contracted is what output_schema says of the places where a value breaks it, or
// of the error that there is none.
func (t *try) contracted(broken []schema.Violation, err error) wards.Outcome {
	o := wards.Outcome{Ward: t.p.SchemaWard}
	switch {
	case err == nil:
		o.Verdict = contract(broken)
	case errors.Is(err, schema.ErrUntold):
		o.Err = err
	default:
		o.Verdict.Reason = err.Error()
	}
	return o
}

// breaksSchema tells of a turn's text whether it breaks the output_schema.
func (t *try) breaksSchema(text string) bool {
	if t.p.OutputSchema == nil {
		return false
	}
	x := t.extract(text)
	return len(x.broken) > 0 || x.err != nil && !errors.Is(x.err, schema.ErrUntold)
}

// breaks lists where the value that a tool gave, or else the JSON that is taken out
// of the text, breaks the schema. An error says that there is none, or no telling.
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

// loopCheck runs the loop validator, unless it passed on this very text.
func (t *try) loopCheck(c *candidate) ([]wards.Outcome, error) {
	loop := t.p.Rules.Loop
	if loop == nil || c.passed == loop.Ward {
		return nil, nil
	}
	return t.loopAt(t.judging(c), c.text)
}

// judging is the place of checks that come after output_schema.
func (t *try) judging(c *candidate) place {
	at := t.place()
	at.unfit = c.unfit
	return at
}

func (t *try) loopAt(at place, text string) ([]wards.Outcome, error) {
	return t.checks(at, []*cascades.Check{t.p.Rules.Loop}, t.subject(text, t.jsonIn(text), t.turn, t.attempt))
}
