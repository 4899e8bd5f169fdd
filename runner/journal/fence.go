package journal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal/internal/owners"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// A run has an epoch. Each start raises it in the transaction that takes the run. A
// start writes only in transactions that have checked its epoch. A process may lose its
// run while it sleeps, or because a user took it over. The transaction then fails, so
// it cannot overwrite its successor's rows. It also checks the epoch before each
// effect, so that it stops at the next one.
//
// Usually no other process writes the file, and SQLite reports that for all
// runs at once. The time until another process writes is an era of the writer.
// An epoch that was checked in an era stays valid in it.

// epochOf selects a run's epoch and owner.
const epochOf = "SELECT epoch, owner FROM run WHERE n = ?"

// fence returns an error if another start owns the run. It must be called in
// the transaction that writes.
func (r *recording) fence(c *stores.Conn) error {
	found, err := c.One(context.Background(), epochOf, r.n)
	if err != nil {
		return err
	}
	if found == nil {
		return r.j.db.LostError("the journal is damaged: run " + r.start.RunID + " is not there")
	}
	if stores.Integer(found[0]) == r.epoch {
		return nil
	}
	by := ""
	if other := owners.Read(stores.Text(found[1])); other.Key != "" {
		by = " (" + other.String() + ")"
	}
	return fmt.Errorf("run %s: %w%s", r.start.RunID, runner.ErrRunTaken, by)
}

// checkEpoch is fence for the writer. It runs one check per era of the writer.
func (r *recording) checkEpoch(c *stores.Conn) error {
	era := r.j.db.Writer.Era.Load()
	if r.era.Load() == era {
		return r.j.db.Store.Hold(c, r.n, r.epoch)
	}
	if err := r.fence(c); err != nil {
		return err
	}
	if err := r.rewriteLost(c); err != nil {
		return err
	}
	r.era.Store(era)
	return r.j.db.Store.Hold(c, r.n, r.epoch)
}

// lossWindow is the time in which a crashing server may lose confirmed data. A
// server writes its log three times in each wal_writer_delay of 200 ms.
const lossWindow = 3 * time.Second

// confirmed is a piece that a crash of the server may still lose.
type confirmed struct {
	at time.Time
	*piece
}

// addConfirmed records a confirmed piece and drops those that are safe by now.
// The caller must hold r.resultMu.
func (r *recording) addConfirmed(p *piece) {
	if p.sealed != nil {
		r.confirmedRow = p.sealed.Last
	}
	if !r.j.db.Dialect.Forgets || r.j.db.Options.Power {
		return
	}
	now := time.Now()
	r.recent = append(r.recent, confirmed{now, p})
	safe := 0
	for now.Sub(r.recent[safe].at) > lossWindow {
		safe++
	}
	r.recent = slices.Delete(r.recent, 0, safe)
}

// rewriteLost restores confirmed pieces that a crashed server has lost, see [stores.Dialect].
// It returns an error if a lost piece is no longer in memory.
func (r *recording) rewriteLost(c *stores.Conn) error {
	if !r.j.db.Dialect.Forgets {
		return nil
	}
	r.resultMu.Lock()
	there, recent := r.confirmedRow, slices.Clone(r.recent)
	r.resultMu.Unlock()
	last, _, err := r.j.lastRow(context.Background(), c, r.n)
	if err != nil {
		return err
	}
	for _, p := range recent {
		if p.sealed == nil || p.sealed.First != last+1 { // the piece is present, or an earlier one is missing
			continue
		}
		if err := r.write(c, p.piece); err != nil {
			return err
		}
		last = p.sealed.Last
	}
	if last < there {
		err = r.j.db.LostError(fmt.Sprintf("the server has lost the last of what run %s had done; it can be gone on with: capstan resume %[1]s", r.start.RunID))
	}
	return err
}

// Owned implements [runner.Recording].
func (r *recording) Owned() error {
	if err := r.err(); err != nil {
		return err
	}
	return r.checkOwned()
}

// checkOwned returns an error if the run no longer belongs to this start. It is
// called before an effect.
func (r *recording) checkOwned() error {
	if w := r.j.db.Writer; r.era.Load() == w.Era.Load() && w.Clock()-w.EraSeen.Load() < int64(w.Trust) {
		return nil
	}
	look := r.j.db.Watch
	if r.j.db.Dialect.Forgets {
		look = r.j.db.Writer.Do // waits for an unavailable server
	}
	return look(r.fence)
}
