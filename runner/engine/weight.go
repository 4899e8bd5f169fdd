package engine

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/exchanges"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/words"
)

// fit sees, before a call at the path is made, that it weighs no more than the
// phase's token_budget has room for. What leaves the conversation is told; the
// next call begins one anew.
func (t *try) fit(at event.Path, req model.Request) error {
	b := t.p.TokenBudget
	if b == nil {
		return nil
	}
	around := exchanges.Around(req.Tools, req.Schema)
	told := event.Pruning{Strategy: b.Strategy, Tokens: t.talk.Weight() + around, Room: b.Room(), Estimated: true}
	if told.Tokens <= told.Room {
		return nil
	}
	if b.Strategy == cascades.Fail {
		return heavy(at, b, fmt.Sprintf("the conversation weighs about %d tokens", told.Tokens))
	}
	if least := t.talk.Least() + around; least > told.Room {
		return heavy(at, b, fmt.Sprintf("what never leaves the conversation weighs about %d tokens", least))
	}
	why := ""
	if b.Strategy == cascades.Summarize {
		text, unsaid, err := t.summary(at.Join("summary"), t.talk.Free(told.Room-around, words.Summed), told.Room)
		if err != nil {
			return err
		}
		if why = unsaid; why == "" {
			told.Messages = t.talk.Sum(text, words.Summed)
		}
	}
	told.Messages += t.talk.Leave(told.Room - around)
	told.Left = t.talk.Weight() + around
	t.told = event.Telling{}
	turn := t.turn // the try goes on to the next, and the event may still be looked at
	t.emit(event.Event{Kind: event.Pruned, Path: at, Phase: t.p.Name, Attempt: t.attempt, Turn: &turn, Pruning: &told, Message: why})
	return nil
}

// heavy is the error of a conversation that a phase has no room for: of the phase,
// and not of the run, whose budget may have plenty.
func heavy(at event.Path, b *cascades.TokenBudget, what string) *Error {
	return &Error{Code: OverBudget, Path: at, heavy: true, Message: fmt.Sprintf(
		"%s (estimated), more than the %d of token_budget: max_total %d minus reserve_for_output %d; raise token_budget.max_total", what, b.Room(), b.MaxTotal, b.Reserve)}
}

// summary asks the phase's model to sum up what can leave the conversation, in no
// more than room, with a question of at most most; unsaid is why there is none, and the run goes on.
func (t *try) summary(at event.Path, room, most int) (text, unsaid string, err error) {
	question, err := words.Summary(t.prompt, t.talk.Past(), room, most)
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
	resp, err := t.climb(at, t.model(t.asks).From(t.attempt), req, &event.Telling{})
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
