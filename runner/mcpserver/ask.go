package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/reports"
)

// An asking takes a run's questions to the person behind the client. Up to
// protocol version 2025-11-25 the client is asked while the run waits; later
// ones forbid that, and the call ends with the question, to be called again
// with the answer.
type asking struct {
	call  call
	later bool

	mu   sync.Mutex
	open []runner.Question // that nobody has answered here
}

// multiRound is the first protocol version in which calls end with questions.
const multiRound = "2026-07-28"

func modern(c call) bool {
	p := c.Session.InitializeParams()
	return p != nil && p.ProtocolVersion >= multiRound
}

// able tells whether the client can put a form to a person.
func (a *asking) able() bool {
	has := a.call.ClientCapabilities()
	return has != nil && has.Elicitation != nil && (has.Elicitation.Form != nil || has.Elicitation.URL == nil)
}

// ask answers a question of the run, or lets the run end as waiting.
func (a *asking) ask(ctx context.Context, q runner.Question) (runner.Answer, error) {
	if !a.able() || modern(a.call) {
		return a.nobody(q)
	}
	said, err := a.call.Session.Elicit(ctx, form(q)) // which holds the answer against the form
	if ctx.Err() != nil {
		return runner.Answer{}, context.Cause(ctx)
	}
	if value, ok := answerOf(said); err == nil && ok && q.Unfit(value) == "" {
		return runner.Answer{Value: value, By: a.who()}, nil
	}
	return a.nobody(q)
}

// nobody notes a question that the run waits with. Branches ask in parallel.
func (a *asking) nobody(q runner.Question) (runner.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = append(a.open, q)
	slices.SortFunc(a.open, func(a, b runner.Question) int { return a.Path.Compare(b.Path) })
	return runner.Answer{}, runner.ErrNobody
}

// forms returns the forms of all open questions under their keys, if the client has to
// call again with the answers.
func (a *asking) forms() sdk.InputRequestMap {
	if !a.later || !a.able() || len(a.open) == 0 {
		return nil
	}
	forms := sdk.InputRequestMap{}
	for _, q := range a.open {
		forms[string(q.Path)] = form(q)
	}
	return forms
}

// who is what the client calls itself: there is no other name for the person
// behind it.
func (a *asking) who() string {
	p := a.call.Session.InitializeParams()
	if p == nil || p.ClientInfo == nil {
		return ""
	}
	return cmp.Or(p.ClientInfo.Title, p.ClientInfo.Name)
}

// answerName is what the one field of a form is called.
const answerName = "answer"

// form is a question as clients put it to a person.
func form(q runner.Question) *sdk.ElicitParams {
	field := map[string]any{"type": "string", "title": "Answer", "minLength": 1}
	switch q.Type {
	case cascades.Confirmation:
		field = map[string]any{"type": "boolean", "title": "Yes or no"}
	case cascades.Choice:
		options := make([]any, len(q.Options))
		for i, o := range q.Options {
			options[i] = o
		}
		field = map[string]any{"type": "string", "title": "Choice", "enum": options}
	case cascades.Edit:
		field["title"], field["default"] = "The text, changed", q.Text
		q.Prompt += "\n\n" + q.Text
	}
	return &sdk.ElicitParams{Mode: "form", Message: q.Phase + ": " + reports.Visible(q.Prompt), RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{answerName: field}, "required": []any{answerName},
	}}
}

// answerOf is what a person said, if anything.
func answerOf(said *sdk.ElicitResult) (any, bool) {
	if said == nil || said.Action != "accept" {
		return nil, false
	}
	value, ok := said.Content[answerName]
	return value, ok
}

// An open run waits for answers of the client.
type open struct {
	result    runner.Result
	questions []runner.Question
}

// remember notes that a run waits for answers of the client, if there are
// not too many already: no other run can be answered by a call.
func (s *Server) remember(o open) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) >= maxOpen {
		return false
	}
	s.asked[o.result.RunID] = o
	return true
}

// proceed goes on with a run that ended a call with a question.
func (s *Server) proceed(ctx context.Context, c call, asking *asking) (*sdk.CallToolResult, error) {
	id := c.Params.RequestState
	s.mu.Lock()
	before, ok := s.asked[id]
	delete(s.asked, id)
	s.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("no run called %s was asked about here", id)
	}
	answers := map[event.Path]runner.Answer{}
	for _, q := range before.questions {
		said, _ := c.Params.InputResponses[string(q.Path)].(*sdk.ElicitResult)
		if value, ok := answerOf(said); ok {
			answers[q.Path] = runner.Answer{Value: value, By: asking.who()}
		}
	}
	if len(answers) == 0 {
		return s.told(before.result, &runner.Error{Code: runner.Waiting, Message: "the question was not answered"}, before.questions)
	}
	result, err := s.o.Runs.Answer(ctx, id, answers, Order{Ask: asking.ask, Sink: progress(ctx, c)})
	return s.outcome(result, err, asking)
}
