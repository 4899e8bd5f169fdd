package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// request adds the stored request to its event, with as many messages as the
// detail asks for.
func (r *eventReader) request(ctx context.Context, c *stores.Conn, l codec.StoredRow, a *codec.Request, e *event.Event) (err error) {
	e.Conversation, e.Before, e.Partial = cmp.Or(a.First, l.Path), a.Before, r.detail != Whole
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
	if err := r.addReply(ctx, c, l.Row, a); err != nil {
		return err
	}
	if r.detail == Whole {
		e.Request.Messages, err = r.allMessages(ctx, c, l.Row, a)
		return err
	}
	e.Request.Messages, err = r.newMessages(ctx, c, l.Row, a)
	return err
}

// addReply inserts the reply of an earlier row before the request's own
// messages.
func (r *eventReader) addReply(ctx context.Context, c *stores.Conn, row int64, a *codec.Request) error {
	if a.Reply == 0 {
		return nil
	}
	made, err := r.result(ctx, c, a.Reply)
	if err == nil && (made.Response == nil || a.Reply >= row) {
		err = r.garbled(codec.StoredRow{Row: row}, nil)
	}
	if err != nil {
		return err
	}
	a.Messages = append([]model.Message{{Role: model.Assistant, Content: made.Response.Text}}, a.Messages...)
	a.Reply = 0
	return nil
}

// storedMessages are the messages of a request, in an array that a later
// request may share.
type storedMessages struct {
	messages []model.Message
	extended bool // another request has appended its messages to the array
}

// allMessages returns all messages of a request. Shared messages are stored
// once. Only the first request that continues after their end may append to the
// array. For later requests, or those that skip the last messages, the capacity
// is cut, so that append copies them.
func (r *eventReader) allMessages(ctx context.Context, c *stores.Conn, row int64, a *codec.Request) ([]model.Message, error) {
	base := r.requests[a.Base]
	if base == nil {
		messages, err := r.span(ctx, c, span{row: a.Base, to: a.BaseCount, before: row})
		if err != nil {
			return nil, err
		}
		base = &storedMessages{messages: messages}
	}
	if a.BaseCount < 0 || a.BaseCount > len(base.messages) {
		return nil, r.garbled(codec.StoredRow{Row: row}, nil)
	}
	shared := base.messages[:a.BaseCount]
	if base.extended || a.BaseCount < len(base.messages) {
		shared = shared[:a.BaseCount:a.BaseCount]
	}
	base.extended = base.extended || a.BaseCount == len(base.messages)
	all := append(shared, a.Messages...)
	r.requests[row] = &storedMessages{messages: all}
	return all[:len(all):len(all)], nil
}

// newMessages returns the messages that were not in the previous call of the
// conversation.
func (r *eventReader) newMessages(ctx context.Context, c *stores.Conn, row int64, a *codec.Request) ([]model.Message, error) {
	own, err := a.News()
	if err != nil {
		return nil, r.garbled(codec.StoredRow{Row: row}, err)
	}
	if a.Before >= a.BaseCount {
		return own, nil
	}
	others, err := r.span(ctx, c, span{row: a.Base, from: a.Before, to: a.BaseCount, before: row})
	return append(others, own...), err
}

// A span is a range of messages of the request in a row. The row must be smaller than
// the field before.
type span struct {
	row      int64
	from, to int
	before   int64
}

// span reads a range of messages from the rows that a request builds on.
func (r *eventReader) span(ctx context.Context, c *stores.Conn, s span) ([]model.Message, error) {
	if s.row == 0 && s.to == 0 {
		return nil, nil
	}
	var parts [][]model.Message // the last part first
	for s.to > s.from {
		a, err := r.readRequest(ctx, c, s)
		if err != nil {
			return nil, err
		}
		if a.BaseCount < 0 || s.to > a.BaseCount+len(a.Messages) {
			return nil, r.garbled(codec.StoredRow{Row: s.row}, nil)
		}
		if s.to > a.BaseCount {
			parts = append(parts, a.Messages[max(s.from-a.BaseCount, 0):s.to-a.BaseCount])
			s.to = a.BaseCount
		}
		s.before, s.row = s.row, a.Base
	}
	slices.Reverse(parts)
	return slices.Concat(parts...), nil
}

// readRequest reads the row of a request.
func (r *eventReader) readRequest(ctx context.Context, c *stores.Conn, s span) (*codec.Request, error) {
	if s.row >= s.before || s.row <= 0 {
		return nil, r.garbled(codec.StoredRow{Row: s.row}, nil)
	}
	l, ok, err := r.j.rowAt(ctx, c, r.n, s.row)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, r.garbled(codec.StoredRow{Row: s.row}, nil)
	}
	raw, err := r.j.unpack(ctx, c, l.JSON(), codec.RedactedView)
	if err != nil {
		return nil, err
	}
	var b codec.Body
	if err := schema.Unmarshal(raw, &b); err != nil || b.Request == nil {
		return nil, r.garbled(l, err)
	}
	return b.Request, r.addReply(ctx, c, s.row, b.Request)
}

// Requests returns a function for the complete request of the model call at a path of a
// run. If no model was called there, the error says so. Requests searches the rows of the
// calls only once.
func (j *Journal) Requests(ctx context.Context, id string) (request func(at event.Path) (*model.Request, error), err error) {
	n, name := int64(0), ""
	rows := map[event.Path]int64{}
	err = j.db.Read(ctx, func(c *stores.Conn) (err error) {
		if n, name, err = numberOf(ctx, c, id); err != nil {
			return err
		}
		isCall := func(kind string) bool { return kind == string(event.ModelCalled) }
		return j.eachRow(ctx, c, n, 0, isCall, func(l codec.StoredRow) error {
			rows[l.Path] = l.Row // the last one counts
			return nil
		})
	})
	return func(at event.Path) (req *model.Request, err error) {
		if rows[at] == 0 {
			return nil, fmt.Errorf("run %s: no model was called at %q", name, at)
		}
		err = j.db.Read(ctx, func(c *stores.Conn) error {
			l, there, err := j.rowAt(ctx, c, n, rows[at])
			if err != nil || !there {
				return errors.Join(err, j.db.Corrupt(fmt.Sprintf("run %s, row %d", name, rows[at]), nil))
			}
			read := eventReader{j: j, n: n, run: name, requests: map[int64]*storedMessages{}}
			e, err := read.event(ctx, c, l)
			req = e.Request
			return err
		})
		return req, err
	}, err
}
