package testcases

import (
	"errors"
	"fmt"
	"reflect"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

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
		e, err = entry(l, file, n, func(p timeoutPage) (*effect, error) { return &effect{at: p.Path, timedOut: true}, nil })
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
	err := fill(n, reflect.ValueOf(&p).Elem())
	if err != nil {
		return nil, placed(l.name(file), err)
	}
	e, err := convert(p)
	if err != nil {
		err = placed(l.name(file), wrong(n, "%v", err))
	}
	return e, err
}

func (p toolPage) effect() (*effect, error) {
	e := &effect{at: p.Path, call: &tool.Call{Name: p.Name, Arguments: p.Arguments}}
	if p.Result != nil {
		e.result = &tool.Result{Value: *p.Result, Failed: p.Failed, Unavailable: p.Unavailable}
	}
	return e, nil
}

func (p findingPage) effect() (e *effect, err error) {
	e = &effect{at: p.Path, check: &validation{p.Name, p.Digest, p.Program}}
	switch {
	case p.Failure != nil:
		e.finding = &engine.Finding{Failure: *p.Failure}
	case p.Verdict != nil:
		e.finding = &engine.Finding{}
		if e.finding.Verdict, err = schema.Decode[validators.Verdict](p.Verdict); err != nil {
			return nil, fmt.Errorf("verdict: %w", err)
		}
	}
	return e, nil
}

func (p questionPage) effect() (*effect, error) {
	e := &effect{at: p.Path, question: &engine.Question{Phase: p.Phase, Prompt: p.Prompt, Type: p.Type, Options: p.Options}}
	switch {
	case p.Answer != nil:
		e.answer = &engine.Answer{Value: *p.Answer, By: p.By}
	case p.Expired:
		e.answer = &engine.Answer{Expired: true}
	}
	return e, nil
}

// call converts a model call, whose tools and schema are in the shared file.
func (l *loader) call(p callPage) (*effect, error) {
	r := &request{model: p.Model, role: p.Role, params: p.Params, base: p.Continues}
	for _, key := range p.Tools {
		t, ok := l.shared.Tools[key]
		if !ok {
			return nil, fmt.Errorf("tool %q is not in %s", key, sharedFile)
		}
		r.tools = append(r.tools, t)
	}
	if p.Schema != "" {
		shape, ok := l.shared.Schemas[p.Schema]
		if !ok {
			return nil, fmt.Errorf("schema %q is not in %s", p.Schema, sharedFile)
		}
		r.schema = indented(shape)
	}
	for i, m := range p.Messages {
		one, err := m.message()
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		r.messages = append(r.messages, one)
	}
	return &effect{at: p.Path, request: r, response: p.response()}, nil
}

func (p messagePage) message() (m model.Message, err error) {
	m.ToolCallID, m.ToolCalls = p.ID, toolCalls(p.Calls)
	texts := 0
	for role, t := range map[model.Role]*string{model.System: p.System, model.User: p.User, model.Assistant: p.Assistant, model.ToolReply: p.Tool} {
		if t != nil {
			m.Role, m.Content = role, *t
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
		calls = append(calls, model.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	return calls
}

// response returns the answer of a model, or nil if the entry has none.
func (p callPage) response() *model.Response {
	if p.Reply == nil && p.Calls == nil && p.Failure == nil {
		return nil
	}
	r := &model.Response{ToolCalls: toolCalls(p.Calls), Failure: p.Failure, Usage: model.Usage(p.Usage)}
	if p.Reply != nil {
		r.Text = *p.Reply
	}
	return r
}
