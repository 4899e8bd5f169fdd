package journal

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
)

// The kinds of runs that pruning may keep whatever their age.
const (
	Frozen     = "frozen"     // made a test; see [Journal.Mark]
	Waits      = "waiting"    // with a question that nobody has answered
	Labelled   = "labelled"   // one of whose texts somebody has labelled, as [Pruning] is told
	Unfinished = "unfinished" // can be gone on with: waiting, failed, cancelled, or its process is gone
)

// Kinds are all that [Pruning] may keep.
var Kinds = []string{Frozen, Labelled, Waits, Unfinished}

// A Pruning says which runs are to go.
type Pruning struct {
	Before time.Time // runs that ended before, or that began then and have not ended
	Keep   []string  // of [Kinds]
	DryRun bool      // nothing is changed, only told

	Labelled map[string]bool // the runs of that kind, by name: labels are not the journal's
}

// Pruned is what a pruning came to.
type Pruned struct {
	Runs   []string `json:"runs"`   // that went, or would, the oldest first
	Kept   int      `json:"kept"`   // old enough, and kept all the same
	Texts  int      `json:"texts"`  // long texts that nothing said any more
	Before int64    `json:"before"` // bytes that the file took
	After  int64    `json:"after"`
	Free   int64    `json:"free"` // bytes within it that are used for what is kept next
}

// Mark notes what was done with a run: one of the [Kinds] that are marks. To
// mark one twice changes nothing.
func (j *Journal) Mark(ctx context.Context, id, kind string) error {
	if err := j.writable(); err != nil {
		return err
	}
	s, err := j.find(ctx, id)
	if err != nil {
		return err
	}
	return j.writer.do(func(c *conn) error {
		_, err := c.exec("INSERT INTO mark (run, kind) VALUES (?, ?) ON CONFLICT DO NOTHING", s.n, kind)
		return err
	})
}

// Prune removes runs with all that was kept of them, and the texts that no other
// run says, and gives the space back. A run that somebody is running stays, and
// so does one that another needs which stays: its parent. It may be called while
// other processes use the file: nothing is held for long.
func (j *Journal) Prune(ctx context.Context, p Pruning) (done Pruned, err error) {
	for _, kind := range p.Keep {
		if !slices.Contains(Kinds, kind) {
			return done, fmt.Errorf("no runs are kept for being %q: want %v", kind, Kinds)
		}
	}
	if err := j.writable(); err != nil && !p.DryRun {
		return done, err
	}
	done.Runs = []string{}
	if done.Before, err = j.size(ctx); err != nil {
		return done, err
	}
	done.After = done.Before
	list, kept, err := j.prunable(ctx, p)
	if err != nil {
		return done, err
	}
	done.Kept = kept
	if p.DryRun {
		for _, r := range list {
			done.Runs = append(done.Runs, r.id)
		}
		return done, nil
	}
	turn, err := j.newTurn()
	for i := 0; i < len(list) && err == nil; i++ {
		var gone bool
		if gone, err = j.remove(turn, list[i]); gone {
			done.Runs = append(done.Runs, list[i].id)
		}
		if err == nil {
			err = ctx.Err()
		}
	}
	if err != nil {
		return done, err
	}
	if done.Texts, err = j.sweep(ctx, turn); err == nil {
		var parcels int
		parcels, err = j.pruneParcels(ctx, turn, p.Before)
		done.Texts += parcels
	}
	if err == nil {
		done.Free, err = j.store.shrink(ctx)
	}
	if err == nil {
		done.After, err = j.size(ctx)
	}
	return done, err
}

// A pruneTurn is the say of who prunes: whoever began last has it. Numbers of
// rows come again when the last rows are removed, so that two who did it at the
// same time could not tell what is new.
type pruneTurn string

const turnKind = "turn:"

func (j *Journal) newTurn() (pruneTurn, error) {
	t := pruneTurn(turnKind + rand.Text())
	return t, j.writer.do(func(c *conn) error {
		_, err := c.exec("DELETE FROM mark WHERE run = 0")
		if err == nil {
			_, err = c.exec("INSERT INTO mark (run, kind) VALUES (0, ?)", string(t))
		}
		return err
	})
}

// stands refuses who has lost the turn, within a transaction.
func (t pruneTurn) stands(c *conn) error {
	found, err := c.one(context.Background(), "SELECT kind FROM mark WHERE run = 0")
	if err == nil && (found == nil || word(found[0]) != string(t)) {
		err = errors.New("another process has begun to prune the journal: it goes on with that")
	}
	return err
}

// size is what the store takes.
func (j *Journal) size(ctx context.Context) (bytes int64, err error) {
	err = j.reading(ctx, func(c *conn) (err error) { bytes, err = j.store.size(c); return err })
	return bytes, err
}

// An agedRun may go.
type agedRun struct {
	n, epoch int64
	id       string
	status   string
	parent   string
}

// prunable lists the runs that may go, the oldest first, and counts those that
// are as old and stay.
func (j *Journal) prunable(ctx context.Context, p Pruning) (list []agedRun, kept int, err error) {
	needed := map[string]bool{} // by runs that stay and may be gone on with
	var all []agedRun
	err = j.reading(ctx, func(c *conn) error {
		older, err := j.older(c)
		if err != nil {
			return err
		}
		marks := "(SELECT " + j.says.list + " FROM mark WHERE run = n)"
		if older {
			marks = "NULL"
		}
		return c.each(ctx, func(v []driver.Value) error {
			r := agedRun{n: integer(v[0]), epoch: integer(v[1]), id: word(v[2]), status: word(v[3]), parent: word(v[4])}
			_, owned := j.alive(word(v[6]))
			ended := final(r.status, errorIn(v[7]).code())
			stays := p.stays(&r, ended, word(v[8]) != "", word(v[9]))
			switch {
			case integer(v[5]) < p.Before.UnixNano() && !owned && !stays:
				all = append(all, r)
				return nil
			case integer(v[5]) < p.Before.UnixNano():
				kept++
			}
			if !ended {
				needed[r.parent] = true
			}
			return nil
		}, "SELECT n, epoch, id, status, parent, coalesce(finished, started), "+j.says.owner+", error, pending, "+marks+" FROM run ORDER BY n")
	})
	// A parent began before its child: from the last on, who needs a run is known before it comes.
	for i := len(all) - 1; i >= 0; i-- {
		if needed[all[i].id] {
			kept++
			needed[all[i].parent] = true
			continue
		}
		list = append(list, all[i])
	}
	slices.Reverse(list)
	return list, kept, err
}

func (p *Pruning) stays(r *agedRun, ended, asks bool, marks string) bool {
	return slices.ContainsFunc(p.Keep, func(kind string) bool {
		switch kind {
		case Waits:
			return r.status == engine.Waiting || asks
		case Unfinished:
			return !ended
		case Labelled:
			return p.Labelled[r.id]
		}
		return slices.Contains(strings.Split(marks, ","), kind)
	})
}

// remove takes one run out of the file, unless somebody has taken it up since it
// was looked at.
func (j *Journal) remove(turn pruneTurn, r agedRun) (gone bool, err error) {
	err = j.writer.do(func(c *conn) error {
		if err := turn.stands(c); err != nil {
			return err
		}
		found, err := c.one(context.Background(), "SELECT epoch, status, "+j.says.owner+" FROM run WHERE n = ?"+j.says.lock, r.n)
		if gone = false; err != nil || found == nil {
			return err
		}
		if _, owned := j.alive(word(found[2])); owned || integer(found[0]) != r.epoch || word(found[1]) != r.status {
			return nil
		}
		gone = true
		j.writer.endEra() // a start here that saw its epoch stand looks again
		if j.says.lines {
			if err := c.send("DELETE FROM line WHERE id > ? AND id < ?", r.n<<rowBits, (r.n+1)<<rowBits); err != nil {
				return err
			}
		}
		for _, from := range []string{"pack WHERE run", "start WHERE run", "result WHERE run", "mark WHERE run", "run WHERE n"} {
			if err := c.send("DELETE FROM "+from+" = ?", r.n); err != nil {
				return err
			}
		}
		return nil
	})
	return gone && err == nil, err
}
