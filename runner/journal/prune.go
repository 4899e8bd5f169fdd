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

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/validators/schema"
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
		there, err := c.one(ctx, "SELECT 1 FROM run WHERE n = ? AND id = ?"+j.says.lock, s.n, s.RunID)
		if err == nil && there == nil {
			err = fmt.Errorf("run %s: %w", id, runner.ErrNoRun) // it has been pruned just now
		}
		if err == nil {
			err = c.send("INSERT INTO mark (run, kind) VALUES (?, ?) ON CONFLICT DO NOTHING", s.n, kind)
		}
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
		done.Runs = list
		return done, nil
	}
	turn, err := j.newTurn()
	if err == nil {
		done.Runs, err = j.removeAll(ctx, turn, &p, list)
		done.Kept += len(list) - len(done.Runs)
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
		_, err := c.Exec(childIndex)
		if err == nil {
			_, err = c.Exec("DELETE FROM mark WHERE run = 0")
		}
		if err == nil {
			_, err = c.Exec("INSERT INTO mark (run, kind) VALUES (0, ?)", string(t))
		}
		return err
	})
}

// stands refuses who has lost the turn, within a transaction.
func (t pruneTurn) stands(c *conn) error {
	found, err := c.one(context.Background(), "SELECT kind FROM mark WHERE run = 0")
	if err == nil && (found == nil || word(found[0]) != string(t)) {
		err = errors.New("another process is already pruning the journal")
	}
	return err
}

// size is what the store takes.
func (j *Journal) size(ctx context.Context) (bytes int64, err error) {
	err = j.reading(ctx, func(c *conn) (err error) { bytes, err = j.store.size(c); return err })
	return bytes, err
}

// An agedRun is one as it is looked at for pruning.
type agedRun struct {
	id    string
	needs []string // runs that it takes effects from, until it has ended
	old   bool
	ended bool // for good
	stays bool
}

// unended picks the runs that may not have ended for good.
const unended = "status NOT IN ('succeeded', 'blocked', 'exhausted', 'over_budget')"

// agedRuns asks for what [Journal.aged] reads.
func (j *Journal) agedRuns(older bool) string {
	marks := "(SELECT " + j.says.list + " FROM mark WHERE run = n)"
	if older {
		marks = "NULL"
	}
	return "SELECT id, parent, coalesce(finished, started), status, " + j.says.owner + ", error, pending, " + marks +
		", CASE WHEN " + unended + " THEN (SELECT data FROM start WHERE run = n) END FROM run"
}

func (j *Journal) aged(p *Pruning, v []driver.Value) agedRun {
	status := word(v[3])
	r := agedRun{id: word(v[0]), needs: needs(word(v[1]), word(v[8])), old: integer(v[2]) < p.Before.UnixNano(), ended: final(status, errorIn(v[5]).code())}
	_, owned := j.alive(word(v[4]))
	r.stays = owned || slices.ContainsFunc(p.Keep, func(kind string) bool {
		switch kind {
		case Waits:
			return status == engine.Waiting || word(v[6]) != ""
		case Unfinished:
			return !r.ended
		case Labelled:
			return p.Labelled[r.id]
		}
		return slices.Contains(strings.Split(word(v[7]), ","), kind)
	})
	return r
}

// needs are a run's parent, and those that answer in its models' place.
func needs(parent, start string) []string {
	list := []string{parent}
	var row startRow
	_ = schema.Unmarshal([]byte(start), &row) // one that does not read is not gone on with
	for line := range strings.SplitSeq(row.Model, "\n") {
		if _, run, answers := strings.Cut(line, "replay:"); answers {
			list = append(list, run)
		}
	}
	return list
}

// prunable lists the runs that may go, the oldest first, and counts those that
// are as old and stay.
func (j *Journal) prunable(ctx context.Context, p Pruning) (list []string, kept int, err error) {
	needed := needed{} // by runs that stay and may be gone on with
	var all []agedRun
	err = j.reading(ctx, func(c *conn) error {
		older, err := j.older(c)
		if err != nil {
			return err
		}
		return c.each(ctx, func(v []driver.Value) error {
			r := j.aged(&p, v)
			if r.old && !r.stays {
				all = append(all, r)
				return nil
			}
			if r.old {
				kept++
			}
			if !r.ended {
				needed.by(r)
			}
			return nil
		}, j.agedRuns(older)+" ORDER BY n")
	})
	// A parent began before its child: from the last on, who needs a run is known before it comes.
	for _, r := range slices.Backward(all) {
		if needed[r.id] {
			kept++
			needed.by(r)
			continue
		}
		list = append(list, r.id)
	}
	slices.Reverse(list)
	return list, kept, err
}

// needed are runs that others take effects from which stay.
type needed map[string]bool

func (n needed) by(r agedRun) {
	for _, id := range r.needs {
		n[id] = true
	}
}
