package engine

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/exchanges"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// fit shortens the conversation before a call if it exceeds the phase's
// token_budget. It emits an event for the removed messages, and the next call
// then begins a new conversation.
func (t *try) fit(at event.Path, req model.Request) error {
	b := t.p.TokenBudget
	if b == nil {
		return nil
	}
	around := exchanges.Overhead(req.Tools, req.Schema)
	pruning := event.Pruning{Strategy: b.Strategy, Tokens: t.talk.Weight() + around, Room: b.Room(), Estimated: true}
	if pruning.Tokens <= pruning.Room {
		return nil
	}
	if b.Strategy == keywords.Fail {
		return heavy(at, b, fmt.Sprintf("the conversation weighs about %d tokens", pruning.Tokens))
	}
	if least := t.talk.MinWeight() + around; least > pruning.Room {
		return heavy(at, b, fmt.Sprintf("what never leaves the conversation weighs about %d tokens", least))
	}
	failure := ""
	if b.Strategy == keywords.Summarize {
		text, unsaid, err := t.summary(at.Join("summary"), t.talk.SummaryRoom(pruning.Room-around, messages.AfterSummary), pruning.Room)
		if err != nil {
			return err
		}
		if failure = unsaid; failure == "" {
			pruning.Messages = t.talk.Summarize(text, messages.AfterSummary)
		}
	}
	pruning.Messages += t.talk.DropOldest(pruning.Room - around)
	pruning.Left = t.talk.Weight() + around
	t.delta = event.Delta{}
	turn := t.turn // a copy: the try continues while sinks may read the event
	t.emit(event.Event{Kind: event.Pruned, Path: at, Phase: t.p.Name, Attempt: t.attempt, Turn: &turn, Pruning: &pruning, Message: failure})
	return nil
}

// heavy returns the error of a conversation that exceeds the phase's token
// budget. It concerns the phase and not the run's budget.
func heavy(at event.Path, b *cascades.TokenBudget, what string) *Error {
	return &Error{Code: OverBudget, Path: at, overweight: true, Message: fmt.Sprintf(
		"%s (estimated), more than the %d of token_budget: max_total %d minus reserve_for_output %d; raise token_budget.max_total", what, b.Room(), b.MaxTotal, b.Reserve)}
}

// summary asks the phase's model for a summary of the messages to remove. The
// summary must fit in room tokens, and the question in most tokens. The result
// unsaid is the reason why there is no summary.
func (t *try) summary(at event.Path, room, most int) (text, unsaid string, err error) {
	question, err := messages.Summary(t.prompt, t.talk.Removable(), room, most)
	switch {
	case err != nil:
		return "", "", failed(at, "%v", err)
	case question == "":
		return "", "nothing was summed up: there is no room for it", nil
	}
	req := model.Request{
		Messages: []model.Message{{Role: model.User, Content: question}},
		Phase:    t.p.Name, Attempt: t.attempt, Turn: t.turn, Role: "summary",
	}
	resp, err := t.callModels(at, t.model(t.asks).From(t.attempt), req, &event.Delta{})
	switch {
	case stops(err) != nil:
		return "", "", err
	case err != nil:
		return "", "nothing was summed up: " + fault(err).Message, nil
	case strings.TrimSpace(resp.Text) == "":
		return "", "nothing was summed up: nothing was said", nil
	}
	if weight := exchanges.Weigh(resp.Text); weight > room {
		return "", fmt.Sprintf("the summary is left out: it weighs about %d tokens, and %d are left", weight, room), nil
	}
	return resp.Text, "", nil
}
