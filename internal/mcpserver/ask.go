package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// An asking passes a run's questions to the user of the client. Up to protocol version
// 2025-11-25, it asks the client during the run. In later versions the call ends with the
// question, and the client repeats the call with the answer.
type asking struct {
	call  call
	later bool

	mu   sync.Mutex
	open []engine.Question // without an answer
}

// multiRound is the first protocol version in which calls end with questions.
const multiRound = "2026-07-28"

func modern(c call) bool {
	p := c.Session.InitializeParams()
	return p != nil && p.ProtocolVersion >= multiRound
}

// able reports whether the client can show a form.
func (a *asking) able() bool {
	has := a.call.ClientCapabilities()
	return has != nil && has.Elicitation != nil && (has.Elicitation.Form != nil || has.Elicitation.URL == nil)
}

// ask returns the client's answer to a question, or ends the run as waiting.
func (a *asking) ask(ctx context.Context, q engine.Question) (engine.Answer, error) {
	if !a.able() || modern(a.call) {
		return a.nobody(q)
	}
	reply, err := a.call.Session.Elicit(ctx, form(q)) // checks the answer against the form
	if ctx.Err() != nil {
		return engine.Answer{}, context.Cause(ctx)
	}
	if value, ok := answerOf(reply); err == nil && ok && q.Problem(value) == "" {
		return engine.Answer{Value: value, By: a.who()}, nil
	}
	return a.nobody(q)
}

// nobody records a question without an answer. Branches ask in parallel.
func (a *asking) nobody(q engine.Question) (engine.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = append(a.open, q)
	slices.SortFunc(a.open, func(a, b engine.Question) int { return a.Path.Compare(b.Path) })
	return engine.Answer{}, runner.ErrNobody
}

// forms returns the forms of all open questions under their keys, if the client has to call
// again with the answers.
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

// who returns the name of the client, which stands for its user.
func (a *asking) who() string {
	p := a.call.Session.InitializeParams()
	if p == nil || p.ClientInfo == nil {
		return ""
	}
	return cmp.Or(p.ClientInfo.Title, p.ClientInfo.Name)
}

// answerName is the name of a form's field.
const answerName = "answer"

// form returns a question as a form.
func form(q engine.Question) *sdk.ElicitParams {
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

// answerOf returns the answer in a form, if there is one.
func answerOf(reply *sdk.ElicitResult) (any, bool) {
	if reply == nil || reply.Action != "accept" {
		return nil, false
	}
	value, ok := reply.Content[answerName]
	return value, ok
}

// An open run waits for answers of the client.
type open struct {
	result    engine.Result
	questions []engine.Question
}

// remember records a run that waits for answers. It refuses more than the limit. Calls can
// answer no other run.
func (s *Server) remember(o open) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) >= maxOpen {
		return false
	}
	s.asked[o.result.RunID] = o
	return true
}

// proceed continues a run whose previous call ended with a question.
func (s *Server) proceed(ctx context.Context, c call, asking *asking) (*sdk.CallToolResult, error) {
	id := c.Params.RequestState
	s.mu.Lock()
	before, ok := s.asked[id]
	delete(s.asked, id)
	s.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("no run called %s was asked about here", id)
	}
	answers := map[event.Path]engine.Answer{}
	for _, q := range before.questions {
		reply, _ := c.Params.InputResponses[string(q.Path)].(*sdk.ElicitResult)
		if value, ok := answerOf(reply); ok {
			answers[q.Path] = engine.Answer{Value: value, By: asking.who()}
		}
	}
	if len(answers) == 0 {
		return s.describe(before.result, &engine.Error{Code: engine.Waiting, Message: "the question was not answered"}, before.questions)
	}
	result, err := s.o.Runs.Answer(ctx, id, answers, Order{Ask: asking.ask, Sink: progress(ctx, c)})
	return s.outcome(result, err, asking)
}
