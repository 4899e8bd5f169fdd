package journal

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// Result returns the result of a run. For an unfinished run, it is the result
// so far.
func (j *Journal) Result(ctx context.Context, id string) (r engine.Result, err error) {
	var s summary
	unfinished := false
	err = j.db.Read(ctx, func(c *stores.Conn) error {
		if s, err = j.lookUp(ctx, c, id); err != nil {
			return err
		}
		if unfinished = s.Finished == nil && (s.Status != engine.Waiting || s.External); unfinished {
			return nil
		}
		found, err := c.One(ctx, "SELECT data, sum FROM result WHERE run = ?", s.n)
		if err != nil {
			return err
		}
		if found == nil {
			return j.db.Corrupt("run "+s.RunID+" has no result", nil)
		}
		packed, err := j.verified("the result of run "+s.RunID, found[0], found[1])
		if err != nil {
			return err
		}
		raw, err := j.unpack(ctx, c, packed, codec.RedactedView)
		if err != nil {
			return err
		}
		var rows codec.ResultRows
		if err = schema.Unmarshal(raw, &r); err == nil {
			err = schema.Unmarshal(raw, &rows)
		}
		if err != nil {
			return j.db.Corrupt("the result of run "+s.RunID, err)
		}
		return j.fillVerdicts(ctx, c, s, rows.Rows, &r)
	})
	if err == nil && unfinished {
		return j.fold(ctx, s)
	}
	return r, err
}

// fold computes the result of an unfinished run from its events.
func (j *Journal) fold(ctx context.Context, s summary) (engine.Result, error) {
	f := newResultBuilder()
	f.r.RunID, f.r.CascadeID, f.r.Status, f.r.Usage, f.r.Error = s.RunID, s.CascadeID, s.Status, s.Usage, s.Error
	for e, err := range j.newEventCursor(s.n, s.RunID, 0, Brief).all(ctx) {
		if err != nil {
			return f.r, err
		}
		f.add(&e)
	}
	return f.result(), nil
}

// fillVerdicts adds the stored verdicts to a result.
func (j *Journal) fillVerdicts(ctx context.Context, c *stores.Conn, s summary, rows []int64, r *engine.Result) error {
	if len(rows) == 0 {
		return nil
	}
	byRow := make(map[int64]*event.Verdict, len(rows))
	isVerdict := func(kind string) bool { return kind == string(event.VerdictGiven) }
	read := eventReader{j: j, n: s.n, run: s.RunID, detail: Brief}
	err := j.eachRow(ctx, c, s.n, 0, isVerdict, func(l codec.StoredRow) error {
		e, err := read.event(ctx, c, l)
		byRow[l.Row] = e.Verdict
		return err
	})
	if err != nil {
		return err
	}
	whole := r.Verdicts
	r.Verdicts = make([]event.Verdict, len(rows))
	for i, row := range rows {
		v := byRow[row]
		if row == 0 && len(whole) > 0 {
			v, whole = &whole[0], whole[1:]
		}
		if v == nil {
			return j.db.Corrupt(fmt.Sprintf("the result of run %s: row %d is not there", s.RunID, row), nil)
		}
		r.Verdicts[i] = *v
	}
	return nil
}

// goneMessage returns the message for a run whose process is gone.
func goneMessage(id string) string {
	return fmt.Sprintf("the process that ran it is gone; it can be gone on with: capstan resume %s", id)
}

// An ending is the end of a run, as its row has it.
type ending struct {
	result                   engine.Result
	data                     []byte
	finished, phases, events int64
	reason, failedPaths      any // texts, or nil
	closesQuestions          int64
}

// ending returns the ending for a result. Its long texts are written with a
// piece.
func (r *recording) ending(with *piece, result engine.Result) (e ending, err error) {
	e.result = result
	if e.data, err = codec.EncodeResult(&with.Packer, r.verdictRows, result); err == nil && result.Error != nil {
		var raw []byte
		raw, err = encodings.Of(result.Error)
		e.reason = string(with.Secrets.Redact(raw)) // not shortened, because lists of runs do not read texts
	}
	if err != nil {
		return e, fmt.Errorf("result: %w", err)
	}
	if result.Status != engine.Waiting && (result.Error == nil || final(result.Status, result.Error.Code)) {
		e.closesQuestions = 1
	}
	return e, nil
}

// failedPaths returns the paths of everything that failed, one in each line. A mark
// precedes the path of a call with an unusable answer. The names in a path contain
// neither line ends nor the mark.
func failedPaths(cause *engine.Error) string {
	var lines []string
	at, useless := cause.RetryPaths()
	for _, path := range at {
		lines = append(lines, string(path))
	}
	for _, path := range useless {
		lines = append(lines, uselessMark+string(path))
	}
	return strings.Join(lines, "\n")
}

const uselessMark = "\t"

// failedPathSet contains the paths of everything that failed. The value is true for a call
// with an unusable answer.
type failedPathSet map[event.Path]bool

func parseFailedPaths(text string) failedPathSet {
	all := failedPathSet{}
	for line := range strings.SplitSeq(text, "\n") {
		path, useless := strings.CutPrefix(line, uselessMark)
		all[event.Path(path)] = useless || all[event.Path(path)]
	}
	return all
}

// ancestor returns the failed path at or above another path, or "".
func (f failedPathSet) ancestor(at event.Path) event.Path {
	for at != "" {
		if _, there := f[at]; there {
			break
		}
		at = at.Parent()
	}
	return at
}

// useless reports whether a model's call had an unusable answer.
func (f failedPathSet) useless(kind string, at event.Path) bool {
	return kind == codec.ModelEffect && f[f.ancestor(at)]
}

func (e *ending) write(c *stores.Conn, n int64) error {
	if err := c.Queue("INSERT INTO result (run, data, sum) VALUES (?, ?, ?) ON CONFLICT (run) DO UPDATE SET data = excluded.data, sum = excluded.sum", n, string(e.data), codec.Checksum(e.data)); err != nil {
		return err
	}
	u := e.result.Usage
	return c.Queue(`UPDATE run SET status = ?, finished = ?, phases = ?, events = ?, calls = ?, input_tokens = ?,
		output_tokens = ?, cost_usd = ?, error = ?, failed_paths = ?, owner = NULL, pending = CASE WHEN ? = 1 THEN NULL ELSE pending END WHERE n = ?`,
		e.result.Status, e.finished, e.phases, e.events, int64(u.Calls), int64(u.InputTokens), int64(u.OutputTokens), u.CostUSD, e.reason, e.failedPaths, e.closesQuestions, n)
}
