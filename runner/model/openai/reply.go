package openai

import (
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/runner/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model"
)

// A draft is an answer of a model, whole or streamed, before it is judged.
type draft struct {
	id, model      string
	text, refusal  string
	calls          []model.ToolCall
	count          int // of calls, also of those beyond bounds
	extra          model.Extra
	finish, native string // reasons, the second as the model behind a router has it
	chosen         bool   // there was a choice at all
	invalid        bool   // a text has invalid UTF-8
	full           bool   // it has as many tokens as the limit allows
	shape          string // what came in place of a text; "" for nothing
	tally          tally
}

// read returns the response of a whole answer.
func (t *try) read() (model.Response, error) {
	a := assembly{whole: true, normal: t.c.provider.Finish}
	if _, err := a.take(t.ctx, t.answer.Bytes()); err != nil {
		if broken := (*jsontree.SyntaxError)(nil); errors.As(err, &broken) {
			err = fmt.Errorf("the reply does not decode: %w", err)
		}
		return model.Response{}, err
	}
	resp, err := t.finish(a.draft())
	if !a.chosen && err != nil { // the endpoint may have words of its own
		err = &model.Failure{Class: model.Empty, Message: nothing + ": " + string(t.answer.Bytes()[:min(t.answer.Len(), maxComplaint)])}
	}
	return resp, err
}

// finish returns the response of a draft. With an error, the response still has the
// usage and the reason to finish.
func (t *try) finish(d draft) (model.Response, error) {
	resp := model.Response{Model: d.model, Finish: d.finish, ID: d.id, Usage: t.usage(d)}
	if p := t.q.r.Params; p != nil && p.MaxOutputTokens > 0 && !resp.Usage.Estimated {
		d.full = resp.Usage.OutputTokens >= p.MaxOutputTokens
	}
	if f := d.unanswered(t.c.provider); f != nil {
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
