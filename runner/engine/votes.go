package engine

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/templates/prompts"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A judge is asked as often as it has votes, one after the other, so that a run
// reads the same each time; a no that is to be confirmed is asked in the same way
// once more. The first call stands at path/model, the votes behind it at
// path/vote[i]/model, those of the second time below path/confirm.

// maxJudgements is how often a judge is asked whose replies cannot be used.
const maxJudgements = 3

// judged asks a model for a verdict.
func (f *flow) judged(path event.Path, at place, v *cascades.Validator, s validators.Subject) (verdict validators.Verdict, unsaid, err error) {
	vars := f.checkVars(s, v.Criteria)
	vars["findings"] = append([]any{}, at.findings...)
	criteria, err := v.Criteria.Render(vars)
	if err != nil {
		return verdict, err, nil
	}
	question, err := words.Prompt("judge", map[string]any{"criteria": criteria, "content": s.Content, "mark": prompts.Mark(s.Content)})
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
	return validators.Confirmed(verdict, again), nil, nil
}

// polled asks for every vote. One that is not given leaves no verdict.
func (f *flow) polled(path event.Path, v *cascades.Validator, req model.Request) (verdict validators.Verdict, unsaid, err error) {
	ladder := f.model(v.Model)
	given := make([]validators.Verdict, max(v.Votes, 1))
	for i := range given {
		where := path
		if i > 0 {
			where = path.At("vote", i)
		}
		if given[i], unsaid, err = f.vote(where, ladder, req); unsaid != nil || err != nil {
			return verdict, unsaid, err
		}
	}
	return validators.Majority(given), nil, nil
}

// verdictShape is what a judge is asked for when its reply cannot be used.
const verdictShape = `{"valid": true or false, "reason": "…"}`

// vote asks once, and again if the reply is no verdict. The judge then sees its
// reply and what is wrong with it.
func (f *flow) vote(path event.Path, ladder cascades.Model, req model.Request) (verdict validators.Verdict, unsaid, err error) {
	question := req.Messages
	for n := range maxJudgements {
		where := nth(path, "model", n)
		resp, err := f.climb(where, ladder, req, &event.Telling{})
		if err != nil {
			return verdict, err, stops(err)
		}
		verdict, wrong := validators.VerdictIn(resp.Text)
		if wrong == nil {
			return verdict, nil, nil
		}
		unsaid = nonsense{validators.Unreadable(wrong, resp.Text), where}
		if req.Messages, err = corrected(question, resp.Text, wrong, verdictShape); err != nil {
			return validators.Verdict{}, err, nil
		}
	}
	return validators.Verdict{}, unsaid, nil
}

// maxRepeated is how much of an unusable reply its author is shown, in bytes.
const maxRepeated = 4096

// corrected continues a question with a reply that cannot be used and what is wrong
// with it.
func corrected(question []model.Message, reply string, wrong error, shape string) ([]model.Message, error) {
	correction, err := words.Prompt("unusable_reply", map[string]any{"problem": wrong.Error(), "shape": shape})
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(reply) == "" { // many endpoints refuse an empty message
		last := question[len(question)-1]
		last.Content += "\n\n" + correction
		return append(slices.Clone(question[:len(question)-1]), last), nil
	}
	return append(slices.Clone(question),
		model.Message{Role: model.Assistant, Content: schema.Clip(reply, maxRepeated)},
		model.Message{Role: model.User, Content: correction}), nil
}
