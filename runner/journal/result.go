package journal

import (
	"context"
	"fmt"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// storedResult is a result so that it reads back as it is. What is huge in it, p
// takes up.
func storedResult(r engine.Result, p *packer) engine.Result {
	r.Output, r.Outputs = p.lift(exact(r.Output)), p.liftObject(exactObject(r.Outputs))
	for i := range r.Verdicts {
		if told := exactTold(&r.Verdicts[i]); told != &r.Verdicts[i] {
			list := append([]event.Verdict(nil), r.Verdicts...)
			for k := i; k < len(list); k++ {
				list[k] = *exactTold(&list[k])
			}
			r.Verdicts = list
			break
		}
	}
	return r
}

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
		if err := readResult(raw, &r); err != nil {
			return j.garbled("the result of run "+s.RunID, err)
		}
		return nil
	})
	return r, err
}

func readResult(raw []byte, r *engine.Result) error {
	if err := decode(raw, r); err != nil {
		return err
	}
	if err := plain(&r.Output); err != nil {
		return err
	}
	for i := range r.Verdicts {
		if err := plainTold(&r.Verdicts[i]); err != nil {
			return err
		}
	}
	return plainObject(&r.Outputs)
}

// goneMessage tells of a run whose process is not there any more.
func goneMessage(id string) string {
	return fmt.Sprintf("the process that ran it is gone; it can be gone on with: capstan resume %s", id)
}
