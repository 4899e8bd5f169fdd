package openai

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/runner/model"
)

// A draft is what a model said, however it came.
type draft struct {
	id, model      string
	text, refusal  string
	calls          []model.ToolCall
	count          int // of calls, also of those beyond bounds
	extra          model.Extra
	finish, native string // reasons, the second as the model behind a router has it
	chosen         bool   // there was a choice at all
	whole          bool   // it was not streamed
	tally          tally
}

// read makes a response of a whole answer.
func (t *try) read() (model.Response, error) {
	a := assembly{whole: true}
	if _, err := a.take(t.answer.Bytes()); err != nil {
		if broken := (*json.SyntaxError)(nil); errors.As(err, &broken) {
			err = fmt.Errorf("the answer does not decode: %w", err)
		}
		return model.Response{}, err
	}
	resp, err := t.finish(a.draft())
	if !a.chosen && err != nil { // the endpoint may have words of its own
		err = &model.Failure{Class: model.Empty, Message: nothing + ": " + string(t.answer.Bytes()[:min(t.answer.Len(), maxComplaint)])}
	}
	return resp, err
}

// finish judges a draft: it is a response, or it is none. What was spent, and
// why the answer ended, is told in any case.
func (t *try) finish(d draft) (model.Response, error) {
	resp := model.Response{Model: d.model, Finish: d.finish, ID: d.id, Usage: t.usage(d)}
	if f := d.unanswered(); f != nil {
		return resp, f
	}
	resp.Text, resp.Extra = d.text, d.extra
	for i, call := range d.calls {
		if call.ID == "" { // some endpoints give none, but want one back
			call.ID = fmt.Sprintf("call_%d_%d", t.q.count, i+1)
		}
		resp.ToolCalls = append(resp.ToolCalls, call)
	}
	return resp, nil
}
