package engine

import (
	"fmt"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/wards"
)

// work runs an attempt of a phase without a model: its tool or validator.
func (t *try) work(c *candidate) error {
	at := t.place().at.Join("tool")
	if t.p == t.c.Tries {
		return t.entire(at, c)
	}
	inputs, err := t.p.Inputs.Render(t.vars(t.p.Inputs))
	if err != nil {
		return unreadable(at, "inputs", err)
	}
	if t.p.Tool.Validator != nil {
		return t.gate(at, inputs, c)
	}
	call := tool.Call{Name: t.p.Tool.Name, Arguments: inputs, Key: t.key(at)}
	t.emit(event.Event{Kind: event.ToolCalled, Path: at, Phase: t.p.Name, Attempt: t.attempt, Call: &call})
	r, err := t.use(at, t.p.Tool, call)
	if err != nil {
		return err
	}
	t.emit(event.Event{Kind: event.ToolReplied, Path: at, Phase: t.p.Name, Attempt: t.attempt, Result: &r})
	if r.Failed {
		return &Error{Code: Failed, Path: at, keyPath: []string{"tool"}, Message: fmt.Sprintf("tool %s: %s", t.p.Tool.Name, r.Text())}
	}
	c.text, c.value = r.Text(), r.Value
	return nil
}

// gate runs a phase that is a validator, on its input content or on the
// previous phase's output. The verdict is the phase's output. A failure blocks
// the run, unless the phase has a conditional handoff or on_exhausted names a
// phase.
func (t *try) gate(at event.Path, inputs map[string]any, c *candidate) error {
	content, given := inputs["content"]
	if !given {
		content = t.s.Outputs[t.s.Previous]
	}
	text := ""
	if content != nil {
		text = messages.Text(content)
	}
	v := t.p.Tool.Validator
	where := t.place()
	where.at = at
	outcomes, err := t.checks(where, []*cascades.Check{{Ward: t.gateWard(), Validator: v, Place: t.p.Tool.Place}}, t.subject(text, t.jsonIn(text), 0, t.attempt))
	if err != nil {
		return err
	}
	switch d := new(wards.Budget).Decide(1, outcomes); d.Action {
	case wards.Exhausted:
		c.spent = &d
	case wards.Block, wards.Abort:
		return decided(at, d)
	}
	if err := outcomes[0].Err; err != nil {
		return decided(at, wards.Decision{Action: wards.Abort, By: outcomes[0]})
	}
	if c.value, err = schema.Plain(outcomes[0].Verdict); err != nil {
		return failed(at, "verdict: %v", err)
	}
	c.text = messages.Text(c.value)
	return nil
}

// gateWard returns the ward of a phase that is a validator.
func (t *try) gateWard() *wards.Ward {
	return &wards.Ward{Name: t.p.Tool.Validator.Name, Moment: wards.Post, Mode: t.p.GateMode()}
}
