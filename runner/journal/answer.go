package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// Answer stores an answer to an open question of a run. The id must be the
// run's full name. The key may be empty if exactly one question is open; with
// several, the error is [runner.ErrSeveral]. The value must suit the question:
// a boolean for a confirmation, an option of a choice, a text that is not
// empty. The answer also stores its author.
//
// The run continues with [runner.Runner.Resume]. The error is
// [runner.ErrRunBusy] if a process is running the run, and [runner.ErrExpired]
// if the answer is too late; the question is then closed. It is
// [runner.ErrAnswered], even while the run is running, if the question has an
// answer or does not exist.
func (j *Journal) Answer(ctx context.Context, id string, question event.Path, a engine.Answer) error {
	if err := j.writable(); err != nil {
		return err
	}
	s, err := j.find(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case s.RunID != id:
		return fmt.Errorf("run %s: %w", id, runner.ErrNoRun)
	case s.External:
		return fmt.Errorf("run %s: %w", id, errExternal)
	}
	var open []pendingRow
	if err := j.db.Read(ctx, func(c *stores.Conn) error { open, err = j.open(ctx, c, s); return err }); err != nil {
		return err
	}
	i, err := questionIndex(pendingAt(open, j.db.Now()), question)
	switch {
	case errors.Is(err, runner.ErrAnswered) && s.Status == Running:
		return fmt.Errorf("run %s: %w: %w", s.RunID, err, runner.ErrRunBusy)
	case errors.Is(err, runner.ErrAnswered):
		return fmt.Errorf("run %s: %w: it is %s", s.RunID, err, s.Status)
	case err != nil:
		return fmt.Errorf("run %s: %w", s.RunID, err)
	}
	p := &open[i]
	if p.Expired {
		return p.lateError(s.RunID)
	}
	if wrong := p.Question.Problem(a.Value); wrong != "" && !p.isExpired(j.db.Now()) {
		return fmt.Errorf("answer: %s", wrong)
	}
	g := storedAnswer{Answer: a.WithCleanName(), time: j.db.Now()}
	var refused error
	err = j.db.Writer.Do(func(c *stores.Conn) error {
		refused, err = j.answer(ctx, c, s, p, &g)
		return err
	})
	if err == nil {
		err = refused
	}
	return err
}

// lateError returns the error for an answer that is too late.
func (p *Pending) lateError(run string) error {
	return fmt.Errorf("run %s: %w: it took answers until %s", run, runner.ErrExpired, p.Expires.Format(time.RFC3339))
}

// storedAnswer is an answer that is being written to the store.
type storedAnswer struct {
	engine.Answer
	time time.Time
	row  int64 // the row that it was written as, if the result of the write is unknown
}

// stored reports whether the answer is in the store.
func (g *storedAnswer) stored(ctx context.Context, j *Journal, c *stores.Conn, n int64) (bool, error) {
	if g.row == 0 {
		return false, nil
	}
	l, there, err := j.rowAt(ctx, c, n, g.row)
	return there && l.Kind == codec.AnswerEffect && l.Time == g.time.UnixNano(), err
}

// answer writes an answer, or the expiry of the question, unless the run has
// changed in the meantime. It raises the run's epoch, so that an earlier start
// can no longer write.
func (j *Journal) answer(ctx context.Context, c *stores.Conn, s summary, p *pendingRow, g *storedAnswer) (refused, err error) {
	a := g.Answer
	if p.isExpired(g.time) {
		a, refused = engine.Answer{Expired: true}, p.lateError(s.RunID)
	}
	if there, err := g.stored(ctx, j, c, s.n); there || err != nil {
		return refused, err
	}
	found, err := c.One(ctx, "SELECT "+j.db.Dialect.Owner+", pending, epoch FROM run WHERE n = ?"+j.db.Dialect.Lock, s.n)
	if err != nil {
		return nil, err
	}
	open, err := j.openRows(s.RunID, stores.Text(found[1]))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(open, func(q openRow) bool { return q.path == p.Path && !q.expired() })
	if i < 0 {
		return fmt.Errorf("run %s: %w", s.RunID, runner.ErrAnswered), nil
	}
	if other, alive := j.db.Alive(stores.Text(found[0])); other.Engine != "" {
		return fmt.Errorf("run %s: %w", s.RunID, errExternal), nil
	} else if alive {
		return fmt.Errorf("run %s: %w (%s)", s.RunID, runner.ErrRunBusy, other), nil
	}
	pack := codec.Packer{Secrets: j.secrets}
	data, err := pack.Encode(codec.Effect{Answer: &a})
	if err == nil {
		err = j.db.Writer.Texts(pack.Texts)
	}
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	last, seq, err := j.lastRow(ctx, c, s.n)
	if err != nil {
		return nil, err
	}
	if a.Expired {
		open[i].expire()
	} else {
		open = slices.Delete(open, i, i+1)
	}
	g.row = last + 1
	k := codec.NewPack(s.n, seq, []codec.Row{{N: g.row, Time: g.time.UnixNano(), Kind: codec.AnswerEffect,
		Path: string(p.Path), Fingerprint: p.Fingerprint, Data: data}})
	if err = writePack(c, k, stores.Integer(found[2])+1); err == nil {
		_, err = c.Exec("UPDATE run SET pending = ?, epoch = epoch + 1 WHERE n = ?", rowOf(open), s.n)
		j.db.Writer.EndEra()
	}
	return refused, err
}
