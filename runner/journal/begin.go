package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/owners"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// firstEpoch is the epoch of a run's first start.
const firstEpoch = 1

// Begin stores a new run.
func (j *Journal) Begin(s runner.Start) (runner.Recording, error) {
	if err := j.writable(); err != nil {
		return nil, err
	}
	if s.RunID == "" {
		return nil, errors.New("a run needs a name")
	}
	s.SeedRun = j.shuffleSource(s)
	p := codec.Packer{Secrets: j.secrets}
	data, err := codec.EncodeStart(&p, s)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	var parent *parentEffects
	if s.Parent != "" {
		if parent, err = j.share(s); err != nil {
			return nil, fmt.Errorf("parent %s: %w", s.Parent, err)
		}
	}
	begun := j.newRunRow(s, j.db.Owner, firstEpoch)
	var n, era int64
	var exists bool
	err = j.db.Writer.Do(func(c *stores.Conn) error {
		exists = false
		if err := errors.Join(j.db.Sync(c), j.lockParent(c, s.Parent)); err != nil {
			return err
		}
		added, err := c.One(context.Background(), insertRun+" RETURNING n", begun...)
		if err != nil {
			return err
		}
		if added == nil {
			row, err := c.One(context.Background(), "SELECT n, owner FROM run WHERE id = ?", s.RunID)
			if err == nil && len(row) == 0 { // neither inserted nor present
				err = j.db.NewError("the journal is damaged")
			}
			if err != nil {
				return err
			}
			// An earlier try may have inserted the row with this number,
			// without a confirmation.
			if exists = stores.Integer(row[0]) != n || stores.Text(row[1]) != j.db.Owner.Text(); exists {
				return nil
			}
			added = row
		}
		n, era = stores.Integer(added[0]), j.db.Writer.Era.Load() // a later owner of the run ends this era
		if err := j.db.Writer.Texts(p.Texts); err != nil {
			return err
		}
		return c.Queue("INSERT INTO start (run, data, sum) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", n, string(data), codec.Checksum(data))
	})
	if err != nil {
		return nil, err
	}
	if exists {
		return nil, fmt.Errorf("run %s: %w", s.RunID, runner.ErrRunExists)
	}
	r := j.newRecording(n, firstEpoch, s)
	r.shared = parent
	r.era.Store(era)
	r.put(codec.Row{Kind: codec.ProcessStarts})
	return r, nil
}

// insertRun inserts the row of a new run. [Journal.newRunRow] returns its
// values.
const insertRun = `INSERT INTO run (id, cascade, file, parent, only_phase, started, status, owner, epoch) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

func (j *Journal) newRunRow(s runner.Start, by owners.Owner, epoch int64) []any {
	file := ""
	if len(s.Files) > 0 {
		file = s.Files[0].Name
	}
	return []any{s.RunID, s.CascadeID, file, s.Parent, s.Only, j.db.Now().UnixNano(), Running, by.Text(), epoch}
}

// lockParent returns an error if the parent was pruned since it was read.
// Otherwise it locks the parent's row, so that the parent is not pruned before
// its child exists.
func (j *Journal) lockParent(c *stores.Conn, id string) error {
	if id == "" {
		return nil
	}
	there, err := c.One(context.Background(), "SELECT 1 FROM run WHERE id = ?"+j.db.Dialect.Lock, id)
	if err == nil && there == nil {
		err = fmt.Errorf("parent %s: %w", id, runner.ErrNoRun)
	}
	return err
}

// writable returns an error if the journal cannot store runs.
func (j *Journal) writable() error {
	if j.db.Writer == nil {
		return j.db.NewError("the journal is open for reading only")
	}
	return nil
}

// readStart returns the start of a run in a view.
func (j *Journal) readStart(ctx context.Context, c *stores.Conn, n int64, v codec.View) (s runner.Start, err error) {
	found, err := c.One(ctx, "SELECT run.id, cascade, parent, data, sum, only_phase FROM run LEFT JOIN start ON run = n WHERE n = ?", n)
	if err != nil {
		return s, err
	}
	if found == nil {
		return s, runner.ErrNoRun
	}
	s.RunID, s.CascadeID, s.Parent, s.Only = stores.Text(found[0]), stores.Text(found[1]), stores.Text(found[2]), stores.Text(found[5])
	raw, err := j.verified("the start of run "+s.RunID, found[3], found[4])
	if err == nil {
		raw, err = j.unpack(ctx, c, raw, v)
	}
	if err != nil {
		return s, err
	}
	if err := codec.DecodeStart(&s, raw, v); err != nil {
		return s, j.db.Corrupt("the start of run "+s.RunID, err)
	}
	return s, nil
}
