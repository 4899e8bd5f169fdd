package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators/schema"
	"github.com/seed61713e19/capstan/wards"
)

// tools is what the model is told of the phase's tackle.
func (v *visit) tools() []model.Tool {
	if v.told {
		return v.tackle
	}
	v.told = true
	for _, t := range v.p.Tackle {
		if t.Name != cascades.RouteTo {
			description, params := t.Told()
			v.tackle = append(v.tackle, model.Tool{Name: t.Name, Description: description, Parameters: params})
		}
	}
	if v.p.Chooses() {
		v.tackle = append(v.tackle, v.routeTool())
	}
	return v.tackle
}

// routeTool lets the model pick among the handoffs.
func (v *visit) routeTool() model.Tool {
	var b strings.Builder
	b.WriteString("Choose the phase that follows this one. It does not replace your answer.")
	var targets []any
	for _, h := range v.p.Handoffs {
		if h.When != nil {
			continue
		}
		targets = append(targets, h.Target)
		if h.Description != "" {
			fmt.Fprintf(&b, "\n- %s: %s", h.Target, h.Description)
		}
	}
	target := map[string]any{"type": "string", "enum": targets}
	return model.Tool{Name: cascades.RouteTo, Description: b.String(), Parameters: map[string]any{
		"type": "object", "properties": map[string]any{"target": target}, "required": []any{"target"},
	}}
}

// toolCall does what the model asked for and gives what it is told of it. What
// went wrong is told too; an error ends the run.
func (t *try) toolCall(at event.Path, asked model.ToolCall) (string, error) {
	call := tool.Call{ID: asked.ID, Name: asked.Name, Key: t.key(at)}
	args, err := schema.Parse([]byte(asked.Arguments))
	if strings.TrimSpace(asked.Arguments) == "" {
		args, err = map[string]any{}, nil
	}
	var isObject bool
	if call.Arguments, isObject = args.(map[string]any); err == nil && !isObject {
		err = fmt.Errorf("want a JSON object")
	}
	t.emit(event.Event{Kind: event.ToolCalled, Path: at, Phase: t.p.Name, Attempt: t.attempt, Call: &call})
	var r tool.Result
	if err != nil {
		r = tool.Fail(fmt.Errorf("arguments: %w", err))
	} else if r, err = t.dispatch(at, call); err != nil {
		return "", err
	}
	t.emit(event.Event{Kind: event.ToolReplied, Path: at, Phase: t.p.Name, Attempt: t.attempt, Result: &r})
	return r.Text(), nil
}

func (t *try) dispatch(at event.Path, call tool.Call) (tool.Result, error) {
	if call.Name == cascades.RouteTo && t.p.Chooses() {
		return t.routeTo(call), nil
	}
	i := slices.IndexFunc(t.p.Tackle, func(known *cascades.Tool) bool { return known.Name == call.Name })
	if i < 0 {
		return tool.Fail(fmt.Errorf("there is no tool %q here; there are %s", call.Name, t.toolNames())), nil
	}
	r, err := t.use(at, t.p.Tackle[i], call)
	// A cascade that ends without an output is a tool that could not do it.
	if e, ok := contained(err); ok {
		return tool.Fail(errors.New(e.abroad())), nil
	}
	return r, err
}

func (t *try) toolNames() string {
	var names []string
	for _, known := range t.tools() {
		names = append(names, known.Name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// use runs one tool.
func (v *visit) use(at event.Path, t *cascades.Tool, call tool.Call) (tool.Result, error) {
	switch {
	case t.Name == cascades.SetState:
		return v.setState(call), nil
	case t.Cascade != nil:
		s, err := v.nested(at, t.Cascade, call.Arguments, nil, "")
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Value: s.Output}, nil
	default:
		return v.h.Tool(at, Job{Tool: t.Tool, Call: call})
	}
}

func (v *visit) setState(call tool.Call) tool.Result {
	key, ok := call.Arguments["key"].(string)
	value, given := call.Arguments["value"]
	if !ok || key == "" || !given {
		return tool.Fail(fmt.Errorf("arguments: want key, a text, and value"))
	}
	v.s.Set(key, value)
	return tool.Result{Value: "set " + key}
}

func (t *try) routeTo(call tool.Call) tool.Result {
	target, _ := call.Arguments["target"].(string)
	var targets []string
	for _, h := range t.p.Handoffs {
		if h.When == nil {
			targets = append(targets, h.Target)
		}
	}
	if !slices.Contains(targets, target) {
		return tool.Fail(fmt.Errorf("no handoff goes to %q; there are %s", target, strings.Join(targets, ", ")))
	}
	t.chosen = target
	return tool.Result{Value: "the run goes on with " + target}
}

// mustChoose tells whether the route hangs on a choice not made yet.
func (t *try) mustChoose() bool {
	if t.chosen != "" || t.thread == nil || !t.p.Chooses() || len(t.p.Handoffs) == 1 {
		return false
	}
	return !slices.ContainsFunc(t.p.Handoffs, func(h cascades.Handoff) bool { return h.Description == "" && h.When == nil })
}

// choose asks for the choice alone; the phase's text stays what it is.
func (t *try) choose() error {
	at := t.place().at.Join("route")
	t.thread.Append(model.Message{Role: model.User, Content: "Choose the phase that follows by calling " + cascades.RouteTo + "."})
	resp, err := t.call(at.Join("model"), t.request([]model.Tool{t.routeTool()}))
	if err != nil {
		return err
	}
	for i, c := range resp.ToolCalls {
		if _, err := t.toolCall(at.At("tool", i), c); err != nil {
			return err
		}
	}
	return nil
}

// work is an attempt of a phase without a model: its tool or validator.
func (t *try) work(c *candidate) error {
	at := t.place().at.Join("tool")
	inputs, err := t.values(t.p.Inputs, t.vars(0))
	if err != nil {
		return invalid(at, "inputs: %v", err)
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
		return failed(at, "tool %s: %s", t.p.Tool.Name, r.Text())
	}
	c.text, c.value = r.Text(), r.Value
	return nil
}

// gate is a phase that runs a validator: on the content among its inputs, or
// on the phase before it. The verdict is its output. A no ends the run as
// blocked, unless the phase says where to go then: a handoff with a condition,
// or on_exhausted.
func (t *try) gate(at event.Path, inputs map[string]any, c *candidate) error {
	content, given := inputs["content"]
	if !given {
		content = t.s.Outputs[t.s.Previous]
	}
	var output any
	if _, isText := content.(string); !isText && content != nil {
		output = content
	}
	said := ""
	if content != nil {
		said = text(content)
	}
	if output == nil {
		output = t.jsonIn(said)
	}
	v := *t.p.Tool.Validator
	if v.Bind != nil {
		v.With = maps.Clone(v.With)
		delete(v.With, "content")
	}
	ward := &wards.Ward{Name: v.Name, Moment: wards.Post, Mode: t.gateMode(), MaxAttempts: 1}
	where := t.place()
	where.at = at
	outcomes, err := t.checks(where, []*cascades.Check{{Ward: ward, Validator: &v}}, t.subject(said, output, 0, t.attempt))
	if err != nil {
		return err
	}
	switch d := wards.NewBudget(0).Decide(1, outcomes); d.Action {
	case wards.Exhausted:
		c.spent = &d
	case wards.Block, wards.Break:
		return decided(at, d)
	}
	if err := outcomes[0].Err; err != nil {
		return decided(at, wards.Decision{Action: wards.Break, By: outcomes[0]})
	}
	if c.value, err = schema.Plain(outcomes[0].Verdict); err != nil {
		return failed(at, "verdict: %v", err)
	}
	encoded, _ := json.Marshal(c.value)
	c.text = string(encoded)
	return nil
}

func (t *try) gateMode() wards.Mode {
	for _, h := range t.p.Handoffs {
		if h.When != nil {
			return wards.Advisory
		}
	}
	if t.p.Rules.OnExhausted != cascades.OnExhaustedFail {
		return wards.Retry
	}
	return wards.Blocking
}
