package engine

import (
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// send chooses the attempt's model and sends the conversation, shortened to the
// token_budget.
func (t *try) send(at event.Path, req model.Request) (model.Response, error) {
	if err := t.fit(at, req); err != nil {
		return model.Response{}, err
	}
	req.Messages, req.Thread = t.talk.Messages(), t.talk.Thread()
	return t.callModels(at, t.model(t.asks).From(t.attempt), req, &t.delta)
}

// callModels calls the first model of a list. If a model fails, callModels
// calls the next one with the same request. Such a call is not an attempt, but
// a separate effect.
func (f *flow) callModels(at event.Path, models cascades.Model, req model.Request, delta *event.Delta) (model.Response, error) {
	where, reason := at, ""
	for n := 0; ; n++ {
		if n > 0 {
			where = at.At("fallback", n)
		}
		if n < len(models) {
			req.Model, req.Params = models[n].Name, models[n].Params
		}
		req.Next = n+1 < len(models)
		resp, err := f.call(where, req, reason, delta)
		if resp.Failure == nil || n+1 >= len(models) || !resp.Failure.Temporary() {
			return resp, above(at, err)
		}
		reason = fmt.Sprintf("%s gave no answer: %v", req.Model, resp.Failure)
	}
}

// above sets the error's path to the start of the fallback list, where a
// resumed run begins.
func above(at event.Path, err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.Path = at
	}
	return err
}
