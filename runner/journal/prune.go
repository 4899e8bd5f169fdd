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

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// Kinds of runs that pruning may keep, whatever their age. [engine.Waiting] is another.
const (
	Frozen     = "frozen"     // a test case was made from it, see [Journal.Mark]
	Labelled   = "labelled"   // a person labelled one of its texts, see [Pruning]
	unfinished = "unfinished" // it can be resumed: it waits, has failed, was cancelled, or its process is gone
)

// Kinds are all kinds that [Pruning] may keep.
var Kinds = []string{Frozen, Labelled, engine.Waiting, unfinished}

// A Pruning selects the runs to remove.
type Pruning struct {
	Before time.Time // runs that ended before, or that started before and have not ended
	Keep   []string  // of [Kinds]
	DryRun bool      // only list the runs

	Labelled map[string]bool // names of labelled runs, because the journal does not store labels
}

// Pruned is the result of a pruning.
type Pruned struct {
	Runs     []string `json:"runs"`     // removed runs, or those that would be removed, the oldest first
	Retained int      `json:"retained"` // runs that are old enough but stay
	Texts    int      `json:"texts"`    // removed long texts
	Before   int64    `json:"before"`   // size of the store, in bytes
	After    int64    `json:"after"`
	Free     int64    `json:"free"` // free bytes in the file, which are reused
}

// Mark adds a mark to a run. The kind must be one of the [Kinds] that are
// marks. A repeated mark changes nothing.
func (j *Journal) Mark(ctx context.Context, id, kind string) error {
	if err := j.writable(); err != nil {
		return err
	}
	s, err := j.find(ctx, id)
	if err != nil {
		return err
	}
	return j.db.Writer.Do(func(c *stores.Conn) error {
		there, err := c.One(ctx, "SELECT 1 FROM run WHERE n = ? AND id = ?"+j.db.Dialect.Lock, s.n, s.RunID)
		if err == nil && there == nil {
			err = fmt.Errorf("run %s: %w", id, runner.ErrNoRun) // it was pruned in the meantime
		}
		if err == nil {
			err = c.Queue("INSERT INTO mark (run, kind) VALUES (?, ?) ON CONFLICT DO NOTHING", s.n, kind)
		}
		return err
	})
}

// Prune removes runs with all their data, and texts that no other run uses, and returns
// the space. Running runs stay. Parents of remaining runs stay too. Other processes may
// use the store meanwhile; Prune holds locks only briefly.
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
	list, retained, err := j.prunable(ctx, p)
	if err != nil {
		return done, err
	}
	done.Retained = retained
	if p.DryRun {
		done.Runs = list
		return done, nil
	}
	turn, err := j.newTurn()
	if err == nil {
		done.Runs, err = j.removeAll(ctx, turn, &p, list)
		done.Retained += len(list) - len(done.Runs)
	}
	if err != nil {
		return done, err
	}
	if done.Texts, err = j.sweep(ctx, turn); err == nil {
		var blobs int
		blobs, err = j.pruneBlobs(ctx, turn, p.Before)
		done.Texts += blobs
	}
	if err == nil {
		done.Free, err = j.db.Store.Shrink(ctx)
	}
	if err == nil {
		done.After, err = j.size(ctx)
	}
	return done, err
}

// A pruneTurn is the right to prune. The last process that began has it.
// Numbers of rows are reused after the last rows are removed, so two concurrent
// prunings could not recognize new rows.
type pruneTurn string

const turnKind = "turn:"

func (j *Journal) newTurn() (pruneTurn, error) {
	t := pruneTurn(turnKind + rand.Text())
	return t, j.db.Writer.Do(func(c *stores.Conn) error {
		_, err := c.Exec("DELETE FROM mark WHERE run = 0")
		if err == nil {
			_, err = c.Exec("INSERT INTO mark (run, kind) VALUES (0, ?)", string(t))
		}
		return err
	})
}

// check returns an error if another process has taken the turn. It must be
// called in a transaction.
func (t pruneTurn) check(c *stores.Conn) error {
	found, err := c.One(context.Background(), "SELECT kind FROM mark WHERE run = 0")
	if err == nil && (found == nil || stores.Text(found[0]) != string(t)) {
		err = errors.New("another process is already pruning the journal")
	}
	return err
}

// size returns the size of the store in bytes.
func (j *Journal) size(ctx context.Context) (bytes int64, err error) {
	err = j.db.Read(ctx, func(c *stores.Conn) (err error) { bytes, err = j.db.Store.Size(c); return err })
	return bytes, err
}

// agedRun is a run that may be pruned.
type agedRun struct {
	id    string
	needs []string // runs that it takes effects from, until it has ended
	old   bool
	ended bool // finally
	stays bool
}

// unended selects the runs that may not have ended finally.
const unended = "status NOT IN ('succeeded', 'blocked', 'exhausted', 'over_budget')"

// agedRuns returns the query for [Journal.aged].
func (j *Journal) agedRuns() string {
	marks := "(SELECT " + j.db.Dialect.List + " FROM mark WHERE run = n)"
	return "SELECT id, parent, coalesce(finished, started), status, " + j.db.Dialect.Owner + ", error, pending, " + marks +
		", CASE WHEN " + unended + " THEN (SELECT data FROM start WHERE run = n) END FROM run"
}

func (j *Journal) aged(p *Pruning, v []driver.Value) agedRun {
	status := stores.Text(v[3])
	r := agedRun{id: stores.Text(v[0]), needs: needs(stores.Text(v[1]), stores.Text(v[8])), old: stores.Integer(v[2]) < p.Before.UnixNano(), ended: final(status, errorIn(v[5]).code())}
	_, owned := j.db.Alive(stores.Text(v[4]))
	r.stays = owned || slices.ContainsFunc(p.Keep, func(kind string) bool {
		switch kind {
		case engine.Waiting:
			return status == engine.Waiting || stores.Text(v[6]) != ""
		case unfinished:
			return !r.ended
		case Labelled:
			return p.Labelled[r.id]
		}
		return slices.Contains(strings.Split(stores.Text(v[7]), ","), kind)
	})
	return r
}

// needs returns a run's parent and the runs that replace its models.
func needs(parent, start string) []string {
	list := []string{parent}
	var row codec.Start
	_ = schema.Unmarshal([]byte(start), &row) // a run with an invalid start cannot be resumed
	for line := range strings.SplitSeq(row.Model, "\n") {
		if _, run, answers := strings.Cut(line, "replay:"); answers {
			list = append(list, run)
		}
	}
	return list
}

// prunable returns the runs that may be removed, the oldest first, and the
// number of old runs that stay.
func (j *Journal) prunable(ctx context.Context, p Pruning) (list []string, retained int, err error) {
	needed := needed{} // by runs that stay and may be resumed
	var all []agedRun
	err = j.db.Read(ctx, func(c *stores.Conn) error {
		return c.Each(ctx, func(v []driver.Value) error {
			r := j.aged(&p, v)
			if r.old && !r.stays {
				all = append(all, r)
				return nil
			}
			if r.old {
				retained++
			}
			if !r.ended {
				needed.by(r)
			}
			return nil
		}, j.agedRuns()+" ORDER BY n")
	})
	// A parent began before its child. In reverse order, all children of a run
	// are known before the run itself.
	for _, r := range slices.Backward(all) {
		if needed[r.id] {
			retained++
			needed.by(r)
			continue
		}
		list = append(list, r.id)
	}
	slices.Reverse(list)
	return list, retained, err
}

// needed contains the runs from which staying runs take effects.
type needed map[string]bool

func (n needed) by(r agedRun) {
	for _, id := range r.needs {
		n[id] = true
	}
}

// removeAll removes the listed runs and returns the removed ones, the oldest first. It
// begins with the newest, so that a child is removed before its parent. So the parents
// of a run stay if the removal is interrupted, or if the run has been resumed in the
// meantime.
func (j *Journal) removeAll(ctx context.Context, turn pruneTurn, p *Pruning, list []string) (removed []string, err error) {
	removed = []string{}
	needed := needed{}
	for i := len(list) - 1; i >= 0 && err == nil; i-- {
		var r agedRun
		var went bool
		switch r, went, err = j.remove(turn, p, list[i], needed[list[i]]); {
		case went:
			removed = append(removed, r.id)
		default:
			needed.by(r)
		}
		if err == nil {
			err = ctx.Err()
		}
	}
	slices.Reverse(removed)
	return removed, err
}

// remove removes one run from the store if that is still allowed. Listing and removing
// many runs takes a while. In that time a run may have been resumed or marked, or a new
// run may share with it.
func (j *Journal) remove(turn pruneTurn, p *Pruning, id string, needed bool) (r agedRun, gone bool, err error) {
	ctx := context.Background()
	err = j.db.Writer.Do(func(c *stores.Conn) error {
		if err := turn.check(c); err != nil {
			return err
		}
		row, err := c.One(ctx, "SELECT n FROM run WHERE id = ?"+j.db.Dialect.Lock, id)
		if r, gone = (agedRun{}), false; err != nil || row == nil {
			return err
		}
		n := stores.Integer(row[0])
		if row, err = c.One(ctx, j.agedRuns()+" WHERE n = ?", n); err != nil {
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

// sharedBy reports whether an unfinished run shares with this one.
func (j *Journal) sharedBy(c *stores.Conn, id string) (needed bool, err error) {
	err = c.Each(context.Background(), func(v []driver.Value) error {
		needed = needed || !final(stores.Text(v[0]), errorIn(v[1]).code())
		return nil
	}, "SELECT status, error FROM run WHERE parent = ? AND parent <> ''", id)
	return needed, err
}

func (j *Journal) erase(c *stores.Conn, n int64) error {
	j.db.Writer.EndEra() // starts of this process must check their epoch again
	if err := c.Queue("DELETE FROM pack WHERE id > ? AND id < ?", packID(n, 0), packID(n+1, 0)); err != nil {
		return err
	}
	for _, from := range []string{"start WHERE run", "result WHERE run", "mark WHERE run", "run WHERE n"} {
		if err := c.Queue("DELETE FROM "+from+" = ?", n); err != nil {
			return err
		}
	}
	return nil
}
