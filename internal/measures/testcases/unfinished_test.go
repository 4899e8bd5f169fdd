package testcases_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A brokenOff host has tools that were running when the process died, unless they are called again.
// A late tool exceeds its time limit.
type brokenOff struct{ engine.Host }

var errLate = errors.New("late")

func (h brokenOff) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	switch {
	case job.Call.Arguments["to"] == "late":
		return tool.Result{}, errLate
	case at.Last() == "repeat":
		return h.Host.Tool(at, job)
	}
	return tool.Result{}, engine.ErrUnfinished
}

func (h brokenOff) Each(n, limit int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error { return body(brokenOff{inner}, i) })
}

func (h brokenOff) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	err := h.Host.Within(at, d, func(inner engine.Host) error { return body(brokenOff{inner}) })
	if errors.Is(err, errLate) {
		return &engine.Overtime{At: at}
	}
	return err
}

// calling returns a model that calls send first, if the request has it, and then answers as m.
func calling(m model.Model) model.Model {
	return model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		if len(r.Tools) > 0 && len(r.Messages) == 1 {
			return model.Response{ToolCalls: []model.ToolCall{{ID: "1", Name: "send", Arguments: `{"to":"kim"}`}}, Usage: model.Usage{Calls: 1}}, nil
		}
		return m.Call(ctx, r)
	})
}

// TestUnfinished records runs with a call that may have happened. A person has answered whether
// it did, or the run waits for this answer.
func TestUnfinished(t *testing.T) {
	const one = "{name: a, tool: send, inputs: {to: kim}}"
	for name, c := range map[string]struct {
		phases  string
		answers []any
		want    []string // in the head, and then in the pages
	}{
		"done":               {one, []any{"done: it was"}, []string{"status: succeeded", "a: it was", "answer: 'done: it was'"}},
		"repeat":             {one, []any{"repeat"}, []string{"status: succeeded", "a: sent to kim", "tool: a/attempt[1]/tool/repeat"}},
		"stop":               {one, []any{"stop"}, []string{"status: failed", "a person chose to stop", "answer: stop"}},
		"waits":              {one, nil, []string{"status: waiting", "ask: a/attempt[1]/tool/unfinished"}},
		"a model":            {"{name: a, instructions: w, tackle: [send]}", []any{"done"}, []string{"status: succeeded", "a: fine", "ask: a/attempt[1]/turn[0]/tool[0]/unfinished"}},
		"a model that waits": {"{name: a, instructions: w, tackle: [send]}", nil, []string{"status: waiting", "ask: a/attempt[1]/turn[0]/tool[0]/unfinished"}},
		"items":              {"{name: a, tool: send, inputs: {to: '{{ item }}'}, each: {in: [x, y]}}", []any{"done: one", "done: two"}, []string{"- one\n", "- two\n", "ask: a/item[1]/attempt[1]/tool/unfinished"}},
		"items that wait":    {"{name: a, tool: send, inputs: {to: '{{ item }}'}, each: {in: [x, y]}}", nil, []string{"status: waiting", "ask: a/item[0]/attempt[1]/tool/unfinished", "ask: a/item[1]/attempt[1]/tool/unfinished"}},
		"one that was late, and a question": {"{name: l, tool: send, inputs: {to: late}, rules: {timeout: 9s, on_error: a}}, {name: a, compose: a, human_input: {prompt: Well}}", nil,
			[]string{"status: waiting", "timeout: l/attempt[1]/timeout", "ask: a/human_input"}},
		"one that was late, and another": {"{name: l, tool: send, inputs: {to: late}, rules: {timeout: 9s, on_error: a}}, " + one, nil,
			[]string{"status: waiting", "timeout: l/attempt[1]/timeout", "ask: a/attempt[1]/tool/unfinished"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, "cascade_id: c\nphases: ["+c.phases+"]\n", "fine")
			s.model = calling(s.model)
			s.answers = c.answers
			s.host = func(h engine.Host) engine.Host { return brokenOff{h} }
			_, dir := s.freeze(t)
			pages := tree(t, dir)
			all := pages["case.yaml"]
			for name, page := range pages {
				if strings.HasPrefix(name, "effects/") {
					all += page
				}
			}
			for _, want := range c.want {
				if !strings.Contains(all, want) {
					t.Errorf("there is no %q in\n%s", want, all)
				}
			}
			updated(t, s, dir)
		})
	}
}
