package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/runner"
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
	began := j.options.Now().UnixNano()
	file := ""
	if len(s.Files) > 0 {
		file = s.Files[0].Name
	}
	var n int64
	var exists bool
	err = j.writer.do(func(c *conn) error {
		exists = false
		added, err := c.exec(`INSERT INTO run (id, cascade, file, parent, started, status, owner, epoch) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			s.RunID, s.CascadeID, file, s.Parent, began, Running, j.owner.text(), int64(firstEpoch))
		if err != nil {
			return err
		}
		if added == 0 {
			row, err := c.one(context.Background(), "SELECT n FROM run WHERE id = ?", s.RunID)
			if exists = true; err == nil && len(row) == 0 { // neither added nor there
				err = &damage{file: j.file, words: "the journal is damaged"}
			}
			return err
		}
		n = c.last
		if err := j.writer.texts(p.texts); err != nil {
			return err
		}
		_, err = c.exec("INSERT INTO start VALUES (?, ?)", n, string(data))
		return err
	})
	if err != nil {
		return nil, err
	}
	if exists {
		return nil, fmt.Errorf("run %s: %w", s.RunID, runner.ErrRunExists)
	}
	r := j.newRecording(n, firstEpoch, s)
	r.shared = parent
	r.put(row{kind: legBegins, time: began})
	return r, nil
}

// writable tells whether runs can be kept.
func (j *Journal) writable() error {
	if j.writer == nil {
		return &damage{file: j.file, words: "the journal is open for reading only"}
	}
	return nil
}
