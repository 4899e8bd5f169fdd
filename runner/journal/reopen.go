package journal

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/owners"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// final reports whether a run with this status has ended finally. A failed run
// has ended finally only if its input is invalid.
func final(status, code string) bool {
	switch status {
	case engine.Succeeded, engine.Blocked, engine.Exhausted, engine.OverBudget:
		return true
	}
	return status == engine.Failed && code == engine.Invalid
}

// Reopen resumes a run.
func (j *Journal) Reopen(id string) (runner.Recording, error) {
	if err := j.writable(); err != nil {
		return nil, err
	}
	if err := j.retry(id); err != nil {
		return nil, err
	}
	ctx := context.Background()
	n, epoch, ended, err := j.takeOver(id)
	if err != nil {
		return nil, err
	}
	r := j.newRecording(n, epoch, runner.Start{RunID: id})
	if ended {
		result, err := j.Result(ctx, id)
		if err != nil {
			return nil, err
		}
		r.ended = &result
	}
	if err := r.load(ctx); err != nil {
		if !ended {
			r.releaseLater()
		}
		return nil, err
	}
	return r, nil
}

// errGuest is the error for a run that another engine owns.
var errGuest = fmt.Errorf("%w elsewhere: another engine continues it and takes its answers", runner.ErrRunBusy)

// takeOver takes a run for this process, with a new epoch, unless it has ended
// finally.
func (j *Journal) takeOver(id string) (n, epoch int64, ended bool, err error) {
	var refused error // not an error of the job, which would roll back other jobs of the transaction
	err = j.db.Writer.Do(func(c *stores.Conn) error {
		refused = nil
		found, err := c.One(context.Background(), "SELECT n, status, error, "+j.db.Dialect.Owner+", epoch, owner FROM run WHERE id = ?"+j.db.Dialect.Lock, id)
		if err != nil {
			return err
		}
		if found == nil {
			refused = fmt.Errorf("run %s: %w", id, runner.ErrNoRun)
			return nil
		}
		if n = stores.Integer(found[0]); stores.Integer(found[4]) == externalEpoch {
			refused = fmt.Errorf("run %s: %w", id, errGuest)
			return nil
		}
		other, alive := j.db.Alive(stores.Text(found[3]))
		if alive && epoch != 0 && stores.Integer(found[4]) == epoch {
			return nil // an earlier try took it without a confirmation
		}
		if !alive && found[5] != nil {
			buried, err := j.db.Store.Bury(c, stores.Text(found[5]))
			if err != nil {
				return err
			}
			other, alive = owners.Read(stores.Text(found[5])), !buried
		}
		if alive {
			refused = fmt.Errorf("run %s: %w (%s)", id, runner.ErrRunBusy, other)
			return nil
		}
		if ended = final(stores.Text(found[1]), errorIn(found[2]).code()); ended {
			return nil
		}
		epoch = stores.Integer(found[4]) + 1
		_, err = c.Exec("UPDATE run SET owner = ?, epoch = ? WHERE n = ?", j.db.Owner.Text(), epoch, n)
		j.db.Writer.EndEra()
		return err
	})
	if err == nil {
		err = refused
	}
	return n, epoch, ended, err
}

func (r *recording) releaseLater() { _ = r.j.writeOrRetry(r.start.RunID, r.release) }

// release allows every process to resume the run.
func (r *recording) release() error {
	return r.j.db.Writer.Do(func(c *stores.Conn) error {
		_, err := c.Exec("UPDATE run SET owner = NULL WHERE n = ? AND epoch = ?", r.n, r.epoch)
		return err
	})
}

// runError is the error of a run, or nil.
type runError struct{ *event.Error }

func errorIn(v driver.Value) (w runError) {
	if text := stores.Text(v); text != "" {
		_ = json.Unmarshal([]byte(text), &w.Error) // an invalid error counts as none
	}
	return w
}

func (w runError) code() string {
	if w.Error == nil {
		return ""
	}
	return w.Code
}

// load reads what earlier starts of the run stored, and begins a new start.
func (r *recording) load(ctx context.Context) error {
	j := r.j
	var rows []codec.StoredRow
	var broke driver.Value
	var status, open string
	err := j.db.Read(ctx, func(c *stores.Conn) (err error) {
		if r.start, err = j.readStart(ctx, c, r.n, j.secrets.RestoredView()); err != nil || r.ended != nil {
			return err
		}
		found, err := c.One(ctx, "SELECT status, broke, pending FROM run WHERE n = ?", r.n)
		if err != nil {
			return err
		}
		status, broke, open = stores.Text(found[0]), found[1], stores.Text(found[2])
		rows, err = j.readRows(ctx, c, r.n)
		return err
	})
	if err != nil || r.ended != nil {
		return err
	}
	if r.open, err = j.openRows(r.start.RunID, open); err != nil {
		return err
	}
	r.count(rows)
	if err := r.collect(rows); err != nil {
		return err
	}
	if status == engine.Failed {
		if err := r.dropFailures(stores.Text(broke)); err != nil {
			return err
		}
	}
	r.collectEvents(rows)
	if r.start.Parent != "" {
		switch r.shared, err = j.share(r.start); {
		case errors.Is(err, runner.ErrNoRun): // the parent is missing; the run itself exists
			return fmt.Errorf("run %s shares results with run %s, which is no longer stored: it cannot be resumed", r.start.RunID, r.start.Parent)
		case err != nil:
			return fmt.Errorf("parent %s: %w", r.start.Parent, err)
		}
		for _, l := range rows {
			r.dropShared(l.Path)
		}
	}
	return r.begin()
}

// begin stores that the run is running again. An expired question needs no
// answer any more.
func (r *recording) begin() error {
	r.mu.Lock()
	r.open = slices.DeleteFunc(r.open, func(q openRow) bool { return q.expired() })
	r.piece.pending = rowOf(r.open)
	r.put(codec.Row{Kind: codec.ProcessStarts})
	p := r.take()
	r.mu.Unlock()
	return r.j.db.Writer.Do(func(c *stores.Conn) error {
		if err := r.insertAll(c, p); err != nil {
			return err
		}
		_, err := c.Exec("UPDATE run SET status = ?, finished = NULL, broke = NULL, error = NULL WHERE n = ?", Running, r.n)
		return err
	})
}

// count continues the numbers and times of earlier starts. Each start counts from its
// first row to its last, so the pause between two starts does not count.
func (r *recording) count(rows []codec.StoredRow) {
	var began, last int64
	for _, l := range rows {
		if l.Kind == codec.ProcessStarts {
			r.start.Elapsed += time.Duration(last - began)
			began = l.Time
		}
		if l.Kind != codec.AnswerEffect && l.Kind != codec.NoticeEnds { // these rows may be written between two starts
			last = max(last, l.Time)
		}
		r.row, r.seq = max(r.row, l.Row), max(r.seq, l.Seq)
		r.time = max(r.time, l.Time)
		r.visits.finish(l.Kind, l.Path)
	}
	r.start.Elapsed += time.Duration(last - began)
}

// collect collects the effects of earlier starts. If two effects have the same path,
// the later one counts.
func (r *recording) collect(rows []codec.StoredRow) error {
	r.start.Made = map[string]engine.EarlierCall{}
	for _, l := range rows {
		if l.Kind == codec.ModelEffect || l.Kind == codec.DroppedEffect {
			reply, err := l.Reply()
			if err != nil {
				return r.j.db.Corrupt(fmt.Sprintf("row %d of run %s", l.Row, r.start.RunID), err)
			}
			if reply.Response != nil {
				r.start.Made[string(l.Path)] = engine.EarlierCall{Usage: reply.Response.Usage, Again: l.Kind == codec.DroppedEffect}
			}
		}
		switch l.Kind {
		case codec.DroppedEffect:
			r.replaces = true
			r.spent[l.Path] = r.start.Made[string(l.Path)].Usage
		case codec.QuestionAsked:
			r.since[l.Path] = l.Time
		case codec.NoticeStarts:
			r.notices[l.Path] = string(l.JSON())
		case codec.NoticeEnds:
			r.notices[l.Path] = ""
		default:
			if codec.IsEffect(l.Kind) {
				r.stored[l.Path] = storedEffect{l.Row, l.Kind, l.Fingerprint, l.JSON()}
				delete(r.spent, l.Path)
			}
		}
		r.startedWrites.note(l)
	}
	return nil
}

// dropFailures drops the failed effects at and below the paths in broken, one
// path in each line, so that they are repeated. For an answer of no use it also
// drops all replies of models. The cost of a dropped call still counts.
func (r *recording) dropFailures(broken string) error {
	all := parseBroken(broken)
	for at, k := range r.stored {
		broke := all.ancestor(at)
		if broke == "" {
			continue
		}
		c, err := r.j.readEffect(k.data)
		if err != nil {
			return err
		}
		toolFailed := at == broke && c.Result != nil && c.Result.Failed
		if !c.Failed() && !toolFailed && !all.useless(k.kind, at) && k.kind != codec.TimeoutEffect {
			continue
		}
		if c.Response != nil {
			r.spent[at] = c.Response.Usage
			r.start.Made[string(at)] = engine.EarlierCall{Usage: c.Response.Usage, Again: true}
		}
		delete(r.stored, at)
		r.piece.dropped = append(r.piece.dropped, k.row)
		r.replaces = true
	}
	return nil
}

// collectEvents collects the events of earlier starts, except those of effects that
// will be repeated. An event that occurs twice at one path is collected twice. The run
// removes each one when it repeats the event, see [recording.findRecorded].
func (r *recording) collectEvents(rows []codec.StoredRow) {
	dropped := map[int64]bool{}
	for _, row := range r.piece.dropped {
		dropped[row] = true
	}
	again := map[event.Path]bool{}
	late := r.inTimeout()
	for _, l := range rows {
		if l.Kind == codec.DroppedEffect || dropped[l.Row] {
			again[l.Path] = !late(l.Path)
		}
	}
	for _, l := range rows {
		_, made := r.stored[l.Path]
		if l.Seq == 0 || l.Kind == string(event.RunFinished) || again[l.Path] && !made {
			continue
		}
		at := eventKey(l.Kind, string(l.Path))
		r.recorded[at] = append(r.recorded[at], recordedEvent{l.Row, l.Fingerprint, codec.DigestOf(l.JSON())})
	}
}

// inTimeout returns a function that reports whether a path is in a scope that
// exceeded its time limit. Effects there are not repeated. For a timeout in the
// evaluation of an attempt, draft/attempt[1]/winner/timeout, the scope is the
// whole attempt.
func (r *recording) inTimeout() func(event.Path) bool {
	over := map[string]bool{}
	for at, k := range r.stored {
		if k.kind == codec.TimeoutEffect {
			over[strings.TrimSuffix(string(at.Parent()), "/winner")] = true
		}
	}
	return func(at event.Path) bool {
		for at != "" && !over[string(at)] {
			at = at.Parent()
		}
		return at != ""
	}
}

// readEffect returns the stored result of an effect, with its secrets.
func (j *Journal) readEffect(data []byte) (c codec.Effect, err error) {
	if data == nil {
		return c, nil
	}
	read := func(conn *stores.Conn) error {
		raw, err := j.unpack(context.Background(), conn, data, j.secrets.RestoredView())
		if err != nil {
			return err
		}
		if err := schema.Unmarshal(raw, &c); err != nil {
			return j.db.Corrupt("an effect", err)
		}
		return nil
	}
	if !bytes.Contains(data, []byte(codec.Reference)) {
		err = read(nil) // all of it is in memory
	} else {
		err = j.db.Read(context.Background(), read)
	}
	return c, err
}
