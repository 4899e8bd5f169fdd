package testcases

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// expectation returns what case.yaml expects of a run.
func (p expectPage) expectation() expectation {
	e := expectation{status: p.Status, calls: p.Calls, outputs: map[string]any{}}
	if p.Error != nil {
		e.err = &event.Error{Code: p.Error.Code, Phase: p.Error.Phase, Message: p.Error.Message.string}
	}
	for _, one := range p.Phases {
		record := engine.PhaseRecord{
			Name: one.Name, Status: one.Status, Attempts: one.Attempts, Turns: one.Turns, ModelCalls: one.Calls, Items: one.Items,
		}
		for _, failed := range one.Failures {
			record.Failures = append(record.Failures, event.Failure(failed))
		}
		e.phases = append(e.phases, record)
	}
	for name, v := range p.Outputs {
		e.outputs[name] = v.any
	}
	for _, d := range p.Degraded {
		e.degraded = append(e.degraded, engine.Degraded(d))
	}
	for _, one := range p.Verdicts {
		v := event.Verdict{Path: event.Path(one.Path), Moment: one.Moment, Validator: one.Validator, Mode: one.Mode, Valid: one.Valid}
		if one.Reason != nil {
			v.Reason = one.Reason.string
		}
		if one.Error != nil {
			v.Error = &one.Error.string
		}
		e.verdicts = append(e.verdicts, v)
	}
	return e
}

// effect reads one entry. Its first key is its kind.
func (l *loader) effect(file string, n *yaml.Node) (e *effect, err error) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return nil, placed(l.name(file), wrong(n, "want an effect"))
	}
	switch k := kind(n.Content[0].Value); k {
	case callKind:
		e, err = entry(l, file, n, l.call)
	case toolKind:
		e, err = entry(l, file, n, toolPage.effect)
	case findingKind:
		e, err = entry(l, file, n, findingPage.effect)
	case questionKind:
		e, err = entry(l, file, n, questionPage.effect)
	case timeoutKind:
		e, err = entry(l, file, n, func(p timeoutPage) (*effect, error) { return &effect{at: event.Path(p.Path), timedOut: true}, nil })
	default:
		return nil, placed(l.name(file), wrong(n, "an effect begins with call, tool, validator, ask or timeout, not %q", k))
	}
	if err != nil {
		return nil, err
	}
	e.kind = kind(n.Content[0].Value)
	if e.at == "" {
		return nil, placed(l.name(file), wrong(n, "%s names no path", e.kind))
	}
	return e, nil
}

// entry decodes an entry as a P and converts it.
func entry[P any](l *loader, file string, n *yaml.Node, convert func(P) (*effect, error)) (*effect, error) {
	var p P
	if err := decode(l.name(file), n, &p); err != nil {
		return nil, err
	}
	e, err := convert(p)
	if err != nil {
		err = placed(l.name(file), wrong(n, "%v", err))
	}
	return e, err
}

func (p toolPage) effect() (*effect, error) {
	e := &effect{at: event.Path(p.Path), call: &tool.Call{Name: p.Name}}
	if p.Arguments != nil {
		e.call.Arguments, _ = p.Arguments.any.(map[string]any)
	}
	if p.Result != nil {
		e.result = &tool.Result{Value: p.Result.any, Failed: p.Failed, Unavailable: p.Unavailable}
	}
	return e, nil
}

func (p findingPage) effect() (*effect, error) {
	e := &effect{at: event.Path(p.Path), check: &validation{p.Name, p.Digest, p.Program}}
	switch {
	case p.Failure != nil:
		e.finding = &engine.Finding{Failure: p.Failure.string}
	case p.Verdict != nil:
		e.finding = &engine.Finding{}
		return e, verdict(p.Verdict.any, &e.finding.Verdict)
	}
	return e, nil
}

// verdict decodes a verdict of any validator.
func verdict(v any, out *validators.Verdict) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := schema.Unmarshal(b, out); err != nil {
		return fmt.Errorf("verdict: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func (p questionPage) effect() (*effect, error) {
	e := &effect{at: event.Path(p.Path), question: &engine.Question{Phase: p.Phase, Prompt: p.Prompt.string, Type: p.Type, Options: p.Options}}
	switch {
	case p.Answer != nil:
		e.answer = &engine.Answer{Value: p.Answer.any, By: p.By}
	case p.Expired:
		e.answer = &engine.Answer{Expired: true}
	}
	return e, nil
}

// call converts a model call, whose tools and schema are in the shared file.
func (l *loader) call(p callPage) (*effect, error) {
	r := &request{model: p.Model, role: p.Role, params: p.Params, base: event.Path(p.Continues)}
	for _, key := range p.Tools {
		t, ok := l.shared.Tools[key]
		if !ok {
			return nil, fmt.Errorf("tool %q is not in %s", key, sharedFile)
		}
		one := model.Tool{Name: t.Name, Description: t.Description.string}
		if t.Parameters != nil {
			one.Parameters = t.Parameters.any
		}
		r.tools = append(r.tools, one)
	}
	if p.Schema != "" {
		shape := l.shared.Schemas[p.Schema]
		if shape == nil {
			return nil, fmt.Errorf("schema %q is not in %s", p.Schema, sharedFile)
		}
		r.schema = indented(shape.any)
	}
	for i, m := range p.Messages {
		one, err := m.message()
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		r.messages = append(r.messages, one)
	}
	return &effect{at: event.Path(p.Path), request: r, response: p.response()}, nil
}

func (p messagePage) message() (m model.Message, err error) {
	m.ToolCallID, m.ToolCalls = p.ID, toolCalls(p.Calls)
	texts := 0
	for role, t := range map[model.Role]*text{model.System: p.System, model.User: p.User, model.Assistant: p.Assistant, model.ToolReply: p.Tool} {
		if t != nil {
			m.Role, m.Content = role, t.string
			texts++
		}
	}
	if texts != 1 {
		return m, errors.New("want one of system, user, assistant and tool")
	}
	return m, nil
}

func toolCalls(list []toolCallPage) (calls []model.ToolCall) {
	for _, c := range list {
		calls = append(calls, model.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments.string})
	}
	return calls
}

// response returns the answer of a model, or nil if the entry has none.
func (p callPage) response() *model.Response {
	if p.Reply == nil && p.Calls == nil && p.Failure == nil {
		return nil
	}
	r := &model.Response{ToolCalls: toolCalls(p.Calls)}
	if p.Reply != nil {
		r.Text = p.Reply.string
	}
	if f := p.Failure; f != nil {
		r.Failure = &model.Failure{Class: model.Class(f.Class), Status: f.Status, Message: f.Message.string}
	}
	if u := p.Usage; u != nil {
		r.Usage = model.Usage{
			Calls: u.Calls, InputTokens: u.Input, OutputTokens: u.Output, Cached: u.Cached, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning,
			CostUSD: u.Cost, Estimated: u.Estimated,
		}
	}
	return r
}
