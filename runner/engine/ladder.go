package engine

import (
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// send asks who serves the attempt, and goes on with the conversation as it is, or
// with what of it token_budget has room for.
func (t *try) send(at event.Path, req model.Request) (model.Response, error) {
	if err := t.fit(at, req); err != nil {
		return model.Response{}, err
	}
	req.Messages, req.Thread = t.talk.Messages(), t.talk.Thread()
	return t.climb(at, t.model(t.asks).From(t.attempt), req, &t.told)
}

// climb asks the first model of a ladder, and the next where one gave no answer:
// that is no attempt. All are asked the same. Each call is an effect of its
// own, the first where it is made without a ladder. Said is how far the
// conversation has been told.
func (f *flow) climb(at event.Path, ladder cascades.Model, req model.Request, said *event.Telling) (model.Response, error) {
	where, why := at, ""
	for rung := 0; ; rung++ {
		if rung > 0 {
			where = at.At("rung", rung)
		}
		if rung < len(ladder) {
			req.Model, req.Params = ladder[rung].Name, ladder[rung].Params
		}
		req.Next = rung+1 < len(ladder)
		resp, err := f.call(where, req, why, said)
		if resp.Failure == nil || rung+1 >= len(ladder) || !resp.Failure.Temporary() {
			return resp, above(at, err)
		}
		why = fmt.Sprintf("%s gave no answer: %v", req.Model, resp.Failure)
	}
}

// above is the error of a ladder: who goes on with the run begins at its foot.
func above(at event.Path, err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.Path = at
	}
	return err
}
