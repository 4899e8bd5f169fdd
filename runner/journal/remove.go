package journal

import (
	"context"
	"database/sql/driver"
	"slices"
)

// removeAll removes runs that were listed, the oldest first, and tells which. The last
// goes first: whoever shares with a run is gone before it, also where this is broken
// off, or has been taken up since and stays, with those that it shares with.
func (j *Journal) removeAll(ctx context.Context, turn pruneTurn, p *Pruning, list []string) (gone []string, err error) {
	gone = []string{}
	needed := needed{}
	for i := len(list) - 1; i >= 0 && err == nil; i-- {
		var r agedRun
		var went bool
		switch r, went, err = j.remove(turn, p, list[i], needed[list[i]]); {
		case went:
			gone = append(gone, r.id)
		default:
			needed.by(r)
		}
		if err == nil {
			err = ctx.Err()
		}
	}
	slices.Reverse(gone)
	return gone, err
}

// remove takes one run out of the store, unless it is to stay as it is now: listing
// and removing many takes a while, in which it may have been taken up, or marked, or
// another begun that shares with it.
func (j *Journal) remove(turn pruneTurn, p *Pruning, id string, needed bool) (r agedRun, gone bool, err error) {
	ctx := context.Background()
	err = j.writer.do(func(c *conn) error {
		if err := turn.stands(c); err != nil {
			return err
		}
		row, err := c.one(ctx, "SELECT n FROM run WHERE id = ?"+j.says.lock, id)
		if r, gone = (agedRun{}), false; err != nil || row == nil {
			return err
		}
		n := integer(row[0])
		if row, err = c.one(ctx, j.agedRuns(false)+" WHERE n = ?", n); err != nil {
			return err
		}
		if r = j.aged(p, row); !r.old || r.stays || needed {
			return nil
		}
		if needed, err := j.sharedBy(c, id); err != nil || needed {
			return err
		}
		gone = true
		return j.erase(c, n)
	})
	return r, gone && err == nil, err
}

// sharedBy tells whether a run that has not ended shares with this one.
func (j *Journal) sharedBy(c *conn, id string) (needed bool, err error) {
	err = c.each(context.Background(), func(v []driver.Value) error {
		needed = needed || !final(word(v[0]), errorIn(v[1]).code())
		return nil
	}, "SELECT status, error FROM run WHERE parent = ? AND parent <> ''", id)
	return needed, err
}

// childIndex has [Journal.sharedBy] find what it looks for: few runs have a parent.
const childIndex = "CREATE INDEX IF NOT EXISTS run_parent ON run (parent) WHERE parent <> ''"

func (j *Journal) erase(c *conn, n int64) error {
	j.writer.endEra() // a start here that saw its epoch stand looks again
	if j.says.lines {
		if err := c.send("DELETE FROM line WHERE id > ? AND id < ?", n<<rowBits, (n+1)<<rowBits); err != nil {
			return err
		}
	}
	for _, from := range []string{"pack WHERE run", "start WHERE run", "result WHERE run", "mark WHERE run", "run WHERE n"} {
		if err := c.send("DELETE FROM "+from+" = ?", n); err != nil {
			return err
		}
	}
	return nil
}
