package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/owners"
)

// A Guest keeps what another engine tells of the runs that it makes, so that they
// are seen where the journal's own are. Several processes may tell of one run, and
// what is told again is not kept again. The run stays the other engine's: nobody
// goes on with it here. It is safe for concurrent use.
type Guest struct {
	j    *Journal
	name string

	mu   sync.Mutex
	told map[string]*recording // runs as far as they were told here: see [Guest.recording]
}

// manyTold bounds the runs that a guest remembers.
const manyTold = 64

// Guest is the journal for an engine of that name.
func (j *Journal) Guest(name string) *Guest {
	return &Guest{j: j, name: name, told: map[string]*recording{}}
}

// guestEpoch is the epoch of runs that are not the journal's own. No start has it, nor has a run of a journal that was
// kept before there were epochs: those have 0.
const guestEpoch = -1

// write runs body in a transaction, and tells whoever watches the run.
func (g *Guest) write(id string, body func(c *conn) error) error {
	if err := g.j.writable(); err != nil {
		return err
	}
	err := g.j.writer.do(body)
	g.j.tell(id)
	return err
}

// Begin notes a run. One of that name that is the journal's own is
// [runner.ErrRunExists].
func (g *Guest) Begin(s runner.Start) error {
	p := packer{secrets: g.j.secrets}
	data, err := encodeStart(&p, s)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	begun, own := g.j.begun(s, owners.Owner{Key: "guest", Guest: g.name}, guestEpoch), false
	err = g.write(s.RunID, func(c *conn) error {
		if _, err := c.Exec(insertRun, begun...); err != nil {
			return err
		}
		n, err := g.locked(c, s.RunID)
		if own = errors.Is(err, runner.ErrRunExists); own {
			return nil
		}
		if err == nil {
			err = g.j.writer.texts(p.texts)
		}
		if err != nil {
			return err
		}
		return c.send("INSERT INTO start (run, data, sum) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", n, string(data), checksum(data))
	})
	if err == nil && own {
		err = fmt.Errorf("run %s: %w", s.RunID, runner.ErrRunExists)
	}
	return err
}

// locked gives the number of a run that is a guest's, which nobody else writes of
// until the end of the transaction.
func (g *Guest) locked(c *conn, id string) (int64, error) {
	found, err := c.one(context.Background(), "SELECT n, epoch FROM run WHERE id = ?"+g.j.says.lock, id)
	switch {
	case err != nil:
		return 0, err
	case found == nil:
		return 0, fmt.Errorf("run %s: %w", id, runner.ErrNoRun)
	case integer(found[1]) != guestEpoch:
		return 0, fmt.Errorf("run %s: %w", id, runner.ErrRunExists)
	}
	return integer(found[0]), nil
}

// Tell keeps an event, whose number says where it stands: one that is kept already
// is not kept again, and one before which others are missing is an error.
func (g *Guest) Tell(e event.Event) error {
	err := g.write(e.Run, func(c *conn) error {
		r, err := g.recording(c, e.Run)
		switch {
		case err != nil || e.Seq <= r.seq:
			return err
		case e.Seq > r.seq+1:
			return fmt.Errorf("run %s: event %d comes after %d", e.Run, e.Seq, r.seq)
		}
		told := e
		r.note(&told)
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
		g.forget(e.Run) // what it has told may not be there
	}
	return err
}

// recording is the run as far as it is kept. Where nobody else has told of it since
// this one did, it knows its conversations: else each call has all of its own again.
func (g *Guest) recording(c *conn, id string) (*recording, error) {
	n, err := g.locked(c, id)
	if err != nil {
		return nil, err
	}
	row, seq, err := g.j.lastRow(context.Background(), c, n)
	if r := g.forget(id); r != nil && r.n == n && r.row == row && r.seq == seq {
		return r, err
	}
	r := g.j.newRecording(n, guestEpoch, runner.Start{RunID: id})
	r.row, r.seq = row, seq
	return r, err
}

func (g *Guest) remember(id string, r *recording) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.told) >= manyTold {
		clear(g.told)
	}
	g.told[id] = r
}

func (g *Guest) forget(id string) *recording {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.told[id]
	delete(g.told, id)
	return r
}

// Waits notes the open questions of a run, in the order of their keys; each has its
// time in Until. They are shown as those of any run. Another engine asks them, and takes
// the answers.
func (g *Guest) Waits(id string, open []engine.Asked) error {
	var rows []openRow
	pack := packer{secrets: g.j.secrets}
	for _, q := range open {
		p := Pending{Path: q.Path, Question: q.Question}
		if !q.Until.IsZero() {
			p.Expires = &q.Until
		}
		raw, err := pack.encode(pendingRow{Pending: p})
		if err != nil {
			return fmt.Errorf("run %s: question: %w", id, err)
		}
		rows = append(rows, openRow{path: q.Path, text: string(raw)})
	}
	return g.stands(id, engine.Waiting, rowOf(rows), &pack)
}

// GoesOn notes that a run waits with no question any more.
func (g *Guest) GoesOn(id string) error { return g.stands(id, Running, nil, &packer{}) }

// stands notes how a run stands that has not ended.
func (g *Guest) stands(id, status string, pending any, pack *packer) error {
	return g.write(id, func(c *conn) error {
		n, err := g.locked(c, id)
		if err == nil {
			err = g.j.writer.texts(pack.texts)
		}
		if err != nil {
			return err
		}
		return c.send("UPDATE run SET status = ?, pending = ? WHERE n = ? AND finished IS NULL", status, pending, n)
	})
}

// End notes how a run ended.
func (g *Guest) End(id string, result engine.Result) error {
	return g.write(id, func(c *conn) error {
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
		e.finished, e.phases, e.events = g.j.now().UnixNano(), int64(so.Phases), so.Events
		e.asksNothing = 1
		return e.write(c, r.n)
	})
}

// Gone notes that a run is over that could not say so: its engine has ended it, and why says for what reason, or that it
// has not. Why is asked where the run is noted and has not ended; what the run came to is what is kept of it.
func (g *Guest) Gone(id string, why func() (*event.Error, error)) error {
	ctx := context.Background()
	so, err := g.j.find(ctx, id)
	if errors.Is(err, runner.ErrNoRun) || err == nil && (so.RunID != id || !so.Guest || so.Finished != nil) {
		return nil
	}
	if err != nil {
		return err
	}
	reason, err := why()
	if err != nil || reason == nil {
		return err
	}
	result, err := g.j.fold(ctx, so)
	if err != nil {
		return err
	}
	result.Status, result.Error = reason.Code, reason
	over := event.Event{
		Run: id, Seq: so.Events + 1, Time: g.j.now().UTC(),
		Kind: event.RunFinished, RunID: id, CascadeID: so.CascadeID, Status: result.Status, Usage: &result.Usage, Error: reason,
	}
	if err := g.Tell(over); err != nil {
		return err
	}
	return g.End(id, result)
}
