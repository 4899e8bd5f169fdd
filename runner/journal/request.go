package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/schema"
)

// request puts a request where it belongs, with as many of its messages as are
// wanted.
func (r *eventReader) request(ctx context.Context, c *conn, l logged, a *asked, e *event.Event) (err error) {
	e.Conversation, e.Before, e.Cut = cmp.Or(a.First, l.path), a.Before, r.detail != Whole
	e.Request = &model.Request{
		Model: a.Model, Phase: a.Phase, Attempt: a.Attempt, Turn: a.Turn, Validator: a.Validator, Role: a.Role, Params: a.Params,
	}
	if a.Before < 0 {
		return r.garbled(l, nil)
	}
	if r.detail == Brief || r.detail == Marked {
		return nil
	}
	if a.Tools != "" {
		if err := schema.Unmarshal([]byte(a.Tools), &e.Request.Tools); err != nil {
			return r.garbled(l, err)
		}
	}
	if a.Schema != "" {
		e.Request.Schema = json.RawMessage(a.Schema)
	}
	if err := r.heard(ctx, c, l.row, a); err != nil {
		return err
	}
	if r.detail == Whole {
		e.Request.Messages, err = r.whole(ctx, c, l.row, a)
		return err
	}
	e.Request.Messages, err = r.news(ctx, c, l.row, a)
	return err
}

// heard puts the message before a request's own that the effect of an earlier
// row gave.
func (r *eventReader) heard(ctx context.Context, c *conn, row int64, a *asked) error {
	if a.Reply == 0 {
		return nil
	}
	made, err := r.made(ctx, c, a.Reply)
	if err == nil && (made.Response == nil || a.Reply >= row) {
		err = r.garbled(logged{row: row}, nil)
	}
	if err != nil {
		return err
	}
	a.Said = append([]model.Message{{Role: model.Assistant, Content: made.Response.Text}}, a.Said...)
	a.Reply = 0
	return nil
}

// said are the messages of a request, in an array that a later one may share.
type said struct {
	messages []model.Message
	grown    bool // another request has its own behind them
}

// whole are all messages of a request. Those that it goes on with stay where
// they are: each is held once. Behind them only the first that goes on from their end
// may append in place; for a second, or one that leaves the last ones out, the
// capacity is cut, so that append makes an array of its own.
func (r *eventReader) whole(ctx context.Context, c *conn, row int64, a *asked) ([]model.Message, error) {
	base := r.said[a.On]
	if base == nil {
		messages, err := r.span(ctx, c, span{row: a.On, to: a.Keep, before: row})
		if err != nil {
			return nil, err
		}
		base = &said{messages: messages}
	}
	if a.Keep < 0 || a.Keep > len(base.messages) {
		return nil, r.garbled(logged{row: row}, nil)
	}
	kept := base.messages[:a.Keep]
	if base.grown || a.Keep < len(base.messages) {
		kept = kept[:a.Keep:a.Keep]
	}
	base.grown = base.grown || a.Keep == len(base.messages)
	all := append(kept, a.Said...)
	r.said[row] = &said{messages: all}
	return all[:len(all):len(all)], nil
}

// news are the messages of a request that were not there at the last call of
// its conversation.
func (r *eventReader) news(ctx context.Context, c *conn, row int64, a *asked) ([]model.Message, error) {
	if a.Before > a.Keep+len(a.Said) {
		return nil, r.garbled(logged{row: row}, nil)
	}
	if a.Before >= a.Keep {
		return a.Said[a.Before-a.Keep:], nil
	}
	others, err := r.span(ctx, c, span{row: a.On, from: a.Before, to: a.Keep, before: row})
	return append(others, a.Said...), err
}

// A span is some messages of the request in a row, which stands before another
// row.
type span struct {
	row      int64
	from, to int
	before   int64
}

// span reads messages from the rows that a request goes back on.
func (r *eventReader) span(ctx context.Context, c *conn, s span) ([]model.Message, error) {
	if s.row == 0 && s.to == 0 {
		return nil, nil
	}
	var parts [][]model.Message // the last first
	for s.to > s.from {
		a, err := r.asked(ctx, c, s)
		if err != nil {
			return nil, err
		}
		if a.Keep < 0 || s.to > a.Keep+len(a.Said) {
			return nil, r.garbled(logged{row: s.row}, nil)
		}
		if s.to > a.Keep {
			parts = append(parts, a.Said[max(s.from-a.Keep, 0):s.to-a.Keep])
			s.to = a.Keep
		}
		s.before, s.row = s.row, a.On
	}
	slices.Reverse(parts)
	return slices.Concat(parts...), nil
}

// asked reads the row of a request.
func (r *eventReader) asked(ctx context.Context, c *conn, s span) (*asked, error) {
	if s.row >= s.before || s.row <= 0 {
		return nil, r.garbled(logged{row: s.row}, nil)
	}
	l, ok, err := r.j.rowAt(ctx, c, r.n, s.row)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, r.garbled(logged{row: s.row}, nil)
	}
	raw, err := r.j.unpack(ctx, c, l.json(), people)
	if err != nil {
		return nil, err
	}
	var b body
	if err := schema.Unmarshal(raw, &b); err != nil || b.Request == nil {
		return nil, r.garbled(l, err)
	}
	return b.Request, r.heard(ctx, c, s.row, b.Request)
}

// Request is the whole request of the model call at a path. A path that no
// model was called at is an error.
func (j *Journal) Request(ctx context.Context, id string, at event.Path) (*model.Request, error) {
	request, err := j.Requests(ctx, id)
	if err != nil {
		return nil, err
	}
	return request(at)
}

// Requests gives what [Journal.Request] gives of a run, for many of its calls: where
// they stand is looked for once.
func (j *Journal) Requests(ctx context.Context, id string) (request func(at event.Path) (*model.Request, error), err error) {
	n, name := int64(0), ""
	rows := map[event.Path]int64{}
	err = j.reading(ctx, func(c *conn) (err error) {
		if n, name, err = numberOf(ctx, c, id); err != nil {
			return err
		}
		isCall := func(kind string) bool { return kind == string(event.ModelCalled) }
		return j.eachRow(ctx, c, n, 0, isCall, func(l logged) error {
			rows[l.path] = l.row // the last stands
			return nil
		})
	})
	return func(at event.Path) (req *model.Request, err error) {
		if rows[at] == 0 {
			return nil, fmt.Errorf("run %s: no model was called at %q", name, at)
		}
		err = j.reading(ctx, func(c *conn) error {
			l, there, err := j.rowAt(ctx, c, n, rows[at])
			if err != nil || !there {
				return errors.Join(err, j.garbled(fmt.Sprintf("run %s, row %d", name, rows[at]), nil))
			}
			read := eventReader{j: j, n: n, run: name, said: map[int64]*said{}}
			e, err := read.event(ctx, c, l)
			req = e.Request
			return err
		})
		return req, err
	}, err
}
