package engine

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/templates/prompts"
	"github.com/seed61713e19/capstan/validators"
)

// A judge is asked once per vote, sequentially, so that runs are reproducible.
// If a rejection must be confirmed, all votes are taken again. The first call
// has the path path/model, later votes path/vote[i]/model, and the second round
// is below path/confirm.

// maxJudgements is the maximum number of requests per vote while replies are
// unusable.
const maxJudgements = 3

// judged asks a model for a verdict.
func (f *flow) judged(path event.Path, at place, v *cascades.Validator, s validators.Subject) (verdict validators.Verdict, unsaid, err error) {
	vars := f.checkVars(s, v.Criteria)
	vars["findings"] = append([]any{}, at.findings...)
	criteria, err := v.Criteria.Render(vars)
	if err != nil {
		return verdict, err, nil
	}
	question, err := messages.Prompt("judge", map[string]any{"criteria": criteria, "content": s.Content, "mark": prompts.Mark(s.Content)})
	if err != nil {
		return verdict, err, nil
	}
	req := model.Request{
		Messages: []model.Message{{Role: model.User, Content: question}}, Schema: verdictSchema(),
		Phase: at.phase, Attempt: at.attempt, Turn: at.turn, Validator: v.Name,
	}
	verdict, unsaid, err = f.polled(path, v, req)
	if !v.Confirm || verdict.Valid || unsaid != nil || err != nil {
		return verdict, unsaid, err
	}
	again, unsaid, err := f.polled(path.Join("confirm"), v, req)
	if unsaid != nil || err != nil {
		return validators.Verdict{}, unsaid, err
	}
	return validators.Confirm(verdict, again), nil, nil
}

// polled asks for every vote. If one is missing, there is no verdict.
func (f *flow) polled(path event.Path, v *cascades.Validator, req model.Request) (verdict validators.Verdict, unsaid, err error) {
	models := f.model(v.Model)
	given := make([]validators.Verdict, max(v.Votes, 1))
	for i := range given {
		where := path
		if i > 0 {
			where = path.At("vote", i)
		}
		if given[i], unsaid, err = f.vote(where, models, req); unsaid != nil || err != nil {
			return verdict, unsaid, err
		}
	}
	return validators.Majority(given), nil, nil
}

// verdictShape describes the required reply to a judge whose reply was
// unusable.
const verdictShape = `{"valid": true or false, "reason": "…"}`

// vote asks for one vote. If the reply contains no verdict, it asks again with
// the reply and the problem.
func (f *flow) vote(path event.Path, models cascades.Model, req model.Request) (verdict validators.Verdict, unsaid, err error) {
	question := req.Messages
	for n := range maxJudgements {
		where := nth(path, "model", n)
		resp, err := f.callModels(where, models, req, &event.Delta{})
		if err != nil {
			return verdict, err, stops(err)
		}
		verdict, wrong := validators.VerdictIn(resp.Text)
		if wrong == nil {
			return verdict, nil, nil
		}
		unsaid = unusableReply{validators.Unreadable(wrong, resp.Text), where}
		if req.Messages, err = corrected(question, resp.Text, wrong, verdictShape); err != nil {
			return validators.Verdict{}, err, nil
		}
	}
	return validators.Verdict{}, unsaid, nil
}

// maxRepeated is the maximum length of an unusable reply that is shown to its
// author, in bytes.
const maxRepeated = 4096

// corrected appends an unusable reply and its problem to the question.
func corrected(question []model.Message, reply string, wrong error, shape string) ([]model.Message, error) {
	correction, err := messages.Prompt("unusable_reply", map[string]any{"problem": wrong.Error(), "shape": shape})
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(reply) == "" { // many endpoints reject empty messages
		last := question[len(question)-1]
		last.Content += "\n\n" + correction
		return append(slices.Clone(question[:len(question)-1]), last), nil
	}
	return append(slices.Clone(question),
		model.Message{Role: model.Assistant, Content: clips.Bytes(reply, maxRepeated)},
		model.Message{Role: model.User, Content: correction}), nil
}
