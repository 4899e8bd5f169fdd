package journal

import (
	"context"
	"fmt"

	"github.com/seed61713e19/capstan/runner"
)

// A run has an epoch, which each start counts up in the transaction that takes
// the run. Whatever a start writes, it writes in a transaction that has seen
// its own epoch stand: a process that lost its run while it slept, or because
// somebody said that it was gone, writes nothing over its successor. Before it
// spends anything it looks too, so that it stops at its next effect.

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
		return r.j.garbled("run "+r.start.RunID+" is not there", nil)
	}
	if integer(found[0]) == r.epoch {
		return nil
	}
	by := ""
	if other := ownerIn(word(found[1])); other.Key != "" {
		by = " (" + other.String() + ")"
	}
	return fmt.Errorf("run %s: %w%s", r.start.RunID, runner.ErrRunTaken, by)
}

// mine looks whether the run is still this start's, ahead of an effect.
func (r *recording) mine() error {
	err := r.j.watching(r.fence)
	if err != nil {
		r.spoil(err)
	}
	return err
}
