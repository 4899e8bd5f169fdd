package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/owners"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// ExternalRuns stores runs of another engine, so that they appear beside the journal's
// own. Several processes may report the same run; repeated reports are ignored. No
// process can resume these runs except the other engine. ExternalRuns is safe for
// concurrent use.
type ExternalRuns struct {
	j    *Journal
	name string

	mu         sync.Mutex
	recordings map[string]*recording // cached state of runs, see [ExternalRuns.recording]
}

// maxExternal is the maximum number of cached runs.
const maxExternal = 64

// External returns the store for the runs of an engine with this name.
func (j *Journal) External(name string) *ExternalRuns {
	return &ExternalRuns{j: j, name: name, recordings: map[string]*recording{}}
}

// externalEpoch is the epoch of external runs. The journal's own runs never have it.
const externalEpoch = -1

// write runs body in a transaction and notifies the watchers of the run.
func (g *ExternalRuns) write(id string, body func(c *stores.Conn) error) error {
	if err := g.j.writable(); err != nil {
		return err
	}
	err := g.j.db.Writer.Do(body)
	g.j.notify(id)
	return err
}

// Begin stores a new run. If one of the journal's own runs has the name, the
// error is [runner.ErrRunExists].
func (g *ExternalRuns) Begin(s runner.Start) error {
	p := codec.Packer{Secrets: g.j.secrets}
	data, err := codec.EncodeStart(&p, s)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	begun, own := g.j.newRunRow(s, owners.Owner{Key: "external", Engine: g.name}, externalEpoch), false
	err = g.write(s.RunID, func(c *stores.Conn) error {
		if _, err := c.Exec(insertRun, begun...); err != nil {
			return err
		}
		n, err := g.lockRun(c, s.RunID)
		if own = errors.Is(err, runner.ErrRunExists); own {
			return nil
		}
		if err == nil {
			err = g.j.db.Writer.Texts(p.Texts)
		}
		if err != nil {
			return err
		}
		return c.Queue("INSERT INTO start (run, data, sum) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", n, string(data), codec.Checksum(data))
	})
	if err == nil && own {
		err = fmt.Errorf("run %s: %w", s.RunID, runner.ErrRunExists)
	}
	return err
}

// lockRun returns the number of an external run and locks it until the end of
// the transaction.
func (g *ExternalRuns) lockRun(c *stores.Conn, id string) (int64, error) {
	found, err := c.One(context.Background(), "SELECT n, epoch FROM run WHERE id = ?"+g.j.db.Dialect.Lock, id)
	switch {
	case err != nil:
		return 0, err
	case found == nil:
		return 0, fmt.Errorf("run %s: %w", id, runner.ErrNoRun)
	case stores.Integer(found[1]) != externalEpoch:
		return 0, fmt.Errorf("run %s: %w", id, runner.ErrRunExists)
	}
	return stores.Integer(found[0]), nil
}

// Append stores an event. The event's number is its position: a stored event is
// ignored, and a gap before it is an error.
func (g *ExternalRuns) Append(e event.Event) error {
	err := g.write(e.Run, func(c *stores.Conn) error {
		r, err := g.recording(c, e.Run)
		switch {
		case err != nil || e.Seq <= r.seq:
			return err
		case e.Seq > r.seq+1:
			return fmt.Errorf("run %s: event %d comes after %d", e.Run, e.Seq, r.seq)
		}
		own := e
		r.storeEvent(&own)
		if r.broken != nil {
			return r.broken
		}
		if err := r.write(c, r.take()); err != nil {
			return err
		}
		g.remember(e.Run, r)
		return nil
	})
	if err != nil {
		g.forget(e.Run) // the cached rows may not be stored
	}
	return err
}

// recording returns the state of a run. If only this process has written the
// run since the last call, the state comes from the cache and includes the
// conversations. Otherwise each request stores its whole conversation again.
func (g *ExternalRuns) recording(c *stores.Conn, id string) (*recording, error) {
	n, err := g.lockRun(c, id)
	if err != nil {
		return nil, err
	}
	row, seq, err := g.j.lastRow(context.Background(), c, n)
	if r := g.forget(id); r != nil && r.n == n && r.row == row && r.seq == seq {
		return r, err
	}
	r := g.j.newRecording(n, externalEpoch, runner.Start{RunID: id})
	r.row, r.seq = row, seq
	return r, err
}

func (g *ExternalRuns) remember(id string, r *recording) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.recordings) >= maxExternal {
		clear(g.recordings)
	}
	g.recordings[id] = r
}

func (g *ExternalRuns) forget(id string) *recording {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.recordings[id]
	delete(g.recordings, id)
	return r
}

// SetWaiting stores the open questions of a run, in the order of their keys. Their
// expiry is in the field Until. They are shown like those of any run, but the other
// engine asks them and receives the answers. Without a question the run no longer waits.
func (g *ExternalRuns) SetWaiting(id string, open []engine.Asked) error {
	var rows []openRow
	pack := codec.Packer{Secrets: g.j.secrets}
	for _, q := range open {
		p := Pending{Path: q.Path, Question: q.Question}
		if !q.Until.IsZero() {
			p.Expires = &q.Until
		}
		raw, err := pack.Encode(pendingRow{Pending: p})
		if err != nil {
			return fmt.Errorf("run %s: question: %w", id, err)
		}
		rows = append(rows, openRow{path: q.Path, text: string(raw)})
	}
	status := engine.Waiting
	if len(open) == 0 {
		status = Running
	}
	return g.write(id, func(c *stores.Conn) error {
		n, err := g.lockRun(c, id)
		if err == nil {
			err = g.j.db.Writer.Texts(pack.Texts)
		}
		if err != nil {
			return err
		}
		return c.Queue("UPDATE run SET status = ?, pending = ? WHERE n = ? AND finished IS NULL", status, rowOf(rows), n)
	})
}

// End stores the end of a run.
func (g *ExternalRuns) End(id string, result engine.Result) error {
	return g.write(id, func(c *stores.Conn) error {
		r, err := g.recording(c, id)
		if err != nil {
			return err
		}
		var so Summary
		if err := g.j.tally(context.Background(), c, r.n, &so); err != nil {
			return err
		}
		p := r.take()
		e, err := r.ending(p, result)
		if err != nil {
			return err
		}
		if err := r.write(c, p); err != nil {
			return err
		}
		e.finished, e.phases, e.events = g.j.db.Now().UnixNano(), int64(so.Phases), so.Events
		e.closesQuestions = 1
		return e.write(c, r.n)
	})
}

// EndLost ends a run whose engine could not report its end. cause returns the
// error with which the engine ended the run, or nil if it is still running. It
// is called only if the run is stored and unfinished. The result is computed
// from the stored events.
func (g *ExternalRuns) EndLost(id string, reason func() (*event.Error, error)) error {
	ctx := context.Background()
	so, err := g.j.find(ctx, id)
	if errors.Is(err, runner.ErrNoRun) || err == nil && (so.RunID != id || !so.External || so.Finished != nil) {
		return nil
	}
	if err != nil {
		return err
	}
	cause, err := reason()
	if err != nil || cause == nil {
		return err
	}
	result, err := g.j.fold(ctx, so)
	if err != nil {
		return err
	}
	result.Status, result.Error = cause.Code, cause
	over := event.Event{
		Run: id, Seq: so.Events + 1, Time: g.j.db.Now().UTC(),
		Kind: event.RunFinished, RunID: id, CascadeID: so.CascadeID, Status: result.Status, Usage: &result.Usage, Error: cause,
	}
	if err := g.Append(over); err != nil {
		return err
	}
	return g.End(id, result)
}
