package openai

import (
	"fmt"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// decode returns the response of a reply without a stream.
func (t *try) decode(reply []byte) (model.Response, error) {
	d, err := t.c.protocol.Decode(t.ctx, reply)
	if err != nil {
		return model.Response{}, undecoded("the reply does not decode", err)
	}
	resp, err := t.finish(d)
	if !d.Answered && err != nil { // the reply may have a message
		err = &model.Failure{Class: model.Empty, Message: nothing + ": " + string(reply[:min(len(reply), protocol.MaxComplaint)])}
	}
	return resp, err
}

// finish returns the response of a draft. With an error, the response has the
// usage and the finish
// reason.
func (t *try) finish(d protocol.Draft) (model.Response, error) {
	resp := model.Response{Model: d.Model, Finish: d.Finish, ID: d.ID, Usage: t.usage(d)}
	full := false // whether the answer reaches the token limit
	if p := t.q.r.Params; p != nil && p.MaxOutputTokens > 0 && !resp.Usage.Estimated {
		full = resp.Usage.OutputTokens >= p.MaxOutputTokens
	}
	if f := unanswered(d, full, t.c.provider); f != nil {
		return resp, f
	}
	resp.Text, resp.Thinking, resp.Extra = d.Text, d.Thinking, d.Extra
	for i, call := range d.Calls {
		if call.ID == "" { // some endpoints send no id, but require one
			call.ID = fmt.Sprintf("call_%d_%d", len(t.q.r.Messages), i+1)
		}
		resp.ToolCalls = append(resp.ToolCalls, call)
	}
	return resp, nil
}
