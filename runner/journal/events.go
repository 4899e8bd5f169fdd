package journal

import (
	"context"
	"fmt"
	"iter"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/validators/schema"
)

// Events gives the run's events after the one numbered after, in order.
func (j *Journal) Events(ctx context.Context, id string, after int64, d Detail) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) { j.events(ctx, 0, id, after, d)(yield) }
}

// chunk is how many rows are read at a time: between two chunks others may
// write the log back. A chunk of large ones ends sooner.
const (
	chunk      = 512
	chunkBytes = 4 << 20
)

// chunked gives the items that some reads at a time, for as long as it says that
// there are more.
func chunked[T any](some func() (list []T, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for more := true; more; {
			var list []T
			var err error
			if list, more, err = some(); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range list {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// events are those of the run with a number; 0 is of the one that is called so.
func (j *Journal) events(ctx context.Context, n int64, id string, after int64, d Detail) iter.Seq2[event.Event, error] {
	read := eventReader{j: j, n: n, run: id, detail: d, said: map[int64]*said{}}
	after = max(after, 0) // effects are numbered 0
	from := after         // a row's number is at least its event's
	return chunked(func() (events []event.Event, more bool, err error) {
		read.bytes = 0
		err = j.reading(ctx, func(c *conn) (err error) {
			if read.n == 0 {
				if read.n, read.run, err = numberOf(ctx, c, id); err != nil {
					return err
				}
			}
			return j.eachRow(ctx, c, read.n, from, tells, func(l logged) error {
				from = l.row
				if l.seq <= after {
					read.note(l)
					return nil
				}
				e, err := read.event(ctx, c, l)
				if err != nil {
					return err
				}
				events = append(events, e)
				if more = len(events) == chunk || read.bytes >= chunkBytes; more {
					return errEnough
				}
				return nil
			})
		})
		return events, more, err
	})
}

// An eventReader makes events of the rows of one run.
type eventReader struct {
	j      *Journal
	n      int64
	run    string
	detail Detail
	said   map[int64]*said // of whole requests, by their rows
	bytes  int             // of JSON that was read
	recent []effectRow
}

// An effectRow is the row of an effect, and what it came to, once that was read: who
// replied is told, and then what was said to whom is put together of it.
type effectRow struct {
	logged
	came *came
}

// tells picks the rows that events are made of.
func tells(kind string) bool { return isEvent(kind) || kind == modelEffect || kind == toolEffect }

// manyMade is how many effects are at hand while events are read: what they came
// to is told soon.
const manyMade = 64

func (r *eventReader) note(l logged) {
	if l.seq == 0 && len(r.recent) >= manyMade {
		r.recent = r.recent[:0]
	}
	if l.seq == 0 {
		r.recent = append(r.recent, effectRow{logged: l})
	}
}

// effectAt is the row of an effect, which may be at hand; nil where there is none.
func (r *eventReader) effectAt(ctx context.Context, c *conn, row int64) (*effectRow, error) {
	for i := len(r.recent) - 1; i >= 0; i-- {
		if r.recent[i].row == row {
			return &r.recent[i], nil
		}
	}
	l, ok, err := r.j.rowAt(ctx, c, r.n, row)
	if !ok {
		return nil, err
	}
	return &effectRow{logged: l}, err
}

func (r *eventReader) event(ctx context.Context, c *conn, l logged) (event.Event, error) {
	e := event.Event{Seq: l.seq, Time: timeOf(l.time), Kind: event.Kind(l.kind), Path: l.path, Run: r.run}
	raw, err := r.j.unpack(ctx, c, l.json(), r.view())
	if err != nil {
		return e, err
	}
	r.bytes += len(raw)
	var b body
	if err := schema.Unmarshal(raw, &b); err != nil {
		return e, r.garbled(l, err)
	}
	b.event(&e)
	if b.Effect != 0 {
		if err := r.effect(ctx, c, b.Effect, &e); err != nil {
			return e, err
		}
	}
	if b.Request != nil {
		err = r.request(ctx, c, l, b.Request, &e)
	}
	return e, err
}

// view is how the texts of events are read.
func (r *eventReader) view() view {
	if r.detail == Marked {
		return view{text: func(said string) string { return said }}
	}
	return people
}

func (r *eventReader) garbled(l logged, err error) error {
	return r.j.garbled(fmt.Sprintf("row %d of run %s", l.row, r.run), err)
}

// effect puts what the effect at the event's path came to where it belongs.
func (r *eventReader) effect(ctx context.Context, c *conn, row int64, e *event.Event) error {
	made, err := r.made(ctx, c, row)
	if err != nil {
		return err
	}
	if e.Kind == event.ModelReplied {
		if e.Response = made.Response; made.Response != nil { // the effect has the reply as it came
			resp := made.Response.WithoutThinking()
			e.Response = &resp
		}
	} else {
		e.Result = made.Result
	}
	return nil
}

// made is what the effect in a row came to.
func (r *eventReader) made(ctx context.Context, c *conn, row int64) (*came, error) {
	found, err := r.effectAt(ctx, c, row)
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, r.garbled(logged{row: row}, nil)
	case found.came != nil:
		return found.came, nil
	}
	raw, err := r.j.unpack(ctx, c, found.json(), r.view())
	if err != nil {
		return nil, err
	}
	r.bytes += len(raw)
	var made came
	if err := schema.Unmarshal(raw, &made); err != nil {
		return nil, r.garbled(found.logged, err)
	}
	found.came = &made
	return &made, nil
}

// Effects gives the run's effects in the order in which they finished. Of one
// that was made anew, the last stands.
func (j *Journal) Effects(ctx context.Context, id string) iter.Seq2[Effect, error] {
	return func(yield func(Effect, error) bool) { j.effects(ctx, id)(yield) }
}

func (j *Journal) effects(ctx context.Context, id string) iter.Seq2[Effect, error] {
	n, name := int64(0), ""
	from := int64(0)
	return chunked(func() (effects []Effect, more bool, err error) {
		err = j.reading(ctx, func(c *conn) (err error) {
			if n == 0 {
				if n, name, err = numberOf(ctx, c, id); err != nil {
					return err
				}
			}
			return j.eachRow(ctx, c, n, from, isEffect, func(l logged) error {
				from = l.row
				raw, err := j.unpack(ctx, c, l.json(), people)
				if err != nil {
					return err
				}
				var made came
				if raw != nil {
					if err := schema.Unmarshal(raw, &made); err != nil {
						return j.garbled(fmt.Sprintf("row %d of run %s", l.row, name), err)
					}
				}
				effects = append(effects, Effect{l.path, made.Response, made.Result, made.Finding, made.Answer, l.kind == timeoutEffect})
				if more = len(effects) == chunk; more {
					return errEnough
				}
				return nil
			})
		})
		return effects, more, err
	})
}
