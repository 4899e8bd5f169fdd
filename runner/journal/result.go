package journal

import (
	"context"
	"fmt"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/validators/schema"
)

// Result is what the run came to; of one that has not ended, what it has come
// to so far.
func (j *Journal) Result(ctx context.Context, id string) (r engine.Result, err error) {
	s, err := j.find(ctx, id)
	if err != nil {
		return r, err
	}
	if s.Finished == nil && s.Status != engine.Waiting {
		return j.fold(ctx, s)
	}
	err = j.reading(ctx, func(c *conn) error {
		found, err := c.one(ctx, "SELECT data FROM result WHERE run = ?", s.n)
		if err != nil {
			return err
		}
		if found == nil {
			return j.garbled("run "+s.RunID+" has no result", nil)
		}
		raw, err := j.unpack(ctx, c, []byte(word(found[0])), bare)
		if err != nil {
			return err
		}
		if err := schema.Unmarshal(raw, &r); err != nil {
			return j.garbled("the result of run "+s.RunID, err)
		}
		return nil
	})
	return r, err
}

// goneMessage tells of a run whose process is not there any more.
func goneMessage(id string) string {
	return fmt.Sprintf("the process that ran it is gone; it can be gone on with: capstan resume %s", id)
}
