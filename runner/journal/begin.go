package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal/owners"
)

// firstEpoch is the epoch of a run's first start.
const firstEpoch = 1

// Begin notes a new run.
func (j *Journal) Begin(s runner.Start) (runner.Recording, error) {
	if err := j.writable(); err != nil {
		return nil, err
	}
	if s.RunID == "" {
		return nil, errors.New("a run needs a name")
	}
	s.Alike = j.alike(s)
	p := packer{secrets: j.secrets}
	data, err := encodeStart(&p, s)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	var parent *shared
	if s.Parent != "" {
		if parent, err = j.share(s); err != nil {
			return nil, fmt.Errorf("parent %s: %w", s.Parent, err)
		}
	}
	begun := j.begun(s, j.owner, firstEpoch)
	var n, era int64
	var exists bool
	err = j.writer.do(func(c *conn) error {
		exists = false
		if err := errors.Join(j.lasting(c), j.parentStays(c, s.Parent)); err != nil {
			return err
		}
		added, err := c.one(context.Background(), insertRun+" RETURNING n", begun...)
		if err != nil {
			return err
		}
		if added == nil {
			row, err := c.one(context.Background(), "SELECT n, owner FROM run WHERE id = ?", s.RunID)
			if err == nil && len(row) == 0 { // neither added nor there
				err = j.damaged("the journal is damaged")
			}
			if err != nil {
				return err
			}
			// Nobody heard, maybe, that it was added, with this number.
			if exists = integer(row[0]) != n || word(row[1]) != j.owner.Text(); exists {
				return nil
			}
			added = row
		}
		n, era = integer(added[0]), j.writer.era.Load() // whoever takes it from here on ends that
		if err := j.writer.texts(p.texts); err != nil {
			return err
		}
		return c.send("INSERT INTO start (run, data, sum) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", n, string(data), checksum(data))
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
	r.put(row{kind: legBegins})
	return r, nil
}

// insertRun adds the row of a run that begins, which is what [Journal.begun] gives.
const insertRun = `INSERT INTO run (id, cascade, file, parent, started, status, owner, epoch) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

func (j *Journal) begun(s runner.Start, by owners.Owner, epoch int64) []any {
	file := ""
	if len(s.Files) > 0 {
		file = s.Files[0].Name
	}
	return []any{s.RunID, s.CascadeID, file, s.Parent, j.now().UnixNano(), Running, by.Text(), epoch}
}

// parentStays refuses a parent that was pruned since it was read; one that is there is
// not pruned from here on, for the child that it has then.
func (j *Journal) parentStays(c *conn, id string) error {
	if id == "" {
		return nil
	}
	there, err := c.one(context.Background(), "SELECT 1 FROM run WHERE id = ?"+j.says.lock, id)
	if err == nil && there == nil {
		err = fmt.Errorf("parent %s: %w", id, runner.ErrNoRun)
	}
	return err
}

// lasting has a transaction be on the server's disk when it is confirmed: that a
// run is there, how it ended, and whose it is is not forgotten.
func (j *Journal) lasting(c *conn) error {
	if !j.says.forgets {
		return nil
	}
	return c.send("SET LOCAL synchronous_commit = on")
}

// writable tells whether runs can be kept.
func (j *Journal) writable() error {
	if j.writer == nil {
		return j.damaged("the journal is open for reading only")
	}
	return nil
}
