package journal

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/schema"
)

// request makes a request whole.
func (r *eventReader) request(ctx context.Context, c *conn, row int64, a *asked, validator string) (*model.Request, error) {
	req := &model.Request{
		Model: a.Model, Phase: a.Phase, Attempt: a.Attempt, Turn: a.Turn, Validator: a.Validator, Role: a.Role, Params: a.Params,
	}
	if r.detail == Brief {
		return req, nil
	}
	if a.Tools != "" {
		if err := schema.Unmarshal([]byte(a.Tools), &req.Tools); err != nil {
			return req, r.garbled(logged{row: row}, err)
		}
	}
	if a.Schema != "" {
		req.Schema = json.RawMessage(a.Schema)
	}
	before, err := r.messages(ctx, c, a.On, a.Keep, row)
	if err != nil {
		return req, err
	}
	req.Messages = append(before[:a.Keep:a.Keep], a.Said...)
	r.said[row] = req.Messages
	return req, nil
}

// messages are the first count messages of the request in a row, which stands
// before another row.
func (r *eventReader) messages(ctx context.Context, c *conn, row int64, count int, before int64) ([]model.Message, error) {
	if row == 0 && count == 0 {
		return nil, nil
	}
	said, known := r.said[row]
	if !known {
		var err error
		if said, err = r.follow(ctx, c, row, before); err != nil {
			return nil, err
		}
	}
	if count < 0 || count > len(said) {
		return nil, r.garbled(logged{row: row}, nil)
	}
	return said, nil
}

// follow reads the rows that a request goes back on, and puts their messages
// together, the oldest first.
func (r *eventReader) follow(ctx context.Context, c *conn, row, before int64) ([]model.Message, error) {
	type link struct {
		row int64
		a   *asked
	}
	var chain []link
	for row != 0 && r.said[row] == nil {
		if row >= before {
			return nil, r.garbled(logged{row: row}, nil)
		}
		found, err := c.one(ctx, logColumns+" WHERE id = ?", r.n<<rowBits|row)
		if err != nil {
			return nil, err
		}
		if found == nil {
			return nil, r.garbled(logged{row: row}, nil)
		}
		l := loggedOf(found)
		raw, err := r.j.unpack(ctx, c, l.data, bare)
		if err != nil {
			return nil, err
		}
		var b body
		if err := schema.Unmarshal(raw, &b); err != nil || b.Request == nil {
			return nil, r.garbled(l, err)
		}
		chain = append(chain, link{row, b.Request})
		before, row = row, b.Request.On
	}
	said := r.said[row]
	for i := len(chain) - 1; i >= 0; i-- {
		a := chain[i].a
		if a.Keep < 0 || a.Keep > len(said) {
			return nil, r.garbled(logged{row: chain[i].row}, nil)
		}
		said = append(said[:a.Keep:a.Keep], a.Said...)
		r.said[chain[i].row] = said
	}
	return said, nil
}

// Request is the whole request of the model call at a path. A path that no
// model was called at is an error.
func (j *Journal) Request(ctx context.Context, id string, at event.Path) (*model.Request, error) {
	s, err := j.find(ctx, id)
	if err != nil {
		return nil, err
	}
	var req *model.Request
	err = j.reading(ctx, func(c *conn) error {
		found, err := c.one(ctx, logColumns+" WHERE id > ? AND id < ? AND kind = 'model_called' AND path = ? ORDER BY id DESC LIMIT 1",
			s.n<<rowBits, (s.n+1)<<rowBits, string(at))
		if err != nil {
			return err
		}
		if found == nil {
			return fmt.Errorf("run %s: no model was called at %q", s.RunID, at)
		}
		read := eventReader{j: j, n: s.n, run: s.RunID, said: map[int64][]model.Message{}}
		e, err := read.event(ctx, c, loggedOf(found))
		req = e.Request
		return err
	})
	return req, err
}
