package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

// A shownPrompt is one model call in show --prompts --json: the request and the
// reply.
type shownPrompt struct {
	Path     event.Path      `json:"path"`
	Earlier  int             `json:"-"` // messages of earlier calls that Request omits
	Request  *model.Request  `json:"request"`
	Response *model.Response `json:"response"` // nil for a call without a reply
}

// shownPrompts returns the model calls of a run in order. A request that
// continues a conversation has the new messages only, or all messages if whole
// is set.
func shownPrompts(ctx context.Context, j *journal.Journal, run string, whole bool) ([]shownPrompt, error) {
	detail := journal.News
	if whole {
		detail = journal.Whole
	}
	calls, open := []shownPrompt{}, map[event.Path]int{}
	for e, err := range j.Events(ctx, run, 0, detail) {
		switch {
		case err != nil:
			return nil, &exit{exitBroken, err}
		case e.Kind == event.ModelCalled:
			open[e.Path] = len(calls)
			calls = append(calls, shownPrompt{Path: e.Path, Request: e.Request})
			if !whole {
				calls[len(calls)-1].Earlier = e.Before
			}
		case e.Kind == event.ModelReplied:
			if i, called := open[e.Path]; called {
				calls[i].Response = e.Response
			}
		}
	}
	return calls, nil
}

// prompts prints each request of a run with its messages, tools and parameters,
// and the reply.
func (t *runPrinter) prompts(calls []shownPrompt) {
	for _, call := range calls {
		r := call.Request
		count := reports.Count(call.Earlier+len(r.Messages), "message")
		if call.Earlier > 0 {
			count += fmt.Sprintf(", the first %d as in the call before", call.Earlier)
		}
		t.line("\n%s: sent to %s (%s)", call.Path, oneLine(cmp.Or(r.Model, "the default model")), count)
		for _, tool := range r.Tools {
			t.line("  tool %s: %s", oneLine(tool.Name), oneLine(tool.Description))
		}
		if r.Schema != nil {
			t.line("  response schema %s", oneLine(string(r.Schema)))
		}
		if r.Params != nil {
			if text, err := schema.Encode(r.Params); err == nil {
				t.line("  parameters %s", oneLine(string(text)))
			}
		}
		for _, m := range r.Messages {
			t.message(string(m.Role), m.Content, m.ToolCalls)
		}
		switch answer := call.Response; {
		case answer == nil:
			t.line("  no reply")
		case answer.Failure != nil:
			t.line("  failed: %s", oneLine(answer.Failure.Error()))
		default:
			t.message("reply", answer.Text, answer.ToolCalls)
		}
	}
}

// message prints a message below its role, with its tool calls.
func (t *runPrinter) message(role, text string, calls []model.ToolCall) {
	t.line("  %s:", role)
	t.quote(text)
	for _, call := range calls {
		t.line("  calls %s %s", oneLine(call.Name), oneLine(call.Arguments))
	}
}
