package openai

import (
	"context"
	"errors"
	"fmt"
	"io"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed61713e19/capstan/runner/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model"
)

// listen makes a response of a streamed answer. One that ends before the
// endpoint gave a reason to finish, or said that this is all, is cut; once it
// has, only a complaint counts against it.
func (t *try) listen(stream *api.ChatCompletionStream) (model.Response, error) {
	defer stream.Close()
	a := assembly{normal: t.c.provider.Finish}
	for {
		piece, err := a.next(t.ctx, stream)
		var f *model.Failure
		switch {
		case err == nil:
			t.q.say(piece)
			t.events.late = a.ended()
			continue
		case errors.As(err, &f), !a.ended() && !t.events.done:
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("the answer was cut after %d bytes", t.events.size)
			}
			return t.begun(&a), err
		}
		t.q.say(a.finishTexts())
		return t.finish(a.draft())
	}
}

// next takes the next event of a stream.
func (a *assembly) next(ctx context.Context, stream *api.ChatCompletionStream) (piece string, err error) {
	raw, err := stream.RecvRaw()
	if err != nil {
		return "", err
	}
	if piece, err = a.take(ctx, raw); errors.As(err, new(*jsontree.SyntaxError)) {
		err = fmt.Errorf("an event does not decode: %w", err)
	}
	return piece, err
}

// begun is what is known of an answer that broke off: what it cost.
func (t *try) begun(a *assembly) model.Response {
	d := a.draft()
	resp := model.Response{Model: d.model, ID: d.id, Finish: d.finish}
	if a.chosen {
		resp.Usage = t.usage(d)
	}
	return resp
}

// say hands on a piece of text.
func (q *question) say(piece string) {
	if q.onText != nil && piece != "" {
		q.heard = true
		q.onText(piece)
	}
}

// void says that what was heard of a try that failed does not count.
func (q *question) void() {
	if q.heard {
		q.heard = false
		q.onText("")
	}
}
