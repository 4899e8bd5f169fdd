package journal

import (
	"context"
	"fmt"
	"iter"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// Events returns the run's events after the one with the number after, in
// order. If the run is watched, see [Journal.Watch], the latest events come
// from memory.
func (j *Journal) Events(ctx context.Context, id string, after int64, d Detail) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if f := j.watchers.feed(id, d); f != nil {
			if events, ok := f.events(ctx, j.newEventCursor(0, id, after, d)); ok {
				events(yield)
				return
			}
		}
		j.newEventCursor(0, id, after, d).all(ctx)(yield)
	}
}

// chunk and chunkBytes limit the rows of one read transaction. Between two
// chunks, other processes may checkpoint SQLite's log.
const (
	chunk      = 512
	chunkBytes = 4 << 20
)

// chunked yields the items that some reads, until some reports that there are
// no more.
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

// An eventCursor reads the events of one run, chunk by chunk.
type eventCursor struct {
	eventReader
	id    string
	after int64 // number of the last event
	row   int64 // number of the last row, at least that of its event
}

// newEventCursor returns a cursor for the events after a number, of the run with
// the number n, or of the run with the name id if n is 0.
func (j *Journal) newEventCursor(n int64, id string, after int64, d Detail) *eventCursor {
	after = max(after, 0) // effects have the number 0
	read := eventReader{j: j, n: n, run: id, detail: d, requests: map[int64]*storedMessages{}}
	return &eventCursor{eventReader: read, id: id, after: after, row: after}
}

// all returns the remaining events.
func (k *eventCursor) all(ctx context.Context) iter.Seq2[event.Event, error] {
	return chunked(func() ([]event.Event, bool, error) { return k.next(ctx) })
}

// next returns the next chunk, and reports whether more may follow.
func (k *eventCursor) next(ctx context.Context) (events []event.Event, more bool, err error) {
	k.bytes = 0
	err = k.j.db.Read(ctx, func(c *stores.Conn) (err error) {
		if k.n == 0 {
			if k.n, k.run, err = numberOf(ctx, c, k.id); err != nil {
				return err
			}
		}
		return k.j.eachRow(ctx, c, k.n, k.row, hasEvent, func(l codec.StoredRow) error {
			k.row = l.Row
			if l.Seq <= k.after {
				k.remember(l)
				return nil
			}
			e, err := k.event(ctx, c, l)
			if err != nil {
				return err
			}
			events = append(events, e)
			if more = len(events) == chunk || k.bytes >= chunkBytes; more {
				return stores.ErrEnough
			}
			return nil
		})
	})
	if len(events) > 0 {
		k.after = events[len(events)-1].Seq
	}
	return events, more, err
}

// An eventReader makes events from the rows of one run.
type eventReader struct {
	j        *Journal
	n        int64
	run      string
	detail   Detail
	requests map[int64]*storedMessages // complete requests, by row
	bytes    int                       // of JSON read so far
	recent   []effectRow
}

// An effectRow is the row of an effect and, once read, its result. The event of
// the reply and the next request both need it.
type effectRow struct {
	codec.StoredRow
	result *codec.Effect
}

// hasEvent reports whether events are made from rows of a kind.
func hasEvent(kind string) bool {
	return codec.IsEvent(kind) || kind == codec.ModelEffect || kind == codec.ToolEffect
}

// maxRecentEffects is the number of effects that the reader caches, because
// their events follow soon.
const maxRecentEffects = 64

func (r *eventReader) remember(l codec.StoredRow) {
	if l.Seq == 0 && len(r.recent) >= maxRecentEffects {
		r.recent = r.recent[:0]
	}
	if l.Seq == 0 {
		r.recent = append(r.recent, effectRow{StoredRow: l})
	}
}

// effectAt returns the row of an effect, from the cache if possible, or nil.
func (r *eventReader) effectAt(ctx context.Context, c *stores.Conn, row int64) (*effectRow, error) {
	for i := len(r.recent) - 1; i >= 0; i-- {
		if r.recent[i].Row == row {
			return &r.recent[i], nil
		}
	}
	l, ok, err := r.j.rowAt(ctx, c, r.n, row)
	if !ok {
		return nil, err
	}
	return &effectRow{StoredRow: l}, err
}

func (r *eventReader) event(ctx context.Context, c *stores.Conn, l codec.StoredRow) (event.Event, error) {
	e := event.Event{Seq: l.Seq, Time: timeOf(l.Time), Kind: event.Kind(l.Kind), Path: l.Path, Run: r.run}
	raw, err := r.j.unpack(ctx, c, l.JSON(), r.view())
	if err != nil {
		return e, err
	}
	r.bytes += len(raw)
	var b codec.Body
	if err := schema.Unmarshal(raw, &b); err != nil {
		return e, r.garbled(l, err)
	}
	b.CopyTo(&e)
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

// view returns the view in which texts are read.
func (r *eventReader) view() codec.View {
	if r.detail == Marked {
		return codec.View{Text: func(text string) string { return text }}
	}
	return codec.RedactedView
}

func (r *eventReader) garbled(l codec.StoredRow, err error) error {
	return r.j.db.Corrupt(fmt.Sprintf("row %d of run %s", l.Row, r.run), err)
}

// effect adds the result of the effect at the event's path to the event.
func (r *eventReader) effect(ctx context.Context, c *stores.Conn, row int64, e *event.Event) error {
	result, err := r.result(ctx, c, row)
	if err != nil {
		return err
	}
	if e.Kind == event.ModelReplied {
		if e.Response = result.Response; result.Response != nil { // the effect stores the complete reply
			resp := result.Response.WithoutThinking()
			e.Response = &resp
		}
	} else {
		e.Result = result.Result
	}
	return nil
}

// effectResult returns the result of the effect in a row.
func (r *eventReader) result(ctx context.Context, c *stores.Conn, row int64) (*codec.Effect, error) {
	found, err := r.effectAt(ctx, c, row)
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, r.garbled(codec.StoredRow{Row: row}, nil)
	case found.result != nil:
		return found.result, nil
	}
	raw, err := r.j.unpack(ctx, c, found.JSON(), r.view())
	if err != nil {
		return nil, err
	}
	r.bytes += len(raw)
	var result codec.Effect
	if err := schema.Unmarshal(raw, &result); err != nil {
		return nil, r.garbled(found.StoredRow, err)
	}
	found.result = &result
	return &result, nil
}

// Effects returns the run's effects in the order in which they finished. If an
// effect was repeated, the last result is returned.
func (j *Journal) Effects(ctx context.Context, id string) iter.Seq2[Effect, error] {
	return func(yield func(Effect, error) bool) { j.effects(ctx, id)(yield) }
}

func (j *Journal) effects(ctx context.Context, id string) iter.Seq2[Effect, error] {
	n, name := int64(0), ""
	from := int64(0)
	return chunked(func() (effects []Effect, more bool, err error) {
		err = j.db.Read(ctx, func(c *stores.Conn) (err error) {
			if n == 0 {
				if n, name, err = numberOf(ctx, c, id); err != nil {
					return err
				}
			}
			return j.eachRow(ctx, c, n, from, codec.IsEffect, func(l codec.StoredRow) error {
				from = l.Row
				raw, err := j.unpack(ctx, c, l.JSON(), codec.RedactedView)
				if err != nil {
					return err
				}
				var result codec.Effect
				if raw != nil {
					if err := schema.Unmarshal(raw, &result); err != nil {
						return j.db.Corrupt(fmt.Sprintf("row %d of run %s", l.Row, name), err)
					}
				}
				effects = append(effects, Effect{l.Path, result.Response, result.Result, result.Finding, result.Answer, l.Kind == codec.TimeoutEffect})
				if more = len(effects) == chunk; more {
					return stores.ErrEnough
				}
				return nil
			})
		})
		return effects, more, err
	})
}

// Redacted reports whether a text of [Marked] events contained a secret.
func Redacted(text string) bool { return codec.Redacted(text) }
