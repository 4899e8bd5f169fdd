package journal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal/owners"
)

// A run has an epoch, which each start counts up in the transaction that takes
// the run. Whatever a start writes, it writes in a transaction that has seen
// its own epoch stand: a process that lost its run while it slept, or because
// somebody said that it was gone, writes nothing over its successor. Before it
// spends anything it looks too, so that it stops at its next effect.
//
// Most of the time nobody else writes the file at all, which SQLite tells for
// all runs at once. That time is an era of the writer, in which an epoch that
// was seen to stand stands on.

// epochOf is a run's epoch and who owns it.
const epochOf = "SELECT epoch, owner FROM run WHERE n = ?"

// fence refuses what the start would write where another has the run. It is
// called within the transaction that writes.
func (r *recording) fence(c *conn) error {
	found, err := c.one(context.Background(), epochOf, r.n)
	if err != nil {
		return err
	}
	if found == nil {
		return r.j.missing("the journal is damaged: run " + r.start.RunID + " is not there")
	}
	if integer(found[0]) == r.epoch {
		return nil
	}
	by := ""
	if other := owners.Read(word(found[1])); other.Key != "" {
		by = " (" + other.String() + ")"
	}
	return fmt.Errorf("run %s: %w%s", r.start.RunID, runner.ErrRunTaken, by)
}

// stands is fence for the one who writes. What was seen in this era of the
// writer is so still.
func (r *recording) stands(c *conn) error {
	era := r.j.writer.era.Load()
	if r.era.Load() == era {
		return r.j.store.hold(c, r.n, r.epoch)
	}
	if err := r.fence(c); err != nil {
		return err
	}
	if err := r.remembered(c); err != nil {
		return err
	}
	r.era.Store(era)
	return r.j.store.hold(c, r.n, r.epoch)
}

// forgotten is how long what a server has confirmed may be lost when it crashes:
// it writes ahead three times in each wal_writer_delay, of 200 ms.
const forgotten = 3 * time.Second

// A confirmed piece is one that may be lost yet.
type confirmed struct {
	at time.Time
	*piece
}

// holds notes what the writer has confirmed, and lets go of what is safe. It is
// called with r.fate held.
func (r *recording) holds(p *piece) {
	if p.sealed != nil {
		r.there = p.sealed.last
	}
	if !r.j.says.forgets || r.j.options.Power {
		return
	}
	now := time.Now()
	r.recent = append(r.recent, confirmed{now, p})
	safe := 0
	for now.Sub(r.recent[safe].at) > forgotten {
		safe++
	}
	r.recent = slices.Delete(r.recent, 0, safe)
}

// remembered writes once more what the store had confirmed and has lost, which a
// server may that crashes: see [dialect]. Where that is not at hand any more it
// refuses to go on.
func (r *recording) remembered(c *conn) error {
	if !r.j.says.forgets {
		return nil
	}
	r.fate.Lock()
	there, recent := r.there, slices.Clone(r.recent)
	r.fate.Unlock()
	last, _, err := r.j.lastRow(context.Background(), c, r.n)
	if err != nil {
		return err
	}
	for _, p := range recent {
		if p.sealed == nil || p.sealed.first != last+1 { // it is there, or what comes before it is not at hand
			continue
		}
		if err := r.write(c, p.piece); err != nil {
			return err
		}
		last = p.sealed.last
	}
	if last < there {
		err = r.j.missing(fmt.Sprintf("the server has lost the last of what run %s had done; it can be gone on with: capstan resume %[1]s", r.start.RunID))
	}
	return err
}

func (j *Journal) missing(words string) error {
	return &damage{file: j.store.String(), words: words, lost: true}
}

// trusted is how long it is taken for true that nobody else has written. An
// effect of a run that is taken over within that time is one that was begun
// before: a process that slept sees that more time has passed.
const trusted = 10 * time.Millisecond

// Owned implements [runner.Recording].
func (r *recording) Owned() error {
	if err := r.state(); err != nil {
		return err
	}
	return r.mine()
}

// mine looks whether the run is still this start's, ahead of an effect.
func (r *recording) mine() error {
	if w := r.j.writer; r.era.Load() == w.era.Load() && w.clock()-w.alone.Load() < int64(w.trusts) {
		return nil
	}
	look := r.j.watching
	if r.j.says.forgets {
		look = r.j.writer.do // which waits for a server that is away
	}
	return look(r.fence)
}
