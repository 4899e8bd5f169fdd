package cases

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

// effect reads one entry of a page. Its first key says what it is.
func (l *loader) effect(file string, n *yaml.Node) (*effect, error) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return nil, placed(l.name(file), wrong(n, "want an effect"))
	}
	var e *effect
	var err error
	switch k := kind(n.Content[0].Value); k {
	case callKind:
		e, err = entry(l, file, n, l.called)
	case toolKind:
		e, err = entry(l, file, n, l.tool)
	case findingKind:
		e, err = entry(l, file, n, l.finding)
	case questionKind:
		e, err = entry(l, file, n, l.question)
	case timeoutKind:
		e, err = entry(l, file, n, func(_ string, p timeoutPage) (*effect, error) {
			return &effect{at: event.Path(p.Path), timedOut: true}, nil
		})
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

func entry[P any](l *loader, file string, n *yaml.Node, made func(string, P) (*effect, error)) (*effect, error) {
	var p P
	if err := decode(l.name(file), n, &p); err != nil {
		return nil, err
	}
	e, err := made(file, p)
	var plain *lineError
	if err != nil && !errors.As(err, &plain) && !strings.HasPrefix(err.Error(), l.name(file)+":") {
		err = placed(l.name(file), wrong(n, "%v", err))
	}
	return e, err
}

func (l *loader) tool(file string, p toolPage) (*effect, error) {
	e := &effect{at: event.Path(p.Path), call: &tool.Call{Name: p.Name}}
	if p.Arguments != nil {
		e.call.Arguments, _ = p.Arguments.any.(map[string]any)
	}
	if p.Result == nil {
		return e, nil
	}
	v, err := l.value(file, p.Result)
	e.result = &tool.Result{Value: v, Failed: p.Failed, Gone: p.Gone}
	return e, err
}

func (l *loader) finding(file string, p findingPage) (*effect, error) {
	e := &effect{at: event.Path(p.Path), check: &judged{p.Name, p.Judged, p.Program}}
	switch {
	case p.Failure != nil:
		why, err := l.text(file, *p.Failure)
		e.finding = &engine.Finding{Failure: why}
		return e, err
	case p.Verdict != nil:
		v, err := l.value(file, p.Verdict)
		if err != nil {
			return e, err
		}
		e.finding = &engine.Finding{}
		return e, verdict(v, &e.finding.Verdict)
	}
	return e, nil
}

// verdict reads a verdict as it was written, whatever a validator may say.
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

func (l *loader) question(file string, p questionPage) (*effect, error) {
	prompt, err := l.text(file, p.Prompt)
	e := &effect{at: event.Path(p.Path), question: &engine.Question{Phase: p.Phase, Prompt: prompt, Type: p.Type, Options: p.Options}}
	if p.Expired {
		e.answer = &engine.Answer{Expired: true}
	}
	if err != nil || p.Answer == nil {
		return e, err
	}
	v, err := l.value(file, p.Answer)
	e.answer = &engine.Answer{Value: v, By: p.By}
	return e, err
}

func (l *loader) called(file string, p calledPage) (*effect, error) {
	r := &request{model: p.Model, asks: p.Asks, params: p.Params, base: event.Path(p.Continues)}
	e := &effect{at: event.Path(p.Path), request: r}
	for _, key := range p.Tools {
		t, ok := l.shared.Tools[key]
		if !ok {
			return e, fmt.Errorf("tool %q is not in %s", key, sharedFile)
		}
		description, err := l.text(sharedFile, t.Description)
		if err != nil {
			return e, err
		}
		made := model.Tool{Name: t.Name, Description: description}
		if t.Parameters != nil {
			made.Parameters = t.Parameters.any
		}
		r.tools = append(r.tools, made)
	}
	if p.Schema != "" {
		shape := l.shared.Schemas[p.Schema]
		if shape == nil {
			return e, fmt.Errorf("schema %q is not in %s", p.Schema, sharedFile)
		}
		r.schema = indented(shape.any)
	}
	for i, m := range p.Messages {
		made, err := l.message(file, m)
		if errors.Is(err, errMessage) {
			err = fmt.Errorf("message %d: %w", i+1, err)
		}
		if err != nil {
			return e, err
		}
		r.messages = append(r.messages, made)
	}
	return e, l.reply(file, p, e)
}

var errMessage = errors.New("want one of system, user, assistant and tool")

func (l *loader) message(file string, p messagePage) (m model.Message, err error) {
	m.ToolCallID = p.ID
	said := 0
	for _, one := range []struct {
		role model.Role
		text *text
	}{{model.System, p.System}, {model.User, p.User}, {model.Assistant, p.Assistant}, {model.ToolReply, p.Tool}} {
		if one.text == nil {
			continue
		}
		said++
		m.Role = one.role
		if m.Content, err = l.text(file, *one.text); err != nil {
			return m, err
		}
	}
	if said != 1 {
		return m, errMessage
	}
	m.ToolCalls, err = l.calls(file, p.Calls)
	return m, err
}

func (l *loader) calls(file string, list []wishedCall) ([]model.ToolCall, error) {
	var out []model.ToolCall
	for _, c := range list {
		arguments, err := l.text(file, c.Arguments)
		if err != nil {
			return nil, err
		}
		out = append(out, model.ToolCall{ID: c.ID, Name: c.Name, Arguments: arguments})
	}
	return out, nil
}

// reply reads what the model answered; without any of it, nothing came.
func (l *loader) reply(file string, p calledPage, e *effect) (err error) {
	if p.Reply == nil && p.Calls == nil && p.Failure == nil {
		return nil
	}
	r := &model.Response{}
	if p.Reply != nil {
		if r.Text, err = l.text(file, *p.Reply); err != nil {
			return err
		}
	}
	if r.ToolCalls, err = l.calls(file, p.Calls); err != nil {
		return err
	}
	if f := p.Failure; f != nil {
		message, err := l.text(file, f.Message)
		if err != nil {
			return err
		}
		r.Failure = &model.Failure{Class: model.Class(f.Class), Status: f.Status, Message: message}
	}
	if u := p.Usage; u != nil {
		r.Usage = model.Usage{
			Calls: u.Calls, InputTokens: u.Input, OutputTokens: u.Output, Cached: u.Cached, CacheWrite: u.Written, Reasoning: u.Thought,
			CostUSD: u.Cost, Estimated: u.Estimated,
		}
	}
	e.response = r
	return nil
}
