package journal

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A run's verdicts are in its rows, so its result says only in which, in the
// order in which it has them: 0 stands for one that is told otherwise there, and
// is among those of the result.
type resultRows struct {
	Rows []int64 `json:"verdict_rows"`
}

// ruled is the row that told a verdict.
type ruled struct {
	row int64
	sum uint64
}

var verdictSeed = maphash.MakeSeed()

// sumOfVerdict tells a verdict at a path from others there; 0 stands for what is
// kept whole.
func sumOfVerdict(v *event.Verdict) uint64 {
	if !plainVerdict(v) {
		return 0
	}
	type told struct {
		phase, moment, validator, mode, reason string
		attempt, turn                          int
		valid                                  bool
	}
	return maphash.Comparable(verdictSeed, told{v.Phase, v.Moment, v.Validator, v.Mode, v.Reason, v.Attempt, v.Turn, *v.Valid}) | 1
}

// encodeResult is what a result is kept as.
func (r *recording) encodeResult(p *piece, result engine.Result) ([]byte, error) {
	rows := make([]int64, len(result.Verdicts))
	whole := []event.Verdict{}
	for i := range result.Verdicts {
		v := &result.Verdicts[i]
		if told, ok := r.ruled[v.Path]; ok && told.sum != 0 && told.sum == sumOfVerdict(v) {
			rows[i] = told.row
			continue
		}
		whole = append(whole, *v)
	}
	if len(whole) == len(rows) {
		return p.encode(result)
	}
	result.Verdicts = whole
	data, err := p.encode(result)
	if err != nil {
		return nil, err
	}
	list, err := encodings.Of(rows)
	return encodings.With(data, "verdict_rows", list), err
}

// Result is what the run came to; of one that has not ended, what it has come
// to so far.
func (j *Journal) Result(ctx context.Context, id string) (r engine.Result, err error) {
	var s summary
	going := false
	err = j.reading(ctx, func(c *conn) error {
		if s, err = j.lookUp(ctx, c, id); err != nil {
			return err
		}
		if going = s.Finished == nil && (s.Status != engine.Waiting || s.Guest); going {
			return nil
		}
		found, err := c.one(ctx, "SELECT data, "+j.says.sum+" FROM result WHERE run = ?", s.n)
		if err != nil {
			return err
		}
		if found == nil {
			return j.garbled("run "+s.RunID+" has no result", nil)
		}
		packed, err := j.verified("the result of run "+s.RunID, found[0], found[1])
		if err != nil {
			return err
		}
		raw, err := j.unpack(ctx, c, packed, people)
		if err != nil {
			return err
		}
		var told resultRows
		if err = schema.Unmarshal(raw, &r); err == nil {
			err = schema.Unmarshal(raw, &told)
		}
		if err != nil {
			return j.garbled("the result of run "+s.RunID, err)
		}
		return j.fillVerdicts(ctx, c, s, told.Rows, &r)
	})
	if err == nil && going {
		return j.fold(ctx, s)
	}
	return r, err
}

// fillVerdicts puts the verdicts into a result that its rows told.
func (j *Journal) fillVerdicts(ctx context.Context, c *conn, s summary, rows []int64, r *engine.Result) error {
	if len(rows) == 0 {
		return nil
	}
	told := make(map[int64]*event.Verdict, len(rows))
	isVerdict := func(kind string) bool { return kind == string(event.VerdictGiven) }
	read, brief := eventReader{j: j, n: s.n, run: s.RunID, detail: Brief}, brief{words: map[string]string{}}
	err := j.eachRow(ctx, c, s.n, 0, isVerdict, func(l logged) error {
		if raw := l.json(); l.saysAll() && !bytes.Contains(raw, []byte(reference)) && !bytes.Contains(raw, []byte(seal)) {
			if v, _ := brief.verdict(&l); !brief.bad {
				told[l.row] = &v
				return nil
			}
		}
		e, err := read.event(ctx, c, l)
		told[l.row] = e.Verdict
		return err
	})
	if err != nil {
		return err
	}
	whole := r.Verdicts
	r.Verdicts = make([]event.Verdict, len(rows))
	for i, row := range rows {
		v := told[row]
		if row == 0 && len(whole) > 0 {
			v, whole = &whole[0], whole[1:]
		}
		if v == nil {
			return j.garbled(fmt.Sprintf("the result of run %s: row %d is not there", s.RunID, row), nil)
		}
		r.Verdicts[i] = *v
	}
	return nil
}

// goneMessage tells of a run whose process is not there any more.
func goneMessage(id string) string {
	return fmt.Sprintf("the process that ran it is gone; it can be gone on with: capstan resume %s", id)
}
